// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace horae {

struct runtime_metrics {
    std::uint32_t workers = 0;           // running now
    std::uint32_t idle_workers = 0;      // of those, asleep
    std::uint64_t spawned = 0;           // tasks ever started
    std::uint64_t completed = 0;         // ended by themselves
    std::uint64_t cancelled = 0;         // ended by cancellation, also at shutdown
    std::uint64_t polls = 0;             // resumptions from a queue
    std::uint64_t inline_polls = 0;      // resumptions that went around every queue
    std::uint64_t signal_acquires = 0;   // tasks taken from the signal map
    std::uint64_t steals = 0;            // tasks taken from another worker
    std::uint64_t overflows = 0;         // tasks that did not fit a worker's ring
    std::uint64_t parks = 0;             // times a worker went to sleep
    std::uint64_t unparks = 0;           // wake-ups sent to sleeping workers
    std::uint64_t messages = 0;          // messages handled
    std::uint64_t migrated_tasks = 0;    // ready tasks left behind by removed workers
    std::uint64_t migrated_messages = 0; // unread messages left behind by removed workers
    std::uint64_t live() const noexcept { return spawned - completed - cancelled; }
};

namespace detail {

// A counter with one writer: add() is a load and a store, no locked instruction.
class owned_counter {
public:
    void add(std::uint64_t n = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
    }
    // acquire/release: shutdown reads `ended` before `spawned` and relies on that order (runtime_core::live).
    std::uint64_t read() const noexcept { return value_.load(std::memory_order_acquire); }

private:
    std::atomic<std::uint64_t> value_{0};
};

struct worker_counters {
    owned_counter spawned, completed, cancelled, polls, inline_polls, signal_acquires, steals, overflows,
        parks, unparks, messages, migrated_tasks, migrated_messages;
};

} // namespace detail
} // namespace horae
