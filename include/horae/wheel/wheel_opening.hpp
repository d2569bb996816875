// SPDX-License-Identifier: Apache-2.0
//
// wheel_core: how a bucket is opened when its time has come.
#pragma once

#include <horae/wheel/wheel_core.hpp>

namespace horae::detail {

template <class Payload, class Allocator, class Limits>
bool wheel_core<Payload, Allocator, Limits>::open_next_bucket() noexcept {
    if (buckets_.empty()) {
        return false;
    }
    const unsigned number = buckets_.first();
    const unsigned level = number / slot_count;
    const wheel_key start = buckets_.start_of(number);
    if (start > now_) {
        return false;
    }
    wheel_bucket bucket = take_bucket(number);
    const wheel_key last = start | offset_mask(level);
    if (bucket.entries.size() <= due_queue<Allocator>::ready_capacity &&
        (last <= now_ || level <= sort_level_)) {
        move_to(last);
        sort_into_ready(bucket.entries, last);
    } else if (level == 0) {
        move_to(start);
        begin_run(bucket.entries, start);
    } else {
        move_to(start);
        cascade(bucket, level, start);
        // What is due at the start itself stands at the position now: W2 wants it in ready or run.
        if (!buckets_.empty() && buckets_.start_of(buckets_.first()) == start) {
            return open_next_bucket();
        }
    }
    return true;
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::sort_into_ready(entry_list& list, wheel_key last) noexcept {
    std::array<wheel_entry, due_queue<Allocator>::ready_capacity> taken;
    std::size_t count = 0;
    list.drain(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
        prefetch_timers(entries);
        std::copy(entries.begin(), entries.end(), taken.begin() + static_cast<std::ptrdiff_t>(count));
        count += entries.size();
    });
    due_.clear_ready();
    for (const wheel_entry& entry : std::span(taken.data(), count)) {
        node* timer = current_node(entry.index, entry.tag);
        if (!timer) {
            --entries_;
            continue;
        }
        timer->order &= ~node::deferred_bit;
        const wheel_key key = timer->key();
        if (key <= last) {
            due_.add_ready({key, timer->order, entry.index, entry.tag});
        } else {
            buckets_.append(key, entry.index, entry.tag);
        }
    }
    due_.sort_ready();
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::begin_run(entry_list& list, wheel_key key) noexcept {
    run_key_ = key;
    std::uint64_t previous = 0;
    std::uint64_t differing = 0;
    bool sorted = true;
    list.drain(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
        for_each_due(entries, [&](const wheel_entry& entry, const node& timer) {
            sorted = sorted && previous <= timer.order;
            differing |= previous == 0 ? 0 : previous ^ timer.order;
            previous = timer.order;
            run_.append(entry, buckets_.chunks());
        });
    });
    if (!sorted) {
        sort_run(differing);
    }
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::sort_run(std::uint64_t differing) noexcept {
    constexpr unsigned radix_bits = 4;
    for (unsigned shift = node::arming_shift; shift < 64 && differing >> shift != 0; shift += radix_bits) {
        std::array<entry_list, 1u << radix_bits> lists;
        run_.drain(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
            prefetch_timers(entries);
            for (const wheel_entry& entry : entries) {
                const std::uint64_t order_bits = nodes_[entry.index].order >> shift;
                lists[order_bits % lists.size()].append(entry, buckets_.chunks());
            }
        });
        for (entry_list& list : lists) {
            run_.append(list);
        }
    }
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::refill_from_run() noexcept {
    if (scrub_at_ == bucket_count) {
        scrub_done_ = nullptr;
    }
    due_.clear_ready();
    run_.drain_first_chunk(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
        for_each_due(entries, [&](const wheel_entry& entry, const node& timer) {
            due_.add_ready({run_key_, timer.order, entry.index, entry.tag});
        });
    });
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::cascade(wheel_bucket& bucket, unsigned level,
                                                     wheel_key start) noexcept {
    constexpr unsigned widest_entry_level = 32 / digit_bits;
    const bool look = level > widest_entry_level;
    const bool sort_out = (entries_ - live_) * 8 > entries_; // else too few are stale for that to pay
    const wheel_key mask = offset_mask(level);
    cascaded_ += bucket.entries.size();
    bucket.entries.drain(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
        if (!look) {
            for (const wheel_entry& entry : entries) {
                if (!sort_out || maybe_current(entry)) {
                    buckets_.append(start | (entry.key_low & mask), entry.index, entry.tag);
                } else {
                    --entries_;
                }
            }
            return;
        }
        prefetch_timers(entries);
        for (const wheel_entry& entry : entries) {
            if (node* timer = current_node(entry.index, entry.tag)) {
                timer->order &= ~node::deferred_bit;
                buckets_.append(timer->key(), entry.index, entry.tag);
            } else {
                --entries_;
            }
        }
    });
}

} // namespace horae::detail
