// SPDX-License-Identifier: Apache-2.0
//
// co_await spawn_wait(work()): like spawn(), but when slot_capacity tasks are alive it waits for one to end
// instead of throwing. Gives the join_handle; throws spawn_failure for every other reason.
#pragma once

#include <horae/coro/runtime.hpp>

namespace horae {
namespace detail {

// Until a slot may be free. Unlinks itself when the waiting task is cancelled.
class slot_free_awaiter {
public:
    explicit slot_free_awaiter(runtime_core& core) noexcept : core_(&core) {}
    slot_free_awaiter(const slot_free_awaiter&) = delete;
    slot_free_awaiter& operator=(const slot_free_awaiter&) = delete;
    ~slot_free_awaiter() { core_->arena().forget(node_); }

    bool await_ready() const noexcept { return false; }
    template <std::derived_from<resumable> Promise>
    bool await_suspend(std::coroutine_handle<Promise> at) noexcept {
        node_.ticket = begin_suspend(at.promise());
        if (core_->wait_for_slot(node_))
            return true;
        revoke_suspend(at.promise());
        return false;
    }
    void await_resume() const noexcept {}

private:
    runtime_core* core_;
    slot_waiter node_;
};

} // namespace detail

template <class T>
task<join_handle<T>> spawn_wait(task<T> work) {
    worker* self = current_worker();
    HORAE_ASSERT(self != nullptr, "spawn_wait needs a task to be called from");
    runtime_core& core = self->core();
    for (;;) {
        spawn_error error = spawn_error::none;
        join_handle<T> handle = detail::start_task(core, work, error);
        if (error == spawn_error::none)
            co_return std::move(handle);
        if (error != spawn_error::no_capacity)
            throw spawn_failure(error);
        co_await detail::slot_free_awaiter(core);
    }
}

} // namespace horae
