// SPDX-License-Identifier: Apache-2.0
//
// A worker: a loop of step(). It knows neither threads nor real time: whoever calls step() is the worker for
// that moment, be it a thread of its own, the caller of block_on, or a simulator that steps many workers in
// turn.
//
// Where ready tasks are, in the order a worker looks:
//   next_       one task that the running one has just woken or spawned: its data is warm. Not visible to
//   others;
//               after `next_streak_limit` of them in a row the ring gets a turn, so a pair that wakes
//               each other starves nobody.
//   ring_       the worker's own queue; others steal from it.
//   signal map  shared: foreign wake-ups, overflow, what removed workers left.
//   rings of others.
// Every `fairness_interval` tasks the shared sources, messages and drivers come first.
#pragma once

#include <horae/base/parker.hpp>
#include <horae/base/random.hpp>
#include <horae/exec/driver.hpp>
#include <horae/exec/message.hpp>
#include <horae/exec/metrics.hpp>
#include <horae/exec/ready_ring.hpp>
#include <horae/exec/slot_arena.hpp>
#include <horae/exec/worker_id.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace horae {

class runtime_core;

struct step_outcome {
    enum class kind : std::uint8_t { ran, idle, stopped } what;
    std::int64_t until_ns = never_ns; // idle: no need to step before, unless it is woken
};

class alignas(false_sharing_bytes) worker {
public:
    static constexpr std::uint32_t fairness_interval = 61;
    static constexpr std::uint32_t next_streak_limit = 3;
    static constexpr std::uint32_t message_batch = 256;
    static constexpr std::uint32_t slot_batch = 64;
    static constexpr std::uint32_t yields_in_place = 16;

    worker(runtime_core& core, std::uint32_t index);
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;
    ~worker();

    // Runs up to `budget` tasks, or looks for some. `idle` means: registered as asleep, and every source was
    // looked at after that; call park() or step() again. Only one thread at a time may be in here, and
    // current_worker() must be this worker.
    step_outcome step(std::uint32_t budget);

    // After `idle`: sleeps until woken or until_ns.
    void park(std::int64_t until_ns) noexcept;
    // Any thread: ends the sleep, or the next one.
    void unpark() noexcept;

    worker_id id() const noexcept { return id_; }
    // The same for other threads.
    worker_id published_id() const noexcept {
        return worker_id{published_id_.load(std::memory_order_acquire)};
    }
    std::uint32_t index() const noexcept { return index_; }
    runtime_core& core() const noexcept { return *core_; }
    std::int64_t now_ns() const noexcept { return clock_->now_ns(); }
    driver* driver_at(std::size_t position) const noexcept { return drivers_[position].get(); }
    std::size_t driver_count() const noexcept { return drivers_.size(); }

    // The deadline this worker sleeps for; never_ns when none, min when awake. seq_cst: a sender that arms
    // something earlier pushes its message first and then reads this; the worker publishes it before its
    // parking check.
    std::int64_t sleeping_until() const noexcept { return sleeping_until_.load(std::memory_order_seq_cst); }

    // Any thread. False: the worker has left, the message is still the caller's.
    bool push_message(message& item) noexcept { return inbox_.push(item); }

    // This worker, from driver::poll or a message: resumes the task here and now if it is suspended;
    // otherwise wakes it the ordinary way. True: the ticket was good.
    bool poll_inline(const wake_ticket& ticket) noexcept;

    // This worker. The caller owns the slot's `scheduled` state.
    void push_next(task_slot& slot) noexcept;

    // This worker: the caller owns the claim and the frame.
    void destroy(task_slot& slot) noexcept;

    task_slot* running() const noexcept { return running_; }
    detail::worker_counters& counters() noexcept { return counters_; }
    const detail::worker_counters& counters() const noexcept { return counters_; }

    // This worker: a free slot, or null when the arena is full.
    task_slot* take_slot() noexcept;
    void give_slot(task_slot& slot) noexcept;

    // Room for tests: fewer places in the ring than there are. Not while running.
    void limit_ring(std::size_t places) noexcept { ring_limit_ = places; }

private:
    friend class runtime_core;

    void open(worker_id id);
    void run(std::uint32_t entry) noexcept;
    void resume(task_slot& slot) noexcept;
    void end(task_slot& slot, task_outcome outcome) noexcept;
    // An entry of the ring is a slot's index; with this bit the task has yielded and its word is still
    // `executing`. Such a task has no ticket out, so nobody but a canceller touches the word: yielding costs
    // no CAS.
    static constexpr std::uint32_t yielded_entry = std::uint32_t{1} << 31U;
    void push_ring(std::uint32_t entry, std::memory_order order) noexcept;
    void mark(std::uint32_t entry) noexcept;
    bool next_ready(std::uint32_t& index) noexcept;
    bool idle_locally() const noexcept { return next_ == slot_arena::none && ring_.size() == 0; }
    std::size_t drain_messages() noexcept;
    std::size_t poll_drivers() noexcept;
    bool look_around() noexcept;
    std::size_t acquire_signals() noexcept;
    bool steal(std::uint32_t& index) noexcept;
    void stop_searching(bool found) noexcept;
    step_outcome prepare_to_park() noexcept;
    void retire() noexcept;
    void give_back_slots() noexcept;

    // Read by others.
    ready_ring ring_;
    basic_inbox<> inbox_;
    parker parker_;
    std::atomic<std::int64_t> sleeping_until_;
    std::atomic<bool> retiring_{false};
    std::atomic<std::uint32_t> published_id_{~std::uint32_t{0}};
    std::atomic<driver*> waiting_driver_{nullptr};
    std::mutex waiting_mutex_; // keeps the waiting driver alive during its wake()
    detail::worker_counters counters_;

    // The owner's alone.
    alignas(false_sharing_bytes) runtime_core* core_;
    slot_arena* arena_;
    clock_source* clock_;
    worker_id id_;
    std::uint32_t index_;
    std::uint32_t next_ = slot_arena::none;
    std::uint32_t next_streak_ = 0;
    std::uint32_t tick_ = 0;
    std::uint32_t signal_cursor_ = 0;
    bool parked_ = false;
    bool searching_ = false;
    task_slot* running_ = nullptr;
    message* pending_messages_ = nullptr;
    std::uint32_t free_slots_ = slot_arena::none;
    std::uint32_t free_count_ = 0;
    std::uint32_t slot_batch_ = 0;
    std::size_t ring_limit_ = ready_ring::capacity;
    random_source random_;
    std::vector<std::unique_ptr<driver>> drivers_;
};

// The worker this thread is, or null. A call, never inlined: a thread-local address must not be kept across a
// suspension, after which the coroutine may be on another thread.
worker* current_worker() noexcept;

// Makes this thread the worker for a while.
class current_worker_scope {
public:
    explicit current_worker_scope(worker* self) noexcept;
    current_worker_scope(const current_worker_scope&) = delete;
    current_worker_scope& operator=(const current_worker_scope&) = delete;
    ~current_worker_scope();

private:
    worker* before_;
};

} // namespace horae
