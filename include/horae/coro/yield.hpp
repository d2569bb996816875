// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <horae/exec/task_slot.hpp>

#include <concepts>
#include <coroutine>

namespace horae {

struct yield_awaiter {
    bool await_ready() const noexcept { return false; }
    template <std::derived_from<resumable> Promise>
    void await_suspend(std::coroutine_handle<Promise> at) const noexcept {
        task_slot& slot = *at.promise().slot;
        slot.innermost = &at.promise();
        slot.leave = leave_kind::yielded;
    }
    void await_resume() const noexcept {}
};

// co_await yield(): behind the tasks that are ready on this worker.
[[nodiscard]] inline yield_awaiter yield() noexcept {
    return {};
}

} // namespace horae
