// SPDX-License-Identifier: Apache-2.0
//
// One task: a cache line in an arena that stays mapped for the life of the process, so a ticket can always be
// read.
//
// Fields other than word_ and join_ are plain. Between spawn and done they belong to the owner of the word
// (see slot_word.hpp); the waiter's fields follow join_ below.
//
//   join_ | how the end of the task is reported |     writers: owner of the handle J, the ending worker W
//     running --await[J]--> waiting_task, waiting_thread --abandon[J]--> running
//     running --end[W]--> done                     waiting_* --end[W]--> ending --end[W]--> done
//     running, ending --drop[J]--> detached        grouped: never changes, W tells the group
//
// HB-J1  J: await release -> W: end acquire. Publishes the waiter's fields.
// HB-J2  W: end release (done or ending) -> J: acquire. Publishes the result in the root frame and `outcome`.
// Who releases the slot: W when it finds detached, J when it finds done. `ending` lets W read the waiter's
// fields before J, whose waiting task may be cancelled at that moment, can give the slot away. Model:
// tests/model/exec/join_model.cpp.
#pragma once

#include <horae/base/cache_line.hpp>
#include <horae/exec/resumable.hpp>
#include <horae/exec/slot_word.hpp>

#include <atomic>
#include <cstdint>

namespace horae {

class slot_arena;
struct task_slot;

// The right to resume one particular suspension of one particular task. POD; safe to keep for ever: used
// late, it is a no-op.
struct wake_ticket {
    task_slot* slot = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t epoch = 0;
};

// True: this ticket was the one that resumes the task. False: stale, or another came first.
bool wake(const wake_ticket& ticket) noexcept;

// A task's identity apart from any suspension, for cancelling it. Safe to keep for ever.
struct task_ref {
    task_slot* slot = nullptr;
    std::uint32_t generation = 0;
};

// Asks for the end of a task. False: it had ended, or was asked before. On a worker of its runtime a
// suspended task is gone when this returns; a running one ends at its next suspension.
bool cancel(const task_ref& task) noexcept;

// How a suspension left the coroutine; told to the worker through the slot.
enum class leave_kind : std::uint8_t { suspended, shielded, yielded, finished };

enum class task_outcome : std::uint8_t { running, completed, cancelled };

enum class join_state : std::uint32_t {
    running,
    waiting_task,
    waiting_thread,
    ending,
    done,
    detached,
    grouped
};

// Children of one task that live no longer than the suspension that waits for them.
class child_group {
public:
    // The worker that ended `child`; the child's frame and slot are the group's now. Must be the last
    // touch of the group: the parent may go on and destroy it.
    virtual void child_ended(task_slot& child) noexcept = 0;
    // The parent is being cancelled. The group stays alive during the call.
    virtual void cancel_children() noexcept = 0;

protected:
    ~child_group() = default;
};

struct alignas(cache_line_bytes) task_slot {
    basic_slot_word<> word;
    resumable* innermost = nullptr; // where to go on; the root after the end, null when its frame is gone
    slot_arena* arena = nullptr;    // set once
    child_group* group = nullptr;   // the children this suspension is shielded for
    void* waiter = nullptr;         // task_slot*, basic_parker* or child_group*, by join
    std::uint32_t waiter_generation = 0;
    std::uint32_t waiter_epoch = 0;
    std::atomic<join_state> join{join_state::running};
    std::uint32_t index = 0;
    std::uint32_t next_free = 0;
    leave_kind leave = leave_kind::suspended;
    task_outcome outcome = task_outcome::running;

    // The running task, in await_suspend: the ticket of the suspension that is about to happen.
    wake_ticket ticket() noexcept { return {this, word.own_generation(), word.own_epoch()}; }
    task_ref ref() noexcept { return {this, word.own_generation()}; }
};
static_assert(sizeof(task_slot) == cache_line_bytes);

// An awaiter's await_suspend begins with this: the place to go on, and the ticket to wake it.
inline wake_ticket begin_suspend(resumable& at) noexcept {
    at.slot->innermost = &at;
    return at.slot->ticket();
}

// An awaiter that took a ticket and does not suspend after all must void it.
inline void revoke_suspend(resumable& at) noexcept {
    at.slot->word.revoke();
}

} // namespace horae
