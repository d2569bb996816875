// SPDX-License-Identifier: Apache-2.0
//
// timing_wheel: millions of timers in one data structure, for anybody's event loop.
//
// Single-threaded, without clock, thread or system call: you tell it the time, it calls you back. Choose it
// when many timers are armed, most are cancelled or put off before they fire, and yet order and exactness
// matter: no timer fires a nanosecond early, all fire in order of their deadlines, equal deadlines in the
// order in which they were armed.
//
//   horae::timing_wheel<connection*> wheel({.start_ns = now_ns()});
//   horae::timer_id idle = wheel.schedule(now_ns() + 30'000'000'000, connection);
//   wheel.rearm(idle, now_ns() + 30'000'000'000);                  // at every request
//   wheel.advance(now_ns(), [](horae::timer_id, std::int64_t, connection*& c) { c->close(); });
//
// How it works: eleven levels of 64 buckets (geometry.hpp) hold small entries in chunks (entry_list.hpp), apart
// from the timers (timer_node.hpp). cancel() touches the timer alone and leaves its entry behind as stale;
// rearm() to a later time too, and the entry moves when its old time comes. advance() opens bucket after bucket
// in time order: a small one is sorted (due_queue.hpp) and fired, a large one cascades to finer levels. Stale
// entries go when their bucket is opened, or by bounded scrubbing. docs/design/wheel.md tells why.
//
// Cost: schedule, cancel, rearm, next_deadline are O(1); advance is proportional to what is due, not to the
// time that passed. Memory: 25 bytes and the payload for each timer, and about 13 for its entry.
//
// From inside a callback every function may be called for any timer, except that a nested advance() does
// nothing. There, what is armed fires in a later advance() at the earliest, and the timer being called back
// counts as fired: rearm() arms it again under the same id with its payload kept.
#pragma once

#include <horae/wheel/timer_id.hpp>
#include <horae/wheel/wheel_core.hpp>
#include <horae/wheel/wheel_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace horae {

template <class Payload, class Allocator = std::allocator<std::byte>, class Limits = detail::wheel_limits>
class timing_wheel {
    using core = detail::wheel_core<Payload, Allocator, Limits>;
    using node = typename core::node;
    static constexpr bool quiet_payload = std::is_nothrow_destructible_v<Payload>;

public:
    // Throws std::invalid_argument if options.resolution_ns is not positive.
    explicit timing_wheel(wheel_options options = {}, const Allocator& allocator = {})
        : options_(checked(options)),
          stale_limit_(options.garbage_floor),
          core_(detail::key_of(options.start_ns), detail::resolution_level(options.resolution_ns),
                allocator) {
        reserve(options.reserve);
    }
    timing_wheel(const timing_wheel&) = delete;
    timing_wheel& operator=(const timing_wheel&) = delete;

    // Destroys the payloads that are left. They may cancel() timers of this wheel; schedule() gives them
    // none.
    ~timing_wheel() {
        closing_ = true;
        if constexpr (!std::is_trivially_destructible_v<Payload>) {
            clear();
        }
    }

    // Arms a timer. It fires in [deadline, deadline + slack], a deadline that has passed in the next
    // advance(). INT64_MAX never fires. A negative slack counts as zero. Throws what the allocator or the
    // payload's move throws, and then nothing has changed.
    timer_id schedule(std::int64_t deadline_ns, Payload payload, std::int64_t slack_ns = 0) {
        if (closing_) [[unlikely]] {
            return {};
        }
        const unsigned slack_bits = detail::slack_bits_of(slack_ns);
        const auto place = core_.make_room(detail::due_key(deadline_ns, slack_bits));
        if (core_.nodes_.available() == 0) [[unlikely]] {
            make_nodes(1);
        }
        const std::uint32_t index = core_.nodes_.acquire();
        node& timer = core_.nodes_[index];
        if constexpr (std::is_nothrow_move_constructible_v<Payload>) {
            ::new (static_cast<void*>(timer.storage)) Payload(std::move(payload));
        } else {
            try {
                ::new (static_cast<void*>(timer.storage)) Payload(std::move(payload));
            } catch (...) {
                core_.nodes_.release(index);
                throw;
            }
        }
        ++timer.generation;
        ++core_.live_;
        core_.enqueue(timer, index, deadline_ns, slack_bits, place);
        return detail::make_timer_id(index, timer.generation);
    }

    // True: the timer was armed and will never fire; its payload is destroyed. False: it has fired, was
    // cancelled, or never was a timer.
    bool cancel(timer_id id) noexcept(quiet_payload) {
        node* timer = core_.find_armed(id);
        if (!timer) {
            return false;
        }
        const std::uint32_t index = detail::index_of(id);
        --core_.live_;
        ++cancelled_;
        core_.abandon_entry(*timer, index);
        collect_garbage();
        if (index == core_.firing_) {
            core_.firing_rearmed_ = false; // its callback still uses the payload, and it goes at the end
        } else {
            core_.destroy(*timer, index);
        }
        return true;
    }

    // Gives an armed timer a new deadline, with the slack it has. Counts as arming: it comes after others
    // of the same deadline. False when the timer is not armed. Throws only if memory is short, and then
    // nothing has changed.
    bool rearm(timer_id id, std::int64_t deadline_ns) {
        const std::uint32_t index = detail::index_of(id);
        node* timer = core_.find_current(id);
        if (!timer) {
            return false;
        }
        const auto place = core_.make_room(detail::due_key(deadline_ns, timer->slack_bits()));
        if (index == core_.firing_ && !core_.firing_rearmed_) {
            core_.firing_rearmed_ = true;
            ++core_.live_;
            core_.enqueue_again(*timer, index, deadline_ns, place);
            return true;
        }
        if (!place.near && timer->tag + 1 < Limits::max_tag) [[likely]] {
            core_.rearm_ahead(*timer, index, deadline_ns, place);
        } else {
            core_.abandon_entry(*timer, index);
            core_.enqueue_again(*timer, index, deadline_ns, place);
        }
        collect_garbage();
        return true;
    }

    bool contains(timer_id id) const noexcept { return mutable_core().find_armed(id) != nullptr; }

    // The payload of an armed timer, or of the one being called back; null for any other id.
    Payload* find(timer_id id) noexcept {
        node* timer = core_.find_current(id);
        return timer ? &timer->payload() : nullptr;
    }

    // The deadline of an armed timer.
    std::optional<std::int64_t> deadline(timer_id id) const noexcept {
        const node* timer = mutable_core().find_armed(id);
        return timer ? std::optional(timer->deadline_ns) : std::nullopt;
    }

    // Moves time forward to now_ns and calls callback(timer_id, deadline_ns, Payload&) for at most `budget`
    // of the timers that are due, in order. Returns how many. What the budget leaves over stays due. A time
    // before an earlier one counts as that one, INT64_MAX as the nanosecond before it. If the callback
    // throws, its timer has fired, nothing else is lost, and the next advance() goes on from there.
    template <class Callback>
    std::size_t advance(std::int64_t now_ns, Callback&& callback,
                        std::size_t budget = std::numeric_limits<std::size_t>::max()) {
        if (core_.advancing_ || budget == 0) {
            return 0;
        }
        const auto asked = std::min(detail::key_of(now_ns), detail::never_key - 1);
        if (asked >= core_.now()) {
            core_.set_now(asked);
        } else {
            ++clock_backs_;
        }
        if (core_.next_key() > core_.now()) {
            keep_house();
            return 0;
        }
        const advance_scope scope(*this);
        std::size_t fired = 0;
        while (fired < budget && core_.prepare_next()) {
            fired += core_.fire(core_.due_.pop(), callback) ? 1u : 0u;
        }
        return fired;
    }

    // When advance() is next worth calling: never later than the next timer is due. Earlier only where more
    // than 64 timers share the earliest bucket and some of them were cancelled or put off, or inside a
    // callback. Empty when nothing will ever be due.
    std::optional<std::int64_t> next_deadline() const noexcept {
        const detail::wheel_key first = mutable_core().next_key();
        return first == detail::never_key ? std::nullopt : std::optional(detail::time_of(first));
    }

    std::size_t size() const noexcept { return core_.live_; }
    bool empty() const noexcept { return core_.live_ == 0; }
    // The latest time that advance() was told.
    std::int64_t now_ns() const noexcept { return detail::time_of(core_.now()); }
    // The resolution in force.
    std::int64_t resolution_ns() const noexcept {
        return std::int64_t{1} << (detail::resolution_level(options_.resolution_ns) * detail::digit_bits);
    }

    // Allocates for `timers` timers in all, whatever their deadlines; this much is kept from then on.
    void reserve(std::size_t timers) {
        if (timers > core_.nodes_.used()) {
            make_nodes(timers - core_.nodes_.used());
            core_.buckets_.ensure_room(timers, detail::level_count - 1);
            core_.due_.ensure_heap_room();
        }
        reserved_ = std::max(reserved_, timers);
    }

    // Cancels every timer.
    void clear() noexcept(quiet_payload) {
        drain([this](timer_id, std::int64_t, std::int64_t, Payload&) { ++cancelled_; });
    }

    // Takes every armed timer out, in no particular order: take(timer_id, deadline_ns, slack_ns, Payload&),
    // where the payload may be moved from; it is destroyed afterwards. The slack given is the one in force.
    template <class Take>
    void drain(Take&& take) {
        std::uint32_t index = 0;
        std::uint32_t tag = 0;
        while (core_.live_ > 0 && core_.pop_any_entry(index, tag)) {
            node* timer = core_.current_node(index, tag);
            if (!timer) {
                continue;
            }
            --core_.live_;
            const timer_id id = detail::make_timer_id(index, timer->generation);
            const auto slack_ns = static_cast<std::int64_t>((std::uint64_t{1} << timer->slack_bits()) - 1);
            if (index == core_.firing_) {
                core_.firing_rearmed_ = false;
                take(id, timer->deadline_ns, slack_ns, timer->payload());
                continue;
            }
            const typename core::node_release release(core_, *timer, index);
            const payload_end end{timer->payload()};
            take(id, timer->deadline_ns, slack_ns, timer->payload());
        }
        if (core_.live_ == 0) {
            core_.drop_all_entries();
        }
    }

    wheel_stats stats() const noexcept {
        return {.pending = core_.live_,
                .fired = core_.fired_,
                .cancelled = cancelled_,
                .stale = core_.entries_ - core_.live_,
                .scrubbed = core_.scrubbed_,
                .cascaded = core_.cascaded_,
                .clock_backs = clock_backs_,
                .retired = core_.retired_,
                .bytes = sizeof(*this) + core_.bytes(),
                .resolution_ns = resolution_ns()};
    }

private:
    struct payload_end {
        Payload& payload;
        ~payload_end() noexcept(quiet_payload) { std::destroy_at(&payload); }
    };

    // While it lives, what is armed waits for the next advance(). Its end does the wheel's housekeeping.
    struct advance_scope {
        explicit advance_scope(timing_wheel& w) noexcept : wheel(w) {
            wheel.core_.advancing_ = true;
            wheel.peak_ = std::max(wheel.peak_, wheel.core_.live_);
        }
        advance_scope(const advance_scope&) = delete;
        advance_scope& operator=(const advance_scope&) = delete;
        ~advance_scope() {
            wheel.core_.due_.admit_late();
            wheel.core_.forget_next();
            wheel.core_.advancing_ = false;
            wheel.keep_house();
        }
        timing_wheel& wheel;
    };

    static wheel_options checked(wheel_options options) {
        if (options.resolution_ns <= 0) {
            throw std::invalid_argument("timing_wheel: resolution_ns is " +
                                        std::to_string(options.resolution_ns) + "; it must be at least 1");
        }
        if (!(options.garbage_per_slot >= 0)) {
            throw std::invalid_argument("timing_wheel: garbage_per_slot is " +
                                        std::to_string(options.garbage_per_slot) +
                                        "; it must not be negative");
        }
        return options;
    }

    core& mutable_core() const noexcept { return const_cast<core&>(core_); }

    std::size_t stale() const noexcept { return core_.entries_ - core_.live_; }

    void make_nodes(std::size_t count) {
        core_.ensure_nodes(count);
        set_stale_limit();
    }
    void set_stale_limit() noexcept {
        const double slots = static_cast<double>(core_.nodes_.capacity());
        stale_limit_ = options_.garbage_floor + static_cast<std::size_t>(options_.garbage_per_slot * slots);
    }

    // After an entry went stale: everything when no timer is left, otherwise a step when there is too much.
    void collect_garbage() noexcept {
        if (stale() > stale_limit_) [[unlikely]] {
            core_.scrub(2 * detail::entry_chunk::capacity);
        } else if (core_.live_ == 0 && !core_.advancing_) [[unlikely]] {
            core_.drop_all_entries();
        }
    }

    // After an advance(): bounded steps of scrubbing, and now and then of giving memory back.
    void keep_house() noexcept {
        if (stale() > stale_limit_ / 2) {
            core_.scrub(options_.scrub_budget);
        }
        if (++advances_ % 64 != 0) {
            return;
        }
        peak_ -= (peak_ + 15) / 16;
        const std::size_t keep = std::max(reserved_, peak_ + peak_ / 4);
        if (core_.nodes_.capacity() > keep + 2048) {
            core_.nodes_.give_back_one();
            set_stale_limit();
        }
        core_.buckets_.give_back(keep + stale_limit_ + 64, 64); // as much garbage as is tolerated comes again
    }

    wheel_options options_;
    std::size_t stale_limit_;
    core core_;
    std::uint64_t cancelled_ = 0;
    std::uint64_t clock_backs_ = 0;
    std::size_t reserved_ = 0;
    std::size_t peak_ = 0; // of size(), forgotten slowly: what to keep memory for
    std::uint64_t advances_ = 0;
    bool closing_ = false;
};

namespace pmr {

template <class Payload>
using timing_wheel = horae::timing_wheel<Payload, std::pmr::polymorphic_allocator<std::byte>>;

} // namespace pmr
} // namespace horae
