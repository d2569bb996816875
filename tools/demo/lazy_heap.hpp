// SPDX-License-Identifier: Apache-2.0
//
// The timer queue most programs start with: a binary heap. Cancelling marks the timer, and its entry stays
// until it comes to the top; re-arming marks the old entry and pushes another. It keeps the promises that
// the demo compares: order by deadline, then by arming; ids that go stale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace demo {

template <class Payload>
class lazy_heap {
public:
    struct id {
        std::uint32_t index;
        std::uint32_t generation;
    };

    explicit lazy_heap(std::size_t timers) {
        std::vector<entry> storage;
        storage.reserve(timers);
        heap_ = decltype(heap_)({}, std::move(storage));
        timers_.reserve(timers);
        free_.reserve(timers);
    }

    id schedule(std::int64_t deadline_ns, Payload payload) {
        std::uint32_t index = 0;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(timers_.size());
            timers_.push_back({});
        } else {
            index = free_.back();
            free_.pop_back();
        }
        timer& added = timers_[index];
        added.payload = std::move(payload);
        added.entry_generation = ++generations_;
        added.generation = added.entry_generation;
        heap_.push({deadline_ns, index, added.entry_generation});
        return {index, added.generation};
    }

    bool cancel(id which) {
        if (timers_[which.index].generation != which.generation) {
            return false;
        }
        release(which.index);
        return true;
    }

    bool rearm(id which, std::int64_t deadline_ns) {
        timer& found = timers_[which.index];
        if (found.generation != which.generation) {
            return false;
        }
        found.entry_generation = ++generations_;
        heap_.push({deadline_ns, which.index, found.entry_generation});
        return true;
    }

    template <class Callback>
    void advance(std::int64_t now_ns, Callback&& callback) {
        while (!heap_.empty() && heap_.top().deadline_ns <= now_ns) {
            const entry first = heap_.top();
            heap_.pop();
            timer& due = timers_[first.index];
            if (due.entry_generation == first.entry_generation) {
                const id fired{first.index, due.generation};
                Payload payload = std::move(due.payload);
                release(first.index);
                callback(fired, first.deadline_ns, payload);
            }
        }
    }

private:
    // Generations count armings over the whole heap, so they order equal deadlines as well.
    struct entry {
        std::int64_t deadline_ns;
        std::uint32_t index;
        std::uint32_t entry_generation;
    };
    struct later {
        bool operator()(const entry& a, const entry& b) const {
            return a.deadline_ns != b.deadline_ns ? a.deadline_ns > b.deadline_ns
                                                  : a.entry_generation > b.entry_generation;
        }
    };
    struct timer {
        std::uint32_t generation = 0;       // zero: not armed
        std::uint32_t entry_generation = 0; // of its one valid entry
        Payload payload{};
    };

    void release(std::uint32_t index) {
        timers_[index].generation = 0;
        timers_[index].entry_generation = 0;
        free_.push_back(index);
    }

    std::priority_queue<entry, std::vector<entry>, later> heap_;
    std::vector<timer> timers_;
    std::vector<std::uint32_t> free_;
    std::uint32_t generations_ = 0;
};

} // namespace demo
