// SPDX-License-Identifier: Apache-2.0
#include <horae/exec/runtime_core.hpp>

#include <horae/base/assert.hpp>
#include <horae/base/fork.hpp>
#include <horae/exec/blocking_pool.hpp>

#include <algorithm>

namespace horae {

const char* describe(spawn_error error) noexcept {
    switch (error) {
    case spawn_error::none:
        return "no error";
    case spawn_error::no_capacity:
        return "as many tasks are alive as runtime_options::slot_capacity allows";
    case spawn_error::shut_down:
        return "the runtime is shut down";
    case spawn_error::forked:
        return "this process is a fork of the one that made the runtime, whose workers are not here";
    }
    return "unknown error";
}

bool runtime_core::forked() const noexcept {
    return fork_generation() != fork_generation_;
}

spawned runtime_core::spawn(resumable& root, join_state join, void* waiter) noexcept {
    if (forked())
        return {nullptr, 0, spawn_error::forked};
    worker* self = current_worker();
    if (self != nullptr && &self->core() != this)
        self = nullptr;
    if (refuse_all_.load(std::memory_order_seq_cst))
        return {nullptr, 0, spawn_error::shut_down};
    if (self != nullptr) {
        self->counters_.spawned.add(); // before the task can end
    } else {
        // Counted first, then asked: shutdown refuses first, then counts (a Dekker pair, seq_cst both sides).
        foreign_spawned_.fetch_add(1, std::memory_order_seq_cst);
    }
    spawn_error error = spawn_error::none;
    task_slot* slot = nullptr;
    if (self == nullptr && !accepting_.load(std::memory_order_seq_cst)) {
        error = spawn_error::shut_down;
    } else if (self != nullptr) {
        slot = self->take_slot();
    } else if (const std::uint32_t index = arena_->take(1); index != slot_arena::none) {
        slot = &(*arena_)[index];
    }
    if (slot == nullptr) {
        if (self != nullptr) {
            self->counters_.spawned.add(~std::uint64_t{0}); // minus one
        } else {
            foreign_spawned_.fetch_sub(1, std::memory_order_seq_cst);
            tell_quiet_waiter();
        }
        return {nullptr, 0, error == spawn_error::none ? spawn_error::no_capacity : error};
    }
    slot->innermost = &root;
    slot->group = nullptr;
    slot->outcome = task_outcome::running;
    slot->waiter = waiter;
    slot->join.store(join, std::memory_order_relaxed); // published with the word
    root.slot = slot;
    const std::uint32_t generation = slot->word.own_generation();
    slot->word.spawn();
    if (self != nullptr)
        self->push_next(*slot);
    else
        inject(*slot);
    return {slot, generation, spawn_error::none};
}

bool runtime_core::wait_for_slot(slot_waiter& waiter) noexcept {
    if (!arena_->wait(waiter))
        return false;
    for (std::uint32_t i = 0; i < worker_limit(); ++i)
        worker_at(i)->unpark(); // on its way through step() each gives back what it keeps
    return true;
}

void runtime_core::make_ready(task_slot& slot) noexcept {
    worker* const self = current_worker();
    if (self != nullptr && self->core_ == this)
        self->push_next(slot);
    else
        inject(slot);
}

void runtime_core::inject(task_slot& slot) noexcept {
    // The task keeps the runtime alive until it is marked; after that only this count does.
    injecting_.fetch_add(1, std::memory_order_relaxed);
    signals_.mark(slot.index);
    notify();
    injecting_.fetch_sub(1, std::memory_order_release); // last touch; the destructor acquires it
}

void runtime_core::notify() noexcept {
    if (const std::uint32_t index = idle_.claim_for_work(); index != idle_set::nobody)
        wake_worker(index);
}

void runtime_core::wake_worker(std::uint32_t index) noexcept {
    if (worker* self = current_worker(); self != nullptr && self->core_ == this)
        self->counters_.unparks.add();
    else
        foreign_unparks_.fetch_add(1, std::memory_order_relaxed); // a statistic
    worker_at(index)->unpark();
}

worker* runtime_core::find(worker_id id) noexcept {
    if (!id)
        return nullptr;
    worker* found = worker_at(id.index());
    return found != nullptr && found->published_id() == id ? found : nullptr;
}

void runtime_core::send(worker_id to, message& item, bool wake) noexcept {
    worker* receiver = find(to);
    if (receiver == nullptr || !receiver->push_message(item)) {
        send_any(item, wake);
        return;
    }
    if (wake)
        receiver->unpark();
}

void runtime_core::send_any(message& item, bool wake) noexcept {
    const auto try_all = [&] {
        const std::uint32_t count = worker_limit();
        for (std::uint32_t i = 0; i < count; ++i) {
            worker* receiver = worker_at(i);
            if (receiver != nullptr && receiver->push_message(item)) {
                if (wake)
                    receiver->unpark();
                return true;
            }
        }
        return false;
    };
    if (try_all())
        return;
    // Nobody is there. A new worker opens its inbox and takes the orphans under this mutex.
    const std::lock_guard lock(admin_mutex_);
    if (!try_all())
        orphans_.push(item);
}

void runtime_core::clock_moved() noexcept {
    const std::int64_t now = clock_->now_ns();
    const std::uint32_t count = worker_limit();
    for (std::uint32_t i = 0; i < count; ++i) {
        worker* each = worker_at(i);
        if (each != nullptr && each->sleeping_until() <= now)
            each->unpark();
    }
    tell_quiet_waiter();
}

void runtime_core::worker_idle() noexcept {
    tell_quiet_waiter();
    if (clock_->is_real() || idle_.idle_count() < running_workers())
        return;
    std::int64_t next = never_ns;
    const std::uint32_t count = worker_limit();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (const worker* each = worker_at(i); each != nullptr)
            next = std::min(next, each->sleeping_until());
    }
    clock_->all_idle(next);
}

void runtime_core::tell_quiet_waiter() noexcept {
    if (quiet_wanted_.load(std::memory_order_seq_cst))
        quiet_parker_.unpark();
}

// Ends are read before starts. Each task's start is counted before its end, and the starts of its children
// before it ends, so when the two sums are equal there was a moment between the two readings with no task
// alive.
std::uint64_t runtime_core::live() const noexcept {
    std::uint64_t ended = 0;
    std::uint64_t started = 0;
    const std::uint32_t count = worker_limit();
    for (std::uint32_t i = 0; i < count; ++i) {
        if (const worker* each = workers_[i].load(std::memory_order_acquire); each != nullptr)
            ended += each->counters().completed.read() + each->counters().cancelled.read();
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        if (const worker* each = workers_[i].load(std::memory_order_acquire); each != nullptr)
            started += each->counters().spawned.read();
    }
    return started + foreign_spawned_.load(std::memory_order_seq_cst) - ended;
}

runtime_metrics runtime_core::metrics() const noexcept {
    runtime_metrics sum;
    const std::uint32_t count = worker_limit();
    for (std::uint32_t i = 0; i < count; ++i) {
        const worker* each = workers_[i].load(std::memory_order_acquire);
        if (each == nullptr)
            continue;
        const detail::worker_counters& from = each->counters();
        sum.completed += from.completed.read();
        sum.cancelled += from.cancelled.read();
        sum.polls += from.polls.read();
        sum.inline_polls += from.inline_polls.read();
        sum.signal_acquires += from.signal_acquires.read();
        sum.steals += from.steals.read();
        sum.overflows += from.overflows.read();
        sum.parks += from.parks.read();
        sum.unparks += from.unparks.read();
        sum.messages += from.messages.read();
        sum.migrated_tasks += from.migrated_tasks.read();
        sum.migrated_messages += from.migrated_messages.read();
        sum.spawned += from.spawned.read();
    }
    sum.spawned += foreign_spawned_.load(std::memory_order_relaxed);
    sum.unparks += foreign_unparks_.load(std::memory_order_relaxed);
    sum.workers = running_workers();
    sum.idle_workers = idle_.idle_count();
    return sum;
}

} // namespace horae
