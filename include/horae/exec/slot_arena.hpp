// SPDX-License-Identifier: Apache-2.0
//
// The memory of all tasks of a runtime. Address space for the whole capacity is reserved at once, pages are
// made usable in segments as they are needed, and nothing is ever unmapped: when a runtime ends its arena
// goes to a process-wide shelf and the next runtime of that capacity goes on with it, generations and all. So
// a ticket can be read at any time, even after its runtime has ended, and is stale.
//
// take/give work in chains under a mutex: workers come for a batch at a time, foreign threads one by one.
#pragma once

#include <horae/exec/task_slot.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

namespace horae {

class runtime_core;

// One who waits for a free slot; linked in the arena, under its mutex.
struct slot_waiter {
    wake_ticket ticket;
    slot_waiter* next = nullptr;
    slot_waiter* previous = nullptr;
    bool linked = false;
};

class slot_arena {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    // From the shelf, or new. Throws std::bad_alloc when the address space can not be had.
    static std::unique_ptr<slot_arena> acquire(std::uint32_t capacity);
    // Back to the shelf; every slot must be free.
    static void shelve(std::unique_ptr<slot_arena> arena) noexcept;

    slot_arena(const slot_arena&) = delete;
    slot_arena& operator=(const slot_arena&) = delete;

    task_slot& operator[](std::uint32_t index) noexcept { return slots_[index]; }
    std::uint32_t capacity() const noexcept { return capacity_; }

    // One above the highest slot ever used. seq_cst: a bound for searches that end in a parking check; it is
    // raised before a slot can become ready.
    std::uint32_t limit() const noexcept { return limit_.load(std::memory_order_seq_cst); }

    // Up to `count` free slots as a chain linked by next_free, ended by `none`. Returns its first, or none.
    std::uint32_t take(std::uint32_t count) noexcept;
    // A chain back.
    void give(std::uint32_t first) noexcept;

    // False: there is a free slot after all. True: the ticket is woken when one comes back, at most once.
    bool wait(slot_waiter& waiter) noexcept;
    void forget(slot_waiter& waiter) noexcept;
    // Somebody waits: those who keep free slots for themselves give them back. relaxed: looked at again and
    // again.
    bool has_waiters() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

    std::uint64_t retired() const noexcept { return retired_.load(std::memory_order_relaxed); }
    // The slot's generation is used up.
    void retire() noexcept { retired_.fetch_add(1, std::memory_order_relaxed); }

    bool contains(const task_slot* slot) const noexcept {
        return slot >= slots_ && slot < slots_ + capacity_;
    }

    // The runtime that uses the arena now. Valid for the owner of a live task's word: its runtime can not end
    // before it.
    runtime_core* core = nullptr;

    // Where exceptions that nobody awaits go. Kept here so that a handle dropped after its runtime still
    // finds it.
    using exception_handler = std::function<void(std::exception_ptr)>;
    void set_handler(exception_handler handler);
    void report(std::exception_ptr error) noexcept;

private:
    explicit slot_arena(std::uint32_t capacity);
    bool grow() noexcept;
    void start_over() noexcept;
    void unlink(slot_waiter& waiter) noexcept;

    task_slot* slots_ = nullptr;
    std::uint32_t capacity_;
    std::uint32_t usable_ = 0; // slots whose pages are usable
    std::atomic<std::uint32_t> limit_{0};
    std::atomic<std::uint64_t> retired_{0};
    std::mutex mutex_;
    std::uint32_t free_ = none;
    std::uint32_t free_count_ = 0;
    slot_waiter* first_waiter_ = nullptr;
    slot_waiter* last_waiter_ = nullptr;
    std::atomic<std::uint32_t> waiting_{0};
    std::shared_ptr<const exception_handler> handler_;
};

} // namespace horae
