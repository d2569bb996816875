// SPDX-License-Identifier: Apache-2.0
//
// The runtime, and starting tasks on it.
//
//   horae::runtime rt({.workers = 2});
//   int n = rt.block_on(answer());
//
// All members may be called from any thread, except that block_on, shutdown and the destructor must not be
// called from a task of the same runtime. Several runtimes may live in one process. After fork() the child's
// copy answers every call with spawn_error::forked.
#pragma once

#include <horae/coro/join_handle.hpp>
#include <horae/coro/task.hpp>
#include <horae/exec/options.hpp>
#include <horae/exec/runtime_core.hpp>

#include <chrono>
#include <stdexcept>

namespace horae {

// A task that could not be started.
class spawn_failure : public std::runtime_error {
public:
    explicit spawn_failure(spawn_error why) : std::runtime_error(describe(why)), why_(why) {}
    spawn_error code() const noexcept { return why_; }

private:
    spawn_error why_;
};

namespace detail {

// Starts `work` on `core`. On failure the task keeps its frame and `error` says why.
template <class T>
join_handle<T> start_task(runtime_core& core, task<T>& work, spawn_error& error) noexcept {
    HORAE_ASSERT(static_cast<bool>(work), "an empty task can not be spawned");
    task_promise<T>* root = work.release();
    const spawned result = core.spawn(*root, join_state::running, nullptr);
    error = result.error;
    if (error == spawn_error::none)
        return join_handle<T>(task_ref{result.slot, result.generation});
    work = root->get_return_object();
    return {};
}

template <class T>
join_handle<T> start_or_throw(runtime_core& core, task<T> work) {
    spawn_error error = spawn_error::none;
    join_handle<T> handle = start_task(core, work, error);
    if (error != spawn_error::none)
        throw spawn_failure(error);
    return handle;
}

} // namespace detail

class runtime {
public:
    explicit runtime(runtime_options options = {})
        : core_(options,
                options.current_thread ? runtime_core::threads::none : runtime_core::threads::started) {}

    // Runs the task and waits for it on this thread. Throws what it threw, task_cancelled, or spawn_failure.
    template <class T>
    T block_on(task<T> work) {
        if (worker* self = current_worker(); self != nullptr && &self->core() == &core_)
            throw std::logic_error("block_on inside a task would block its worker: use co_await");
        join_handle<T> handle = detail::start_or_throw(core_, std::move(work));
        if (!core_.threadless())
            return handle.wait();
        core_.drive([&] { return handle.done(); });
        return handle.take();
    }

    // From any thread. Throws spawn_failure; the task is then destroyed unstarted.
    template <class T>
    join_handle<T> spawn(task<T> work) {
        return detail::start_or_throw(core_, std::move(work));
    }

    // Without exceptions: on an error the task is left as it was and the handle is empty.
    template <class T>
    spawn_error try_spawn(task<T>& work, join_handle<T>& handle) noexcept {
        spawn_error error = spawn_error::none;
        handle = detail::start_task(core_, work, error);
        return error;
    }

    worker_id add_worker() { return core_.add_worker(); }
    // The worker leaves after the task it is in; its tasks and messages go to others. False: no such worker.
    bool remove_worker(worker_id id) noexcept { return core_.remove_worker(id); }
    std::vector<worker_id> workers() const { return core_.workers(); }

    runtime_metrics metrics() const noexcept { return core_.metrics(); }

    // No new tasks from outside; waits for those alive until `grace` is over, then cancels the rest.
    template <class Rep, class Period>
    shutdown_report shutdown(std::chrono::duration<Rep, Period> grace) {
        using std::chrono::nanoseconds;
        const std::int64_t now = core_.clock().now_ns();
        const auto wanted = std::chrono::ceil<nanoseconds>(std::chrono::duration<double, std::nano>(grace));
        const std::int64_t left = never_ns - (now > 0 ? now : 0);
        const bool endless =
            std::chrono::duration<double, std::nano>(grace).count() >= static_cast<double>(left);
        return core_.shutdown(endless ? never_ns : now + wanted.count());
    }

    runtime_core& core() noexcept { return core_; }

private:
    runtime_core core_;
};

// On the runtime of the task that calls it.
template <class T>
join_handle<T> spawn(task<T> work) {
    worker* self = current_worker();
    HORAE_ASSERT(self != nullptr,
                 "horae::spawn needs a task to be called from; elsewhere use runtime::spawn");
    return detail::start_or_throw(self->core(), std::move(work));
}

} // namespace horae
