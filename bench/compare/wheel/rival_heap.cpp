// SPDX-License-Identifier: Apache-2.0
//
// A binary heap with lazy deletion (std::push_heap, std::pop_heap): the other thing everybody writes.
// Entries are {deadline, slot, generation}; cancel bumps the slot's generation and leaves the entry; re-arm
// is that plus a push. When more than half of the entries are stale the heap is rebuilt, so memory stays
// bounded. Equal deadlines fire in no particular order.
#include "chain.hpp"

namespace {

struct rival {
    struct handle {
        std::uint32_t slot = 0;
        std::uint32_t generation = 0; // 0 = none
        explicit operator bool() const { return generation != 0; }
    };
    struct entry {
        std::int64_t deadline_ns;
        handle timer;
        bool operator<(entry const& other) const { return deadline_ns > other.deadline_ns; } // min-heap
    };
    struct slot {
        bench::payload value;
        std::uint32_t generation;
    };

    static bench::rival_info info() {
        return {.name = "binary heap",
                .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE),
                .language = "C++",
                .resolution = "1 ns",
                .handle_bytes = sizeof(handle),
                .next_deadline = true};
    }

    rival(std::size_t capacity, std::int64_t) {
        heap_.reserve(capacity);
        slots_.reserve(capacity);
        free_.reserve(capacity);
    }

    handle schedule(std::int64_t deadline_ns, bench::payload p) {
        std::uint32_t index;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(slots_.size());
            slots_.push_back({p, 1});
        } else {
            index = free_.back();
            free_.pop_back();
            slots_[index].value = p;
        }
        const handle h{index, slots_[index].generation};
        push({deadline_ns, h});
        return h;
    }
    bool cancel(handle h) {
        if (!live(h))
            return false;
        release(h.slot);
        if (++stale_ > heap_.size() / 2 + 64)
            rebuild();
        return true;
    }
    handle rearm(handle h, std::int64_t deadline_ns) {
        h.generation = ++slots_[h.slot].generation;
        push({deadline_ns, h});
        if (++stale_ > heap_.size() / 2 + 64)
            rebuild();
        return h;
    }
    template <class F>
    void advance(std::int64_t now_ns, F&& on_fire) {
        while (!heap_.empty() && heap_.front().deadline_ns <= now_ns) {
            const handle h = heap_.front().timer;
            pop();
            if (!live(h)) {
                --stale_;
                continue;
            }
            const bench::payload p = slots_[h.slot].value;
            release(h.slot);
            on_fire(p);
        }
    }
    std::int64_t next_deadline() {
        while (!live(heap_.front().timer)) {
            pop();
            --stale_;
        }
        return heap_.front().deadline_ns;
    }

    bool live(handle h) const { return slots_[h.slot].generation == h.generation; }
    void release(std::uint32_t index) {
        ++slots_[index].generation;
        free_.push_back(index);
    }
    void push(entry e) {
        heap_.push_back(e);
        std::push_heap(heap_.begin(), heap_.end());
    }
    void pop() {
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
    }
    void rebuild() {
        std::erase_if(heap_, [&](entry const& e) { return !live(e.timer); });
        std::make_heap(heap_.begin(), heap_.end());
        stale_ = 0;
    }

    std::vector<entry> heap_;
    std::vector<slot> slots_;
    std::vector<std::uint32_t> free_;
    std::size_t stale_ = 0;
};

HORAE_BENCH_RIVAL(rival)

} // namespace
