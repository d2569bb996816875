// SPDX-License-Identifier: Apache-2.0
#include <horae/exec/worker.hpp>

#include <horae/base/assert.hpp>
#include <horae/exec/runtime_core.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace horae {
namespace {

constexpr std::int64_t awake_ns = std::numeric_limits<std::int64_t>::min();

} // namespace

worker::worker(runtime_core& core, std::uint32_t index)
    : sleeping_until_(awake_ns),
      core_(&core),
      arena_(&core.arena()),
      clock_(&core.clock()),
      index_(index),
      random_(core.options().seed + index) {
    inbox_.close();
}

worker::~worker() = default;

void worker::open(worker_id id) {
    id_ = id;
    published_id_.store(id.value, std::memory_order_release);
    random_ = random_source(core_->options().seed + id.value);
    // A worker may keep 2 batches of free slots; together they must not eat up a small arena.
    slot_batch_ = arena_->capacity() >= 64 * slot_batch ? slot_batch : 0;
    std::vector<std::unique_ptr<driver>> drivers;
    driver* waits = nullptr;
    for (const driver_factory& make : core_->options().drivers) {
        drivers.push_back(make(*this));
        if (drivers.back()->waits()) {
            HORAE_ASSERT(waits == nullptr, "only one driver of a worker may wait in its own way");
            waits = drivers.back().get();
        }
    }
    drivers_ = std::move(drivers);
    waiting_driver_.store(waits, std::memory_order_release);
    retiring_.store(false, std::memory_order_relaxed); // published by reopen below and by the thread's start
    inbox_.reopen();
}

step_outcome worker::step(std::uint32_t budget) {
    if (parked_) {
        parked_ = false;
        sleeping_until_.store(awake_ns, std::memory_order_relaxed); // a late reader only wakes us once more
        searching_ = core_->idle_.unpark_done(index_);
    }
    if (retiring_.load(std::memory_order_acquire)) {
        retire();
        return {step_outcome::kind::stopped};
    }
    bool ran = false;
    for (; budget != 0; --budget) {
        if (++tick_ % fairness_interval == 0)
            ran |= look_around();
        std::uint32_t index = 0;
        if (!next_ready(index))
            break;
        if (searching_)
            stop_searching(true);
        run(index);
        ran = true;
    }
    // A ring that others could help with; relaxed, because the next step looks again.
    if (ran && ring_.size() > 1 && core_->idle_.wants_work())
        core_->notify();
    if (!ran) {
        ran = look_around();
        // What was found is run in the same step: two workers that only moved a task could move it back and
        // forth.
        std::uint32_t index = 0;
        if (next_ready(index) || steal(index)) {
            if (searching_)
                stop_searching(true);
            run(index);
            ran = true;
        }
    }
    if (ran) {
        if (searching_)
            stop_searching(true);
        return {step_outcome::kind::ran};
    }
    return prepare_to_park();
}

// Messages, drivers, shared ready tasks.
bool worker::look_around() noexcept {
    std::size_t did = drain_messages();
    did += poll_drivers();
    if (arena_->has_waiters())
        give_back_slots();
    if (ring_.size() + 64 <= ring_limit_ || ring_.size() == 0)
        did += acquire_signals();
    return did != 0;
}

std::size_t worker::drain_messages() noexcept {
    if (pending_messages_ == nullptr)
        pending_messages_ = static_cast<message*>(inbox_.take_all());
    std::size_t done = 0;
    while (pending_messages_ != nullptr && done < message_batch) {
        message& item = *pending_messages_;
        pending_messages_ = static_cast<message*>(item.next.read());
        item.handle(*this, item);
        ++done;
    }
    if (done != 0)
        counters_.messages.add(done);
    return done;
}

std::size_t worker::poll_drivers() noexcept {
    if (drivers_.empty())
        return 0;
    std::size_t done = 0;
    const std::int64_t now = now_ns();
    for (const auto& each : drivers_)
        done += each->poll(*this, now);
    return done;
}

std::size_t worker::acquire_signals() noexcept {
    const auto found = core_->signals_.acquire(arena_->limit(), signal_cursor_);
    if (found.bits == 0)
        return 0;
    signal_cursor_ = found.first + 64;
    std::size_t count = 0;
    for (std::uint64_t bits = found.bits; bits != 0; bits &= bits - 1) {
        push_ring(found.first + static_cast<std::uint32_t>(std::countr_zero(bits)),
                  std::memory_order_release);
        ++count;
    }
    counters_.signal_acquires.add(count);
    return count;
}

// One to run now; the rest goes to the ring.
bool worker::steal(std::uint32_t& index) noexcept {
    if (!searching_) {
        core_->idle_.begin_search();
        searching_ = true;
    }
    const std::uint32_t count = core_->worker_limit();
    const std::uint32_t start = count > 1 ? random_.below(count) : 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        worker* victim = core_->worker_at((start + i) % count);
        if (victim == nullptr || victim == this)
            continue;
        std::array<std::uint32_t, ready_ring::capacity / 2> loot;
        const std::size_t got = victim->ring_.steal(loot);
        if (got == 0)
            continue;
        for (std::size_t k = 1; k < got; ++k)
            push_ring(loot[k], std::memory_order_release);
        counters_.steals.add(got);
        index = loot[0];
        return true;
    }
    return false;
}

void worker::stop_searching(bool found) noexcept {
    searching_ = false;
    if (core_->idle_.end_search() && found)
        core_->notify(); // D2: others may have relied on us
}

step_outcome worker::prepare_to_park() noexcept {
    if (searching_)
        stop_searching(false);
    std::int64_t until = never_ns;
    for (const auto& each : drivers_)
        until = std::min(until, each->next_deadline());
    if (until != never_ns && until <= now_ns())
        return {step_outcome::kind::ran};
    // seq_cst: a sender of something earlier pushes first and reads this afterwards.
    sleeping_until_.store(until, std::memory_order_seq_cst);
    core_->idle_.prepare_park(index_);
    parked_ = true;
    // (A) of idle_set.hpp: everything that can hold work, after the bit is set.
    bool work = pending_messages_ != nullptr || !inbox_.maybe_empty() ||
                retiring_.load(std::memory_order_seq_cst) || !core_->signals_.maybe_empty(arena_->limit());
    const std::uint32_t count = core_->worker_limit();
    for (std::uint32_t i = 0; !work && i < count; ++i) {
        const worker* other = core_->worker_at(i);
        work = other != nullptr && other != this && other->ring_.size() != 0;
    }
    if (work)
        return {step_outcome::kind::ran}; // the next step takes the bit back
    counters_.parks.add();
    core_->worker_idle();
    return {step_outcome::kind::idle, until};
}

void worker::park(std::int64_t until_ns) noexcept {
    if (!clock_->is_real())
        until_ns = never_ns; // whoever moves the clock wakes us: clock_moved()
    if (driver* waits = waiting_driver_.load(std::memory_order_relaxed); waits != nullptr) // own value
        waits->wait(until_ns);
    else
        parker_.park(until_ns);
}

void worker::unpark() noexcept {
    if (waiting_driver_.load(std::memory_order_acquire) != nullptr) {
        const std::lock_guard lock(waiting_mutex_);
        if (driver* waits = waiting_driver_.load(std::memory_order_relaxed); waits != nullptr)
            waits->wake();
    }
    parker_.unpark();
}

// Runs on the worker itself, between two tasks: whatever it holds goes to others.
void worker::retire() noexcept {
    std::size_t tasks = 0;
    std::size_t messages = 0;
    auto* arrived = static_cast<message*>(inbox_.close()); // from here on senders turn elsewhere
    for (message* list : {pending_messages_, arrived}) {
        while (list != nullptr) {
            message* next = static_cast<message*>(list->next.read());
            if (core_->refuse_all_.load(std::memory_order_relaxed))
                list->handle(*this, *list); // the end: every ticket is stale, but the memory is to be freed
            else
                core_->send_any(*list, true);
            list = next;
            ++messages;
        }
    }
    pending_messages_ = nullptr;
    if (!core_->refuse_all_.load(std::memory_order_relaxed)) {
        for (const auto& each : drivers_)
            each->hand_over(*this);
    }
    give_back_slots(); // before the queues are emptied: it may wake a task that waits for a slot
    {
        const std::lock_guard lock(waiting_mutex_);
        waiting_driver_.store(nullptr);
    }
    drivers_.clear();
    std::uint32_t index = 0;
    while (next_ready(index)) {
        mark(index);
        ++tasks;
    }
    counters_.migrated_tasks.add(tasks);
    counters_.migrated_messages.add(messages);
    if (searching_)
        stop_searching(true);
    for (; tasks != 0 && core_->idle_.wants_work(); --tasks)
        core_->notify();
    core_->notify();
}

void worker::give_back_slots() noexcept {
    if (free_slots_ != slot_arena::none)
        arena_->give(std::exchange(free_slots_, slot_arena::none));
    free_count_ = 0;
}

task_slot* worker::take_slot() noexcept {
    if (free_slots_ == slot_arena::none) {
        free_slots_ = arena_->take(std::max(slot_batch_, std::uint32_t{1}));
        if (free_slots_ == slot_arena::none)
            return nullptr;
        for (std::uint32_t at = free_slots_; at != slot_arena::none; at = (*arena_)[at].next_free)
            ++free_count_;
    }
    task_slot& slot = (*arena_)[free_slots_];
    free_slots_ = slot.next_free;
    --free_count_;
    return &slot;
}

void worker::give_slot(task_slot& slot) noexcept {
    slot.next_free = free_slots_;
    free_slots_ = slot.index;
    if (++free_count_ <= 2 * slot_batch_)
        return;
    // Keep one batch, give the rest back.
    std::uint32_t at = free_slots_;
    for (std::uint32_t i = 1; i < slot_batch_; ++i)
        at = (*arena_)[at].next_free;
    std::uint32_t rest = free_slots_;
    if (slot_batch_ == 0) {
        free_slots_ = slot_arena::none;
    } else {
        rest = (*arena_)[at].next_free;
        (*arena_)[at].next_free = slot_arena::none;
    }
    free_count_ = slot_batch_;
    arena_->give(rest);
}

} // namespace horae
