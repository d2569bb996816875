// SPDX-License-Identifier: Apache-2.0
//
// The life of a runtime: workers come and go, threads start and end, shutdown.
#include <horae/base/assert.hpp>
#include <horae/base/fork.hpp>
#include <horae/exec/blocking_pool.hpp>
#include <horae/exec/runtime_core.hpp>

#include "thread_setup.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace horae {
namespace {

constexpr std::uint32_t tasks_per_step = 64;

runtime_options checked(runtime_options options) {
    if (options.workers > idle_set::max_workers)
        throw std::invalid_argument("runtime_options::workers is " + std::to_string(options.workers) +
                                    ", the limit is " + std::to_string(idle_set::max_workers));
    if (options.slot_capacity == 0 || options.slot_capacity > (std::uint32_t{1} << 30U))
        throw std::invalid_argument("runtime_options::slot_capacity is " +
                                    std::to_string(options.slot_capacity) + ", it must be from 1 to 2^30");
    if (options.blocking_threads == 0)
        throw std::invalid_argument("runtime_options::blocking_threads is 0, it must be at least 1");
    if (options.workers == 0)
        options.workers = options.current_thread ? 1 : std::min(usable_cores(), idle_set::max_workers);
    return options;
}

} // namespace

runtime_core::runtime_core(runtime_options options, threads mode)
    : options_(checked(std::move(options))),
      mode_(mode),
      clock_(options_.clock != nullptr ? options_.clock : &monotonic_clock()),
      fork_generation_(fork_generation()),
      arena_(slot_arena::acquire(options_.slot_capacity)),
      signals_(options_.slot_capacity) {
    arena_->core = this;
    try {
        arena_->set_handler(options_.on_unhandled_exception);
        clock_->subscribe(*this);
        for (std::uint32_t i = 0; i < options_.workers; ++i)
            add_worker();
    } catch (...) {
        join_workers();
        clock_->unsubscribe(*this);
        slot_arena::shelve(std::move(arena_));
        throw;
    }
}

runtime_core::~runtime_core() {
    if (forked()) {
        // The threads stayed in the parent, and any lock may be held by one of them: leave everything alone.
        for (auto& each : threads_)
            static_cast<void>(new std::thread(std::move(each))); // can be neither joined nor detached here
        for (auto& each : owned_)
            static_cast<void>(each.release());
        static_cast<void>(arena_.release());
        static_cast<void>(pool_.release());
        return;
    }
    shutdown(std::numeric_limits<std::int64_t>::min());
    clock_->unsubscribe(*this);
    while (injecting_.load(std::memory_order_acquire) != 0)
        std::this_thread::yield(); // a foreign waker between its last mark and its return: a few instructions
    slot_arena::shelve(std::move(arena_));
}

worker_id runtime_core::add_worker() {
    if (forked())
        throw std::runtime_error(describe(spawn_error::forked));
    worker* added = open_worker();
    if (mode_ == threads::started) {
        try {
            start_thread(*added);
        } catch (...) {
            // No thread to be had: the place is given back.
            const current_worker_scope scope(added);
            added->retiring_.store(true, std::memory_order_seq_cst);
            added->step(1);
            worker_left(*added);
            throw;
        }
    }
    return added->id();
}

std::vector<worker_id> runtime_core::workers() const {
    std::vector<worker_id> ids;
    const std::lock_guard lock(admin_mutex_);
    for (std::uint32_t i = 0; i < busy_.size(); ++i) {
        if (busy_[i] && !owned_[i]->retiring_.load(std::memory_order_relaxed)) // a snapshot either way
            ids.push_back(owned_[i]->id());
    }
    return ids;
}

worker* runtime_core::open_worker() {
    const std::lock_guard lock(admin_mutex_);
    if (stopped_)
        throw std::runtime_error(describe(spawn_error::shut_down));
    const auto place = std::find(busy_.begin(), busy_.end(), false);
    if (place == busy_.end())
        throw std::runtime_error("a runtime has at most " + std::to_string(idle_set::max_workers) +
                                 " workers");
    const auto index = static_cast<std::uint32_t>(place - busy_.begin());
    if (threads_[index].joinable())
        threads_[index].join(); // it has left: only the end of its thread function is to come
    if (!owned_[index]) {
        owned_[index] = std::make_unique<worker>(*this, index);
        workers_[index].store(owned_[index].get(), std::memory_order_release);
    }
    worker& self = *owned_[index];
    self.open(worker_id{(lives_[index]++ & 0x7fffffU) << 8U | index});
    *place = true;
    if (index >= worker_limit())
        worker_limit_.store(index + 1, std::memory_order_seq_cst);
    running_.fetch_add(1, std::memory_order_seq_cst);
    for (auto* item = orphans_.take_all(); item != nullptr;) {
        auto* next = item->next.read();
        self.push_message(static_cast<message&>(*item));
        item = next;
    }
    return &self;
}

void runtime_core::start_thread(worker& self) {
    const std::lock_guard lock(admin_mutex_);
    threads_[self.index()] = std::thread([this, &self] { thread_main(self); });
}

void runtime_core::thread_main(worker& self) noexcept {
    set_up_worker_thread(options_.thread_name + "-" + std::to_string(self.index()),
                         options_.pin ? static_cast<int>(self.index()) : -1);
    const current_worker_scope scope(&self);
    run_until_stopped(self);
    worker_left(self);
}

void runtime_core::run_until_stopped(worker& self) noexcept {
    for (;;) {
        const step_outcome outcome = self.step(tasks_per_step);
        if (outcome.what == step_outcome::kind::stopped)
            return;
        if (outcome.what == step_outcome::kind::idle)
            self.park(outcome.until_ns);
    }
}

void runtime_core::worker_left(worker& self) noexcept {
    running_.fetch_sub(1, std::memory_order_seq_cst);
    tell_quiet_waiter();
    const std::lock_guard lock(admin_mutex_);
    busy_[self.index()] = false;
}

bool runtime_core::remove_worker(worker_id id) noexcept {
    if (forked() || !id)
        return false;
    worker* leaving = nullptr;
    {
        const std::lock_guard lock(admin_mutex_);
        leaving = worker_at(id.index());
        if (leaving == nullptr || !busy_[id.index()] || leaving->id() != id ||
            leaving->retiring_.exchange(true, std::memory_order_seq_cst))
            return false;
        leaving->unpark();
    }
    return true;
}

bool runtime_core::stopped() const noexcept {
    const std::lock_guard lock(admin_mutex_);
    return stopped_;
}

void runtime_core::join_workers() noexcept {
    std::array<std::thread, idle_set::max_workers> ending;
    {
        const std::lock_guard lock(admin_mutex_);
        stopped_ = true;
        for (std::uint32_t i = 0; i < worker_limit(); ++i) {
            if (!busy_[i])
                continue;
            owned_[i]->retiring_.store(true, std::memory_order_seq_cst);
            owned_[i]->unpark();
        }
        std::swap(ending, threads_);
    }
    for (auto& each : ending) {
        if (each.joinable())
            each.join();
    }
    if (mode_ == threads::started)
        return;
    for (std::uint32_t i = 0; i < worker_limit(); ++i) {
        while (step_worker(i, 1).what != step_outcome::kind::stopped) {
        }
    }
}

step_outcome runtime_core::step_worker(std::uint32_t index, std::uint32_t budget) {
    HORAE_ASSERT(mode_ == threads::none, "only a runtime without threads is stepped from outside");
    if (!busy_[index])
        return {step_outcome::kind::stopped};
    worker& self = *owned_[index];
    const current_worker_scope scope(&self);
    const step_outcome outcome = self.step(budget);
    if (outcome.what == step_outcome::kind::stopped)
        worker_left(self);
    return outcome;
}

void runtime_core::drive_loop(bool (*done)(void*), void* context) {
    while (!done(context)) {
        bool ran = false;
        step_outcome last{step_outcome::kind::idle};
        for (std::uint32_t i = 0; i < worker_limit() && !done(context); ++i) {
            last = step_worker(i, tasks_per_step);
            ran |= last.what == step_outcome::kind::ran;
        }
        if (ran || done(context))
            continue;
        if (worker_limit() == 1 && busy_[0])
            owned_[0]->park(last.until_ns);
        else
            std::this_thread::yield(); // several workers on one thread: a simulation, which has no foreign
                                       // wakers
    }
}

shutdown_report runtime_core::shutdown(std::int64_t deadline_ns) {
    if (forked())
        throw std::runtime_error(describe(spawn_error::forked));
    if (worker* self = current_worker(); self != nullptr && self->core_ == this)
        throw std::logic_error("a task can not shut down the runtime it runs on: it would wait for itself");
    const std::lock_guard lock(shutdown_mutex_);
    const runtime_metrics before = metrics();
    accepting_.store(false, std::memory_order_seq_cst);
    if (running_workers() == 0 && !stopped() && (live() != 0 || !orphans_.maybe_empty()))
        add_worker(); // all were removed, and somebody must end the tasks and take the messages
    wait_for_quiet(deadline_ns, false);
    refuse_all_.store(true, std::memory_order_seq_cst);
    wait_for_quiet(never_ns, true);
    {
        const std::lock_guard pool_lock(pool_mutex_);
        pool_.reset(); // finishes what its threads are doing
    }
    join_workers();
    const runtime_metrics after = metrics();
    return {after.completed - before.completed, after.cancelled - before.cancelled};
}

// Waits until no task is alive, or the deadline. cancel: and sees to it.
void runtime_core::wait_for_quiet(std::int64_t deadline_ns, bool cancel) {
    auto over = [&] {
        if (cancel)
            cancel_everything(); // again and again: a task that was being spawned may have been missed
        return live() == 0 || (!cancel && clock_->now_ns() >= deadline_ns);
    };
    if (mode_ == threads::none) {
        drive(over);
        return;
    }
    quiet_wanted_.store(true, std::memory_order_seq_cst);
    for (std::uint32_t i = 0; i < worker_limit(); ++i)
        worker_at(i)->unpark(); // each goes through its idle path once more and sees the flag
    while (!over())
        quiet_parker_.park(clock_->is_real() ? deadline_ns : never_ns);
    quiet_wanted_.store(false, std::memory_order_seq_cst);
}

void runtime_core::cancel_everything() noexcept {
    const std::uint32_t limit = arena_->limit();
    for (std::uint32_t i = 0; i < limit; ++i) {
        task_slot& slot = (*arena_)[i];
        const auto seen = slot.word.load();
        if (seen.state != slot_state::free && seen.state != slot_state::done)
            horae::cancel({&slot, seen.generation});
    }
}

blocking_pool& runtime_core::blocking() {
    const std::lock_guard lock(pool_mutex_);
    if (!pool_)
        pool_ = std::make_unique<blocking_pool>(options_.blocking_threads, options_.thread_name + "-b");
    return *pool_;
}

} // namespace horae
