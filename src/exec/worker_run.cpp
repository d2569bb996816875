// SPDX-License-Identifier: Apache-2.0
//
// The part of a worker that runs tasks: queues of its own, resume, end.
#include <horae/exec/release.hpp>
#include <horae/exec/runtime_core.hpp>
#include <horae/exec/worker.hpp>

namespace horae {

void worker::push_ring(std::uint32_t entry, std::memory_order order) noexcept {
    if (ring_.size() < ring_limit_ && ring_.push(entry, order))
        return;
    counters_.overflows.add();
    mark(entry);
}

// The signal map knows slots only, so a task that yielded must be `scheduled` there.
void worker::mark(std::uint32_t entry) noexcept {
    const std::uint32_t index = entry & ~yielded_entry;
    task_slot& slot = (*arena_)[index];
    if ((entry & yielded_entry) != 0 && slot.word.yield() == suspend_result::destroy)
        destroy(slot);
    else
        core_->signals_.mark(index);
}

void worker::push_next(task_slot& slot) noexcept {
    const std::uint32_t displaced = next_;
    next_ = slot.index;
    if (displaced == slot_arena::none)
        return;
    if (core_->running_.load(std::memory_order_relaxed) <= 1) {
        push_ring(displaced, std::memory_order_release); // nobody to tell; one who comes later searches first
        return;
    }
    push_ring(displaced,
              std::memory_order_seq_cst); // D1: the running task may take long, so others must know
    core_->notify();
}

bool worker::next_ready(std::uint32_t& index) noexcept {
    if (next_ != slot_arena::none && (next_streak_ < next_streak_limit || ring_.size() == 0)) {
        ++next_streak_;
        index = next_;
        next_ = slot_arena::none;
        return true;
    }
    next_streak_ = 0;
    return ring_.pop(index);
}

void worker::run(std::uint32_t entry) noexcept {
    task_slot& slot = (*arena_)[entry & ~yielded_entry];
    counters_.polls.add();
    if ((entry & yielded_entry) != 0) {
        // Still `executing`; the ring published the frame (HB-R1), and only a cancellation can have come.
        if (slot.word.cancel_requested() && slot.word.yield() == suspend_result::destroy)
            destroy(slot);
        else
            resume(slot);
        return;
    }
    if (slot.word.start() == start_result::run)
        resume(slot);
    else
        destroy(slot);
}

bool worker::poll_inline(const wake_ticket& ticket) noexcept {
    if (!ticket.slot->word.start_inline(ticket.generation, ticket.epoch))
        return wake(ticket);
    counters_.inline_polls.add();
    resume(*ticket.slot);
    return true;
}

// The word is `executing` and ours. Afterwards the slot belongs to whoever the word says, or to the ring.
void worker::resume(task_slot& slot) noexcept {
    task_slot* const before = running_;
    running_ = &slot;
    slot.leave = leave_kind::suspended;
    slot.innermost->self.resume();
    // With nothing else to do here, a task that yields goes on at once, a few times.
    for (std::uint32_t left = yields_in_place;
         left != 0 && slot.leave == leave_kind::yielded && idle_locally() && !slot.word.cancel_requested();
         --left) {
        slot.leave = leave_kind::suspended;
        slot.innermost->self.resume();
    }
    running_ = before;
    suspend_result result = suspend_result::suspended;
    switch (slot.leave) {
    case leave_kind::finished:
        end(slot, task_outcome::completed);
        return;
    case leave_kind::yielded:
        if (!slot.word.cancel_requested()) {
            // Nobody can wake it, so the word stays `executing` and the ring's entry owns the task.
            push_ring(slot.index | yielded_entry, std::memory_order_release);
            return;
        }
        result = slot.word.yield();
        break;
    case leave_kind::shielded:
        result = slot.word.suspend(true);
        break;
    case leave_kind::suspended:
        result = slot.word.suspend(false);
        break;
    }
    switch (result) {
    case suspend_result::suspended:
        return;
    case suspend_result::requeue:
        // Behind the others. No notify: step() looks at the ring again when it ends.
        push_ring(slot.index, std::memory_order_release);
        return;
    case suspend_result::destroy:
        destroy(slot);
        return;
    case suspend_result::propagate:
        slot.group->cancel_children();
        if (slot.word.unclaim())
            push_ring(slot.index, std::memory_order_release);
        return;
    }
}

void worker::destroy(task_slot& slot) noexcept {
    resumable* chain = slot.innermost;
    slot.innermost = nullptr;
    detail::destroy_chain(chain);
    end(slot, task_outcome::cancelled);
}

// The word is still executing or claimed: nobody else touches the slot but through join.
void worker::end(task_slot& slot, task_outcome outcome) noexcept {
    slot.outcome = outcome;
    // Before anybody is told, so that the one who was told finds the task counted.
    (outcome == task_outcome::completed ? counters_.completed : counters_.cancelled).add();
    slot.word.finish();
    join_state seen = slot.join.load(std::memory_order_acquire); // HB-J1
    if (seen == join_state::grouped) {
        static_cast<child_group*>(slot.waiter)->child_ended(slot);
        return;
    }
    for (;;) {
        if (seen == join_state::detached) {
            detail::release_slot(slot);
            break;
        }
        const bool waited = seen != join_state::running;
        // acq_rel: HB-J1 and HB-J2.
        if (!slot.join.compare_exchange_weak(seen, waited ? join_state::ending : join_state::done,
                                             std::memory_order_acq_rel, std::memory_order_acquire))
            continue;
        if (!waited)
            break;
        void* const waiter = slot.waiter;
        const wake_ticket ticket{static_cast<task_slot*>(waiter), slot.waiter_generation, slot.waiter_epoch};
        // acq_rel: HB-J2; acquire what the owner did before it detached.
        if (slot.join.exchange(join_state::done, std::memory_order_acq_rel) == join_state::detached)
            detail::release_slot(slot);
        if (seen == join_state::waiting_task)
            wake(ticket);
        else
            static_cast<parker*>(waiter)->unpark();
        break;
    }
}

bool wake(const wake_ticket& ticket) noexcept {
    if (ticket.slot == nullptr)
        return false;
    switch (ticket.slot->word.wake(ticket.generation, ticket.epoch)) {
    case wake_result::scheduled:
        ticket.slot->arena->core->make_ready(*ticket.slot);
        return true;
    case wake_result::notified:
        return true;
    default:
        return false;
    }
}

bool cancel(const task_ref& task) noexcept {
    if (task.slot == nullptr)
        return false;
    worker* const self = current_worker();
    // By address: nothing in a slot but its word may be read before the CAS.
    const bool local = self != nullptr && self->core().arena().contains(task.slot);
    switch (task.slot->word.cancel(task.generation, local)) {
    case cancel_result::destroy:
        self->destroy(*task.slot);
        return true;
    case cancel_result::propagate:
        task.slot->group->cancel_children();
        if (task.slot->word.unclaim())
            task.slot->arena->core->make_ready(*task.slot);
        return true;
    case cancel_result::schedule:
        task.slot->arena->core->make_ready(*task.slot);
        return true;
    case cancel_result::flagged:
        return true;
    default:
        return false;
    }
}

namespace detail {

void release_slot(task_slot& slot) noexcept {
    if (slot.innermost != nullptr) {
        std::exception_ptr error = std::move(slot.innermost->error);
        slot.innermost->self.destroy();
        slot.innermost = nullptr;
        if (error)
            slot.arena->report(std::move(error));
    }
    if (!slot.word.release()) {
        slot.arena->retire();
        return;
    }
    worker* const self = current_worker();
    if (self != nullptr && &self->core().arena() == slot.arena) {
        self->give_slot(slot);
        return;
    }
    slot.next_free = slot_arena::none;
    slot.arena->give(slot.index);
}

} // namespace detail
} // namespace horae
