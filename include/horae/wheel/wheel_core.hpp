// SPDX-License-Identifier: Apache-2.0
//
// The machinery behind timing_wheel: where entries stand, and how they move.
//
//   timer state   free --enqueue--> armed --fire--> firing --(callback ends)--> free
//                                   armed --cancel--> free        firing --enqueue (rearm)--> armed
//   its entry     in a bucket  (key after the position and after now), or
//                 in the run   (key = run_key_: more than 64 timers of one instant, in arming order), or
//                 in due_      (ready, heap or late)
//
// Invariants, between any two public calls and whenever a callback runs:
//   W1  an armed timer has exactly one entry with its tag; all others, entries_ - live_ of them, are stale
//   W2  bucket entries have keys > position; ready and run entries have keys <= position
//   W3  the position moves on only when ready and run are empty: what is taken from them is next in order
//   W4  a deferred timer's key is greater than its entry's, and was > horizon() when it was re-armed
#pragma once

#include <horae/base/prefetch.hpp>
#include <horae/wheel/bucket_array.hpp>
#include <horae/wheel/due_queue.hpp>
#include <horae/wheel/entry_list.hpp>
#include <horae/wheel/geometry.hpp>
#include <horae/wheel/segmented_pool.hpp>
#include <horae/wheel/timer_id.hpp>
#include <horae/wheel/timer_node.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace horae::detail {

template <class Payload, class Allocator, class Limits>
class wheel_core {
public:
    using node = timer_node<Payload>;

    static constexpr std::uint32_t no_timer = 0xffff'ffff;

    wheel_core(wheel_key start, unsigned sort_level, const Allocator& allocator)
        : nodes_(allocator, std::min(Limits::max_generation, Limits::max_tag) / 2),
          buckets_(start, allocator),
          due_(allocator),
          tag_bytes_(allocator),
          now_(start),
          horizon_(start),
          sort_level_(sort_level) {}

    // Times up to here are handled in due_ at once: they have passed, or are being worked on.
    wheel_key horizon() const noexcept { return horizon_; }

    wheel_key now() const noexcept { return now_; }
    void set_now(wheel_key now) noexcept {
        now_ = now;
        horizon_ = std::max(horizon_, now);
    }

    // Where an entry for `key` goes.
    struct place {
        wheel_key key;
        unsigned level;
        bool near; // into due_
    };

    // Makes room for one more entry at `key`. May throw; changes nothing else.
    place make_room(wheel_key key) {
        if (key <= horizon()) {
            due_.ensure_heap_room();
            return {key, 0, true};
        }
        const unsigned level = buckets_.level(key);
        buckets_.ensure_room(entries_ + 1, level);
        return {key, level, false};
    }

    // Makes `count` places available. May throw; changes nothing else.
    void ensure_nodes(std::size_t count) {
        if (count > nodes_.available()) {
            tag_bytes_.resize(std::max(tag_bytes_.size(), nodes_.index_limit(count)));
            nodes_.ensure_available(count);
        }
    }

    // The timer if `id` names its current use, armed or firing.
    node* find_current(timer_id id) noexcept {
        node* timer = nodes_.find(index_of(id));
        const bool issued = generation_of(id) % 2 == 1;
        return timer && issued && timer->generation == generation_of(id) ? timer : nullptr;
    }

    node* find_armed(timer_id id) noexcept {
        node* timer = find_current(id);
        return index_of(id) == firing_ && !firing_rearmed_ ? nullptr : timer;
    }

    // Arms the timer with a new entry. Precondition: no entry has its tag.
    void enqueue(node& timer, std::uint32_t index, std::int64_t deadline_ns, unsigned slack_bits,
                 place at) noexcept {
        timer.deadline_ns = deadline_ns;
        timer.order = next_order(slack_bits);
        tag_bytes_[index] = static_cast<std::uint8_t>(timer.tag);
        next_ = std::min(next_, at.key);
        ++entries_;
        if (at.near) [[unlikely]] {
            due_.push({at.key, timer.order, index, timer.tag}, advancing_);
        } else {
            buckets_.append(at.key, at.level, index, timer.tag);
        }
    }

    // The same for a timer that was armed before.
    void enqueue_again(node& timer, std::uint32_t index, std::int64_t deadline_ns, place at) noexcept {
        if (timer.tag == Limits::max_tag) [[unlikely]] {
            purge_entries_of(index);
            timer.tag = 0;
        }
        enqueue(timer, index, deadline_ns, timer.slack_bits(), at);
    }

    // Arms an armed timer anew, for a time after the horizon. To a later time it keeps its entry, which moves
    // when its own time comes; to an earlier one it gets a new entry and abandons the old. Which of the two,
    // only the timer's cache line tells, and that often has to be waited for: so both are one sequence
    // without a branch to be predicted wrongly. Precondition: room was made, and the tag is not the last.
    void rearm_ahead(node& timer, std::uint32_t index, std::int64_t deadline_ns, place at) noexcept {
        const wheel_key old_key = timer.key();
        const bool earlier = at.key <= old_key;
        forget_next_at(old_key);
        any_deferred_ = any_deferred_ | !earlier;
        timer.deadline_ns = deadline_ns;
        timer.order = next_order(timer.slack_bits()) | (earlier ? 0 : node::deferred_bit);
        timer.tag += earlier ? 1u : 0u;
        tag_bytes_[index] = static_cast<std::uint8_t>(timer.tag);
        next_ = std::min(next_, at.key);
        entries_ += earlier ? 1u : 0u;
        buckets_.append_if(earlier, at.key, at.level, index, timer.tag);
    }

    // Makes the timer's entry stale.
    void abandon_entry(node& timer, std::uint32_t index) noexcept {
        forget_next_at(timer.key());
        ++timer.tag;
        tag_bytes_[index] = static_cast<std::uint8_t>(timer.tag);
    }

    // Removes every entry of one timer, all of them stale, so that its tags can start anew.
    void purge_entries_of(std::uint32_t index) noexcept;

    // Ends this use of the place, destroys the payload and frees the place, whatever the destructor does.
    void destroy(node& timer, std::uint32_t index) noexcept(std::is_nothrow_destructible_v<Payload>) {
        const node_release release(*this, timer, index);
        std::destroy_at(&timer.payload());
    }

    // The timer that the entry stands for, or null if the entry is stale.
    node* current_node(std::uint32_t index, std::uint32_t tag) noexcept {
        node* timer = nodes_.find_issued(index);
        return timer && timer->tag == tag ? timer : nullptr;
    }

    // False only if the entry is stale. Costs a byte that is likely in the cache instead of the timer's line.
    bool maybe_current(const wheel_entry& entry) const noexcept {
        return tag_bytes_[entry.index] == static_cast<std::uint8_t>(entry.tag);
    }

    // When the next timer is due; never_key when none is. Exact as long as the earliest bucket is small,
    // which is when a wake-up for nothing would be felt; otherwise, and inside a callback, it may be too
    // early.
    wheel_key next_key() noexcept {
        if (!next_known_) {
            if (!advancing_) {
                settle_front();
            }
            next_ = live_ == 0 ? never_key : due_.first_key();
            if (!run_.empty()) {
                next_ = std::min(next_, run_key_);
            }
            if (!buckets_.empty()) {
                next_ = std::min(next_, buckets_[buckets_.first()].least);
            }
            next_known_ = true;
        }
        return next_;
    }

    // To be called when a timer leaves the time `key`.
    void forget_next_at(wheel_key key) noexcept { next_known_ = next_known_ & (key > next_); }
    void forget_next() noexcept { next_known_ = false; }

    // True when due_.first() is to be fired next; opens buckets until that is so or nothing is due.
    bool prepare_next() noexcept {
        for (;;) {
            if (due_.ready_empty() && !run_.empty()) {
                refill_from_run();
                continue;
            }
            const due_entry* first = due_.first();
            if (first && first->key <= buckets_.position()) {
                return first->key <= now_;
            }
            if (open_next_bucket()) {
                continue;
            }
            if (buckets_.position() >= now_) {
                return false;
            }
            move_to(now_);
        }
    }

    // Calls back for a popped entry. False if it was stale or its timer is due later now.
    template <class Callback>
    bool fire(const due_entry& entry, Callback& callback) {
        node* timer = current_node(entry.index, entry.tag);
        if (!timer) {
            --entries_;
            return false;
        }
        if (timer->order != entry.order) {
            move_deferred(*timer, entry.index);
            return false;
        }
        --entries_;
        --live_;
        ++fired_;
        firing_ = entry.index;
        firing_rearmed_ = false;
        try {
            callback(make_timer_id(entry.index, timer->generation), timer->deadline_ns, timer->payload());
        } catch (...) {
            end_firing(*timer, entry.index);
            throw;
        }
        end_firing(*timer, entry.index);
        return true;
    }

    // Takes any entry; false if there is none.
    bool pop_any_entry(std::uint32_t& index, std::uint32_t& tag) noexcept {
        if (due_entry entry; due_.pop_any(entry)) {
            index = entry.index;
            tag = entry.tag;
        } else if (entry_list* list = any_list()) {
            scrub_done_ = nullptr;
            next_known_ = false;
            const wheel_entry taken = list->pop_any(buckets_.chunks());
            index = taken.index;
            tag = taken.tag;
        } else {
            return false;
        }
        --entries_;
        return true;
    }

    // A step of garbage collection: looks at about `budget` entries, in turn.
    void scrub(std::size_t budget) noexcept;

    std::size_t bytes() const noexcept {
        return nodes_.bytes() + buckets_.bytes() + due_.bytes() + tag_bytes_.capacity();
    }

    void drop_all_entries() noexcept {
        for (unsigned n = buckets_.occupied_from(0); n < bucket_count; n = buckets_.occupied_from(n + 1)) {
            buckets_.take(n).entries.clear(buckets_.chunks());
        }
        run_.clear(buckets_.chunks());
        due_.drop_all();
        scrub_done_ = nullptr;
        next_known_ = false;
        entries_ = 0;
    }

    segmented_pool<node, 10, Allocator> nodes_;
    bucket_array<Allocator> buckets_;
    due_queue<Allocator> due_;
    entry_list run_;
    wheel_key run_key_ = 0;
    std::size_t live_ = 0;    // armed timers
    std::size_t entries_ = 0; // entries, stale ones included
    std::uint64_t fired_ = 0;
    std::uint64_t cascaded_ = 0;
    std::uint64_t scrubbed_ = 0;
    std::size_t retired_ = 0;
    std::uint32_t firing_ = no_timer;
    bool firing_rearmed_ = false;
    bool advancing_ = false;

    // Ends a use of a place: its id goes stale at once, the place is free when this object dies.
    class node_release {
    public:
        node_release(wheel_core& core, node& timer, std::uint32_t index) noexcept
            : core_(core), timer_(timer), index_(index) {
            ++timer.generation;
        }
        node_release(const node_release&) = delete;
        node_release& operator=(const node_release&) = delete;
        ~node_release() {
            if (timer_.generation + 1 >= Limits::max_generation || timer_.tag == Limits::max_tag)
                [[unlikely]] {
                ++core_.retired_;
            } else {
                core_.nodes_.release(index_);
            }
        }

    private:
        wheel_core& core_;
        node& timer_;
        std::uint32_t index_;
    };

private:
    std::uint64_t next_order(unsigned slack_bits) noexcept {
        return (armings_ += std::uint64_t{1} << node::arming_shift) | slack_bits;
    }

    void move_to(wheel_key position) noexcept {
        buckets_.set_position(position);
        horizon_ = std::max(horizon_, position);
    }

    void end_firing(node& timer, std::uint32_t index) noexcept(std::is_nothrow_destructible_v<Payload>) {
        firing_ = no_timer;
        if (!firing_rearmed_) {
            destroy(timer, index);
        }
    }

    // The entry of a timer that was put off is taken to where the timer is due now.
    void move_deferred(node& timer, std::uint32_t index) noexcept {
        timer.order &= ~node::deferred_bit;
        const wheel_key key = timer.key();
        if (key <= buckets_.position()) {
            due_.push({key, timer.order, index, timer.tag}, false); // came from the heap: there is room
        } else {
            buckets_.append(key, index, timer.tag);
        }
    }

    wheel_bucket take_bucket(unsigned number) noexcept {
        if (number == scrub_at_) {
            scrub_done_ = nullptr;
        }
        return buckets_.take(number);
    }

    // Opens the earliest bucket if it starts by now: sorts it, begins a run, or cascades it.
    bool open_next_bucket() noexcept;

    void prefetch_timers(std::span<const wheel_entry> entries) const noexcept {
        for (const wheel_entry& entry : entries) {
            prefetch(nodes_.address_hint(entry.index));
        }
    }

    // Of entries that have come due: drops the stale, moves the deferred on, and visits the others.
    template <class Visit>
    void for_each_due(std::span<const wheel_entry> entries, Visit&& visit) noexcept {
        prefetch_timers(entries);
        for (const wheel_entry& entry : entries) {
            node* timer = current_node(entry.index, entry.tag);
            if (!timer) {
                --entries_;
            } else if (timer->deferred()) {
                move_deferred(*timer, entry.index);
            } else {
                visit(entry, *timer);
            }
        }
    }

    void sort_into_ready(entry_list& list, wheel_key last) noexcept;

    // More timers than `ready` holds, all due at the same nanosecond: only their arming order is left to
    // settle.
    void begin_run(entry_list& list, wheel_key key) noexcept;

    // Radix sort by the bits of the order word that differ, so that no memory is needed but a few chunks.
    void sort_run(std::uint64_t differing) noexcept;

    void refill_from_run() noexcept;

    // Spreads a bucket over finer levels. Timers are looked at only if that pays, or if the entry does not
    // hold enough of the key; otherwise the entries stream by.
    void cascade(wheel_bucket& bucket, unsigned level, wheel_key start) noexcept;

    // Rids the front of the queue, and the earliest bucket if it is small, of entries at which nothing is
    // due.
    void settle_front() noexcept;

    // True if an entry stayed, so that the bucket's least key is exact now.
    bool settle_bucket(unsigned number) noexcept;

    entry_list* any_list() noexcept {
        if (!run_.empty()) {
            return &run_;
        }
        for (unsigned n = buckets_.occupied_from(0); n < bucket_count; n = buckets_.occupied_from(n)) {
            if (!buckets_[n].entries.empty()) {
                return &buckets_[n].entries;
            }
            buckets_.forget_if_empty(n);
        }
        return nullptr;
    }

    // One chunk of the list whose turn it is; moves on to the next list at its end.
    std::size_t scrub_list() noexcept;

    // The low byte of each timer's tag: sorts out stale entries where being nearly right is enough.
    std::vector<std::uint8_t, typename std::allocator_traits<Allocator>::template rebind_alloc<std::uint8_t>>
        tag_bytes_;

    wheel_key next_ = never_key; // what next_key() told last, or what was armed since if that is earlier
    bool next_known_ = true;
    bool any_deferred_ =
        false;          // a timer was put off, so an entry may stand at a time at which nothing is due
    wheel_key now_;     // the latest time told
    wheel_key horizon_; // the later of that and the position
    std::uint64_t armings_ = 0; // shifted to its place in the order word
    unsigned sort_level_;
    unsigned scrub_at_ = 0; // bucket number; then the run; then the heap
    unsigned scrub_round_ = 0;
    entry_chunk* scrub_done_ = nullptr; // in that list, compacted up to here
};

} // namespace horae::detail

#include <horae/wheel/wheel_garbage.hpp>
#include <horae/wheel/wheel_opening.hpp>
