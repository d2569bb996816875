// SPDX-License-Identifier: Apache-2.0
//
// co_await with_stop(token, work()): runs the task; a stop request cancels it. Gives std::optional<T> (bool
// for void): empty when it was stopped. The request may come from any thread and at any time, also before the
// start.
#pragma once

#include <horae/coro/when_all.hpp>

#include <optional>
#include <stop_token>

namespace horae {
namespace detail {

template <class T>
class [[nodiscard]] with_stop_awaiter : public group_awaiter_base<T> {
public:
    with_stop_awaiter(std::stop_token token, task<T> work)
        : group_awaiter_base<T>(fixed_group<1>::mode::all, std::move(work)), token_(std::move(token)) {}

    template <std::derived_from<resumable> Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        const bool suspended = group_awaiter_base<T>::await_suspend(parent);
        // The child may have ended already; its name is then stale, and cancelling it does nothing.
        if (suspended && token_.stop_possible())
            callback_.emplace(token_, canceller{this->group_.ref(0)});
        return suspended;
    }

    auto await_resume() {
        callback_.reset(); // waits for a request that is being served on another thread
        this->throw_if_not_started();
        using result = std::conditional_t<std::is_void_v<T>, bool, std::optional<non_void<T>>>;
        if (this->group_.child(0)->outcome == task_outcome::cancelled)
            return result{};
        if constexpr (std::is_void_v<T>) {
            take_child<T>(this->group_.child(0));
            return true;
        } else {
            return result(take_child<T>(this->group_.child(0)));
        }
    }

private:
    struct canceller {
        task_ref child;
        void operator()() const noexcept { horae::cancel(child); }
    };
    std::stop_token token_;
    std::optional<std::stop_callback<canceller>> callback_;
};

} // namespace detail

template <class T>
detail::with_stop_awaiter<T> with_stop(std::stop_token token, task<T> work) {
    return detail::with_stop_awaiter<T>(std::move(token), std::move(work));
}

} // namespace horae
