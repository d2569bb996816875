// SPDX-License-Identifier: Apache-2.0
//
// The loop's pending timers: the wheel orders them, a table owns them.
//
// The wheel's payload is an index, not a reference, so nothing inside the wheel ever runs Python code,
// and the table gives the garbage collector and close() a way to visit them all.
#pragma once

#include <cstdint>
#include <deque>
#include <horae/wheel.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "py.hpp"

namespace horae::python {

class timer_set {
public:
    using wheel_type = timing_wheel<std::uint32_t>;
    struct entry {
        timer_id id;
        std::uint32_t index;
    };

    // Tells an empty wheel the time.
    void synchronise(std::int64_t now_ns) {
        wheel_->advance(now_ns, [](timer_id, std::int64_t, std::uint32_t&) {});
    }

    // Takes over one reference. Throws std::bad_alloc with nothing changed and nothing taken.
    entry add(std::int64_t deadline_ns, PyObject* owned) {
        if (free_ == none)
            grow();
        const std::uint32_t index = free_;
        const timer_id id = wheel_->schedule(deadline_ns, index);
        free_ = static_cast<std::uint32_t>(table_[index] >> 1);
        table_[index] = reinterpret_cast<std::uintptr_t>(owned);
        return {id, index};
    }

    // Hands the reference over; the timer must be pending.
    PyObject* remove(const entry& e) {
        wheel_->cancel(e.id);
        return take(e.index);
    }

    // f(deadline_ns, owned reference), in deadline order.
    template <class F>
    std::size_t advance(std::int64_t now_ns, F&& f) {
        return wheel_->advance(now_ns, [&](timer_id, std::int64_t deadline_ns, std::uint32_t& index) {
            f(deadline_ns, take(index));
        });
    }

    // Hands over every reference.
    std::vector<PyObject*> drain() {
        std::vector<PyObject*> owned;
        owned.reserve(size());
        for_each([&](PyObject* object) { owned.push_back(object); });
        *this = timer_set();
        return owned;
    }

    template <class F>
    void for_each(F&& f) const {
        for (std::uintptr_t cell : table_) {
            if (!(cell & 1))
                f(reinterpret_cast<PyObject*>(cell));
        }
    }

    std::optional<std::int64_t> next_deadline() const { return wheel_->next_deadline(); }
    std::size_t size() const { return wheel_->size(); }
    const wheel_type& wheel() const { return *wheel_; }

private:
    static constexpr std::uint32_t none = 0x7fffffff;

    PyObject* take(std::uint32_t index) {
        auto* owned = reinterpret_cast<PyObject*>(table_[index]);
        table_[index] = (static_cast<std::uintptr_t>(free_) << 1) | 1;
        free_ = index;
        return owned;
    }
    void grow() {
        table_.push_back((static_cast<std::uintptr_t>(none) << 1) | 1);
        free_ = static_cast<std::uint32_t>(table_.size() - 1);
    }

    // From the beginning of time, because an overridden loop.time() may read anything.
    std::unique_ptr<wheel_type> wheel_ =
        std::make_unique<wheel_type>(wheel_options{.start_ns = std::numeric_limits<std::int64_t>::min()});
    // A reference, or (next free index << 1) | 1: references are even.
    // In blocks: a vector that doubles would cost up to 16 bytes a timer.
    std::deque<std::uintptr_t> table_;
    std::uint32_t free_ = none;
};

} // namespace horae::python
