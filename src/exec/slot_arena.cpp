// SPDX-License-Identifier: Apache-2.0
#include <horae/exec/slot_arena.hpp>

#include <horae/exec/task_cancelled.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <new>
#include <sys/mman.h>
#include <vector>

namespace horae {
namespace {

constexpr std::uint32_t segment_slots = 4096; // 256 KiB at a time

struct shelf {
    std::mutex mutex;
    std::multimap<std::uint32_t, std::unique_ptr<slot_arena>> arenas;
};

// Never destroyed: a ticket may be used while static objects go.
shelf& the_shelf() {
    static shelf* instance = new shelf;
    return *instance;
}

} // namespace

std::unique_ptr<slot_arena> slot_arena::acquire(std::uint32_t capacity) {
    {
        shelf& from = the_shelf();
        const std::lock_guard lock(from.mutex);
        if (const auto found = from.arenas.find(capacity); found != from.arenas.end()) {
            auto arena = std::move(found->second);
            from.arenas.erase(found);
            arena->start_over();
            return arena;
        }
    }
    return std::unique_ptr<slot_arena>(new slot_arena(capacity));
}

void slot_arena::shelve(std::unique_ptr<slot_arena> arena) noexcept {
    shelf& to = the_shelf();
    const std::lock_guard lock(to.mutex);
    const std::uint32_t capacity = arena->capacity();
    slot_arena* kept = arena.release(); // out of memory below leaks the arena: still mapped, still safe
    try {
        to.arenas.emplace(capacity, std::unique_ptr<slot_arena>(kept));
    } catch (const std::bad_alloc&) {
    }
}

// When every slot is back, slots are dealt out in order again, so that a seed repeats itself. A slot whose
// handle outlives its runtime comes back later, in whatever order.
void slot_arena::start_over() noexcept {
    const std::lock_guard lock(mutex_);
    if (free_count_ != limit_.load(std::memory_order_relaxed))
        return;
    free_ = none;
    free_count_ = 0;
    limit_.store(0, std::memory_order_seq_cst);
}

slot_arena::slot_arena(std::uint32_t capacity) : capacity_(capacity) {
    void* memory = mmap(nullptr, std::size_t{capacity} * sizeof(task_slot), PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        throw std::bad_alloc();
    slots_ = static_cast<task_slot*>(memory);
}

bool slot_arena::grow() noexcept {
    if (usable_ == capacity_)
        return false;
    const std::uint32_t more = std::min(segment_slots, capacity_ - usable_);
    if (mprotect(slots_ + usable_, std::size_t{more} * sizeof(task_slot), PROT_READ | PROT_WRITE) != 0)
        return false; // out of memory: to the caller the arena is full for now
    for (std::uint32_t i = usable_; i < usable_ + more; ++i) {
        task_slot* slot = new (&slots_[i]) task_slot;
        slot->index = i;
        slot->arena = this;
    }
    usable_ += more;
    return true;
}

std::uint32_t slot_arena::take(std::uint32_t count) noexcept {
    const std::lock_guard lock(mutex_);
    std::uint32_t first = none;
    for (; count != 0; --count) {
        std::uint32_t index = free_;
        if (index != none) {
            free_ = slots_[index].next_free;
            --free_count_;
        } else {
            index = limit_.load(std::memory_order_relaxed); // written under the mutex only
            if (index == usable_ && !grow())
                break;
            limit_.store(index + 1, std::memory_order_seq_cst);
        }
        slots_[index].next_free = first;
        first = index;
    }
    return first;
}

void slot_arena::give(std::uint32_t first) noexcept {
    std::uint32_t given = 0;
    {
        const std::lock_guard lock(mutex_);
        for (; first != none; ++given) {
            const std::uint32_t next = slots_[first].next_free;
            slots_[first].next_free = free_;
            free_ = first;
            first = next;
        }
        free_count_ += given;
    }
    // One waiter for each slot, woken without the mutex.
    for (; given != 0 && has_waiters(); --given) {
        wake_ticket ticket;
        {
            const std::lock_guard lock(mutex_);
            if (first_waiter_ == nullptr)
                return;
            ticket = first_waiter_->ticket;
            unlink(*first_waiter_);
        }
        wake(ticket);
    }
}

bool slot_arena::wait(slot_waiter& waiter) noexcept {
    const std::lock_guard lock(mutex_);
    if (free_ != none || limit_.load(std::memory_order_relaxed) < capacity_)
        return false;
    waiter.previous = last_waiter_;
    waiter.next = nullptr;
    waiter.linked = true;
    (last_waiter_ != nullptr ? last_waiter_->next : first_waiter_) = &waiter;
    last_waiter_ = &waiter;
    waiting_.fetch_add(1, std::memory_order_relaxed); // under the mutex; give() looks after taking it once
    return true;
}

void slot_arena::forget(slot_waiter& waiter) noexcept {
    const std::lock_guard lock(mutex_);
    if (waiter.linked)
        unlink(waiter);
}

void slot_arena::unlink(slot_waiter& waiter) noexcept {
    (waiter.previous != nullptr ? waiter.previous->next : first_waiter_) = waiter.next;
    (waiter.next != nullptr ? waiter.next->previous : last_waiter_) = waiter.previous;
    waiter.linked = false;
    waiting_.fetch_sub(1, std::memory_order_relaxed);
}

void slot_arena::set_handler(exception_handler handler) {
    auto shared = std::make_shared<const exception_handler>(std::move(handler));
    const std::lock_guard lock(mutex_);
    handler_ = std::move(shared);
}

void slot_arena::report(std::exception_ptr error) noexcept {
    std::shared_ptr<const exception_handler> handler;
    {
        const std::lock_guard lock(mutex_);
        handler = handler_;
    }
    try {
        std::rethrow_exception(error);
    } catch (const task_cancelled&) {
        return;
    } catch (...) {
    }
    try {
        if (handler && *handler)
            (*handler)(std::move(error));
        else
            std::rethrow_exception(std::move(error));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "horae: an exception that nobody awaits: %s\n", e.what());
    } catch (...) {
        std::fprintf(stderr, "horae: an exception that nobody awaits, not a std::exception\n");
    }
}

} // namespace horae
