// SPDX-License-Identifier: Apache-2.0
//
// wheel_core: how entries are removed that stand for nothing any more.
#pragma once

#include <horae/wheel/wheel_core.hpp>

namespace horae::detail {

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::scrub(std::size_t budget) noexcept {
    std::size_t examined = 0;
    for (unsigned visits = 0; visits < 64 && examined < budget && entries_ > live_; ++visits) {
        if (scrub_at_ <= bucket_count) {
            examined += scrub_list();
            continue;
        }
        if (!advancing_) {
            examined += due_.scrub(budget - examined, [this](const due_entry& entry) {
                const bool stale = !current_node(entry.index, entry.tag);
                entries_ -= stale ? 1 : 0;
                return stale;
            });
        }
        scrub_at_ = 0;
        ++scrub_round_;
    }
    scrubbed_ += examined;
}

template <class Payload, class Allocator, class Limits>
std::size_t wheel_core<Payload, Allocator, Limits>::scrub_list() noexcept {
    if (scrub_done_ == nullptr) {
        scrub_at_ = buckets_.occupied_from(scrub_at_);
    }
    const unsigned at = scrub_at_;
    entry_list& list = at < bucket_count ? buckets_[at].entries : run_;
    if (list.empty()) {
        ++scrub_at_;
        return 0;
    }
    const bool exact = scrub_round_ % 8 == 7; // for the stale ones whose byte happens to match
    std::uint32_t dropped = 0;
    const entry_list::compaction step =
        list.compact_step(buckets_.chunks(), scrub_done_, [&](std::span<wheel_entry> entries) {
            const auto end = std::remove_if(entries.begin(), entries.end(), [&](const wheel_entry& entry) {
                return exact ? !current_node(entry.index, entry.tag) : !maybe_current(entry);
            });
            dropped = static_cast<std::uint32_t>(entries.end() - end);
            return static_cast<std::uint32_t>(end - entries.begin());
        });
    entries_ -= dropped;
    scrub_at_ += step.finished ? 1 : 0;
    if (at < bucket_count) {
        buckets_.forget_if_empty(at);
    }
    return step.examined;
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::purge_entries_of(std::uint32_t index) noexcept {
    const auto purge = [&](entry_list& list) {
        entry_list kept;
        list.drain(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
            for (const wheel_entry& entry : entries) {
                if (entry.index == index) {
                    --entries_;
                } else {
                    kept.append(entry, buckets_.chunks());
                }
            }
        });
        list.append(kept);
    };
    for (unsigned n = buckets_.occupied_from(0); n < bucket_count; n = buckets_.occupied_from(n + 1)) {
        purge(buckets_[n].entries);
        buckets_.forget_if_empty(n);
    }
    purge(run_);
    entries_ -= due_.drop_timer(index);
    scrub_done_ = nullptr;
    next_known_ = false;
}

template <class Payload, class Allocator, class Limits>
void wheel_core<Payload, Allocator, Limits>::settle_front() noexcept {
    if (live_ == 0) {
        drop_all_entries();
        return;
    }
    while (const due_entry* first = due_.first()) {
        node* timer = current_node(first->index, first->tag);
        if (timer && timer->order == first->order) {
            return;
        }
        const due_entry gone = due_.pop();
        if (timer) {
            move_deferred(*timer, gone.index);
        } else {
            --entries_;
        }
    }
    while (run_.empty() && !buckets_.empty() && (entries_ != live_ || any_deferred_)) {
        const unsigned number = buckets_.first();
        if (buckets_[number].entries.size() > due_queue<Allocator>::ready_capacity || settle_bucket(number)) {
            return;
        }
    }
}

template <class Payload, class Allocator, class Limits>
bool wheel_core<Payload, Allocator, Limits>::settle_bucket(unsigned number) noexcept {
    bool stayed = false;
    const wheel_key end = buckets_.start_of(number) | offset_mask(number / slot_count);
    take_bucket(number).entries.drain(buckets_.chunks(), [&](std::span<wheel_entry> entries) {
        prefetch_timers(entries);
        for (const wheel_entry& entry : entries) {
            if (node* timer = current_node(entry.index, entry.tag)) {
                timer->order &= ~node::deferred_bit;
                const wheel_key key = timer->key();
                stayed = stayed || key <= end;
                buckets_.append(key, entry.index, entry.tag);
            } else {
                --entries_;
            }
        }
    });
    return stayed;
}

} // namespace horae::detail
