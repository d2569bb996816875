// SPDX-License-Identifier: Apache-2.0
//
// The building block for one's own awaitables: suspends the task and hands out the ticket that resumes it.
//
//   co_await suspend_with([&](wake_ticket ticket) { device.on_ready([ticket] { horae::wake(ticket); }); });
//
// The ticket may be used at any time from any thread, also before the task has really suspended. Used more
// than once, or after the task was resumed or has ended, it does nothing. What the function captured is
// destroyed with the awaiter, so a destructor there can unlink what was armed when the task is cancelled.
#pragma once

#include <horae/exec/task_slot.hpp>

#include <concepts>
#include <coroutine>
#include <utility>

namespace horae {

template <class F>
class [[nodiscard]] suspend_awaiter {
public:
    explicit suspend_awaiter(F arm) : arm_(std::move(arm)) {}
    bool await_ready() const noexcept { return false; }
    template <std::derived_from<resumable> Promise>
    void await_suspend(std::coroutine_handle<Promise> at) {
        const wake_ticket ticket = begin_suspend(at.promise());
        try {
            arm_(ticket);
        } catch (...) {
            revoke_suspend(at.promise()); // the exception resumes the coroutine; what was armed is void
            throw;
        }
    }
    void await_resume() const noexcept {}

private:
    F arm_;
};

template <class F>
    requires std::invocable<F&, wake_ticket>
suspend_awaiter<F> suspend_with(F arm) {
    return suspend_awaiter<F>(std::move(arm));
}

} // namespace horae
