// SPDX-License-Identifier: Apache-2.0
//
// A runtime without coroutine types: slots, workers, threads, life and death. `runtime` (coro/runtime.hpp) is
// its public face.
//
// Lock order: admin_mutex_ alone guards who is a worker; it is never held while a task runs or a thread is
// joined.
#pragma once

#include <horae/base/clock.hpp>
#include <horae/exec/idle_set.hpp>
#include <horae/exec/message.hpp>
#include <horae/exec/metrics.hpp>
#include <horae/exec/options.hpp>
#include <horae/exec/signal_map.hpp>
#include <horae/exec/slot_arena.hpp>
#include <horae/exec/worker.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace horae {

class blocking_pool;

struct spawned {
    task_slot* slot = nullptr;
    std::uint32_t generation = 0;
    spawn_error error = spawn_error::none;
};

struct shutdown_report {
    std::uint64_t completed = 0; // tasks that ended by themselves during the shutdown
    std::uint64_t cancelled = 0; // tasks that were cancelled at the deadline
};

class runtime_core final : public clock_listener {
public:
    enum class threads : std::uint8_t { started, none }; // none: current_thread mode and simulations

    runtime_core(runtime_options options, threads mode);
    runtime_core(const runtime_core&) = delete;
    runtime_core& operator=(const runtime_core&) = delete;
    ~runtime_core(); // shuts down at once: what is alive is cancelled

    // Starts a task. On success the frame belongs to the slot; on an error it is still the caller's.
    spawned spawn(resumable& root, join_state join, void* waiter) noexcept;

    // See slot_arena::wait. Also makes the workers give back the slots they keep for themselves.
    bool wait_for_slot(slot_waiter& waiter) noexcept;

    // The owner of a `scheduled` state: into a queue, and wake whoever is needed.
    void make_ready(task_slot& slot) noexcept;
    // The same from a thread that is no worker of ours. Safe against the end of the runtime.
    void inject(task_slot& slot) noexcept;
    // There is work that others could do. After publishing it with seq_cst.
    void notify() noexcept;

    worker_id add_worker();
    std::vector<worker_id> workers() const;
    bool remove_worker(worker_id id) noexcept;

    // Sends to that worker, or when it has left to any other, or keeps it for the next worker to come.
    // wake: end the receiver's sleep.
    void send(worker_id to, message& item, bool wake = true) noexcept;

    // Null when there is no such worker any more.
    worker* find(worker_id id) noexcept;
    worker* worker_at(std::uint32_t index) noexcept {
        return workers_[index].load(std::memory_order_acquire);
    }
    std::uint32_t worker_limit() const noexcept { return worker_limit_.load(std::memory_order_seq_cst); }
    std::uint32_t running_workers() const noexcept { return running_.load(std::memory_order_seq_cst); }

    // Waits for tasks until the deadline (of this runtime's clock), then cancels the rest and ends the
    // workers. Blocks until every task has ended: one that never suspends holds it up.
    shutdown_report shutdown(std::int64_t deadline_ns);
    void stop_accepting() noexcept { accepting_.store(false, std::memory_order_seq_cst); }

    // Steps the workers without threads on this thread until done() says so; others that want to drive wait
    // their turn.
    template <class Done>
    void drive(Done&& done) {
        const std::lock_guard lock(drive_mutex_);
        drive_loop([](void* context) { return (*static_cast<std::remove_reference_t<Done>*>(context))(); },
                   &done);
    }

    // Without threads: one step of the worker in that place; `stopped` when there is none.
    step_outcome step_worker(std::uint32_t index, std::uint32_t budget);

    bool threadless() const noexcept { return mode_ == threads::none; }
    bool forked() const noexcept;
    // Tasks alive. Zero is exact as soon as nobody spawns from outside; see the definition.
    std::uint64_t live() const noexcept;
    runtime_metrics metrics() const noexcept;
    const runtime_options& options() const noexcept { return options_; }
    clock_source& clock() const noexcept { return *clock_; }
    slot_arena& arena() noexcept { return *arena_; }
    signal_map& signals() noexcept { return signals_; }
    idle_set& idle() noexcept { return idle_; }
    blocking_pool& blocking();

    void clock_moved() noexcept override;

private:
    friend class worker;

    worker* open_worker();
    void start_thread(worker& self);
    void thread_main(worker& self) noexcept;
    void run_until_stopped(worker& self) noexcept;
    void drive_loop(bool (*done)(void*), void* context);
    void wake_worker(std::uint32_t index) noexcept;
    void send_any(message& item, bool wake) noexcept;
    void worker_idle() noexcept;
    void worker_left(worker& self) noexcept;
    void tell_quiet_waiter() noexcept;
    void cancel_everything() noexcept;
    void join_workers() noexcept;
    bool stopped() const noexcept;
    void wait_for_quiet(std::int64_t deadline_ns, bool cancel);

    runtime_options options_;
    threads mode_;
    clock_source* clock_;
    std::uint32_t fork_generation_;
    std::unique_ptr<slot_arena> arena_;
    signal_map signals_;
    idle_set idle_;
    std::atomic<bool> accepting_{true};
    std::atomic<bool> refuse_all_{false};   // the second half of a shutdown: tasks may not spawn either
    std::atomic<bool> quiet_wanted_{false}; // a shutdown wants to know when a worker goes idle or leaves
    parker quiet_parker_;
    std::atomic<std::uint32_t> worker_limit_{0};
    std::atomic<std::uint32_t> running_{0};
    std::array<std::atomic<worker*>, idle_set::max_workers> workers_{};

    alignas(false_sharing_bytes) std::atomic<std::uint64_t> foreign_spawned_{0};
    std::atomic<std::uint64_t> foreign_unparks_{0};
    std::atomic<std::uint32_t> injecting_{
        0}; // foreign threads inside inject(); the destructor waits for them

    alignas(false_sharing_bytes) mutable std::mutex admin_mutex_;
    std::array<std::unique_ptr<worker>, idle_set::max_workers> owned_;
    std::array<std::thread, idle_set::max_workers> threads_;
    std::array<std::uint32_t, idle_set::max_workers> lives_{};
    std::array<bool, idle_set::max_workers> busy_{}; // the place is taken by a worker that has not left
    basic_inbox<> orphans_;
    bool stopped_ = false;
    std::mutex drive_mutex_;
    std::mutex shutdown_mutex_;
    std::mutex pool_mutex_;
    std::unique_ptr<blocking_pool> pool_;
};

} // namespace horae
