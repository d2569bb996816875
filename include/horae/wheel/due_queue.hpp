// SPDX-License-Identifier: Apache-2.0
//
// The near end of the wheel: the entries at or before its position, in exact order of (deadline, arming).
//
//   ready   up to 64 entries of the bucket opened last, sorted once, consumed from the front
//   heap    timers that were armed at or before the position: past deadlines, and the current instant
//   late    the heap's waiting room while an advance() is under way: what is armed in it fires in the next
//   one
//
// The heap's memory is made sure of when a timer is armed, so taking from here never allocates.
#pragma once

#include <horae/wheel/geometry.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace horae::detail {

struct due_entry {
    wheel_key key;
    std::uint64_t
        order; // the timer's order word when it was queued: arming order, and whether it changed since
    std::uint32_t index;
    std::uint32_t tag;

    friend bool operator<(const due_entry& a, const due_entry& b) noexcept {
        return a.key != b.key ? a.key < b.key : a.order < b.order;
    }
};

template <class Allocator>
class due_queue {
public:
    static constexpr std::uint32_t ready_capacity = 64;

    explicit due_queue(const Allocator& allocator) : heap_(due_allocator(allocator)) {}

    bool ready_empty() const noexcept { return ready_next_ == ready_end_; }
    std::size_t heap_size() const noexcept { return heap_.size(); }
    std::size_t bytes() const noexcept { return heap_.capacity() * sizeof(due_entry); }

    // Precondition: ready_empty(). Fill with add_ready(), then sort_ready().
    void clear_ready() noexcept { ready_next_ = ready_end_ = 0; }
    void add_ready(const due_entry& entry) noexcept { ready_[ready_end_++] = entry; }
    void sort_ready() noexcept { std::sort(ready_.begin(), ready_.begin() + ready_end_); }

    void ensure_heap_room() {
        if (heap_.size() == heap_.capacity()) {
            heap_.reserve(std::max<std::size_t>(ready_capacity, heap_.size() * 2));
        }
    }

    // Precondition: room was ensured, or an entry was popped.
    void push(const due_entry& entry, bool late) noexcept {
        heap_.push_back(entry);
        if (late) {
            late_min_ = std::min(late_min_, entry.key);
        } else {
            std::swap(heap_[heaped_], heap_.back()); // a late one makes way
            ++heaped_;
            std::push_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(heaped_), later);
        }
    }

    // Lets the late ones in.
    void admit_late() noexcept {
        while (heaped_ < heap_.size()) {
            ++heaped_;
            std::push_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(heaped_), later);
        }
        late_min_ = never_key;
    }

    // The earliest entry that is not late, or null.
    const due_entry* first() const noexcept {
        const due_entry* ready = ready_empty() ? nullptr : &ready_[ready_next_];
        const due_entry* heap = heaped_ == 0 ? nullptr : &heap_.front();
        return !heap || (ready && *ready < *heap) ? ready : heap;
    }

    // Precondition: first() is not null.
    due_entry pop() noexcept {
        if (heaped_ == 0 || (!ready_empty() && ready_[ready_next_] < heap_.front())) {
            return ready_[ready_next_++];
        }
        std::pop_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(heaped_), later);
        --heaped_;
        const due_entry entry = heap_[heaped_];
        heap_[heaped_] = heap_.back(); // a late one takes the place; their order is settled on admission
        heap_.pop_back();
        return entry;
    }

    // The earliest key, late ones included; never_key when there is none.
    wheel_key first_key() const noexcept {
        const due_entry* entry = first();
        return std::min(late_min_, entry ? entry->key : never_key);
    }

    // Takes any entry; false when there is none.
    bool pop_any(due_entry& entry) noexcept {
        if (!ready_empty()) {
            entry = ready_[ready_next_++];
            return true;
        }
        if (heap_.empty()) {
            return false;
        }
        entry = heap_.back();
        heap_.pop_back();
        heaped_ = std::min(heaped_, heap_.size());
        return true;
    }

    // Drops every entry of one timer; returns how many there were.
    std::size_t drop_timer(std::uint32_t index) noexcept {
        const auto is_of_timer = [index](const due_entry& entry) { return entry.index == index; };
        const auto ready_begin = ready_.begin() + ready_next_;
        const auto ready_end = std::remove_if(ready_begin, ready_.begin() + ready_end_, is_of_timer);
        std::size_t dropped = ready_end_ - static_cast<std::uint32_t>(ready_end - ready_.begin());
        ready_end_ -= static_cast<std::uint32_t>(dropped);
        const auto heap_end = heap_.begin() + static_cast<std::ptrdiff_t>(heaped_);
        const auto heaped_gone =
            static_cast<std::size_t>(std::count_if(heap_.begin(), heap_end, is_of_timer));
        dropped += std::erase_if(heap_, is_of_timer);
        heaped_ -= heaped_gone;
        std::make_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(heaped_), later);
        return dropped;
    }

    void drop_all() noexcept {
        clear_ready();
        heap_.clear();
        heaped_ = 0;
        late_min_ = never_key;
    }

    // Examines up to `budget` heap entries, in turn, and drops those that are `stale(entry)`. Returns the
    // number examined. Precondition: nothing is late.
    template <class Stale>
    std::size_t scrub(std::size_t budget, Stale&& stale) noexcept {
        std::size_t examined = 0;
        for (; examined < budget && examined < heap_.size(); ++examined) {
            scrub_cursor_ = scrub_cursor_ + 1 < heap_.size() ? scrub_cursor_ + 1 : 0;
            if (stale(heap_[scrub_cursor_])) {
                remove(scrub_cursor_);
            }
        }
        return examined;
    }

private:
    using due_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<due_entry>;

    static bool later(const due_entry& a, const due_entry& b) noexcept { return b < a; }

    void remove(std::size_t place) noexcept {
        heap_[place] = heap_.back();
        heap_.pop_back();
        heaped_ = heap_.size();
        if (place == heap_.size()) {
            return;
        }
        // Up, or else down, whichever the moved entry needs.
        while (place > 0 && heap_[place] < heap_[(place - 1) / 2]) {
            std::swap(heap_[place], heap_[(place - 1) / 2]);
            place = (place - 1) / 2;
        }
        for (;;) {
            std::size_t least = place;
            for (std::size_t child = 2 * place + 1; child <= 2 * place + 2 && child < heap_.size(); ++child) {
                if (heap_[child] < heap_[least]) {
                    least = child;
                }
            }
            if (least == place) {
                return;
            }
            std::swap(heap_[place], heap_[least]);
            place = least;
        }
    }

    std::array<due_entry, ready_capacity> ready_;
    std::uint32_t ready_next_ = 0;
    std::uint32_t ready_end_ = 0;
    std::vector<due_entry, due_allocator> heap_; // [0, heaped_) is a heap, the rest is late
    std::size_t heaped_ = 0;
    std::size_t scrub_cursor_ = 0;
    wheel_key late_min_ = never_key;
};

} // namespace horae::detail
