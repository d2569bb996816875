// SPDX-License-Identifier: Apache-2.0
//
// co_await spawn_blocking(f): runs f() on a thread where it may block, and gives its result or throws what it
// threw. The pool has runtime_options::blocking_threads threads at most; more calls wait in order. If the
// awaiting task is cancelled, an f that has not begun is never run; one that has begun runs to its end and
// its result is dropped.
#pragma once

#include <horae/base/assert.hpp>
#include <horae/coro/when_all.hpp>
#include <horae/exec/blocking_pool.hpp>
#include <horae/exec/runtime_core.hpp>

#include <atomic>
#include <optional>

namespace horae {
namespace detail {

// Shared by the awaiter and the pool, two references. state_ decides whether f runs:
//   waiting --run[pool]--> running           waiting --drop[awaiter]--> dropped
template <class F, class R>
class blocking_call final : public blocking_job {
public:
    blocking_call(F f, wake_ticket ticket) : f_(std::move(f)), ticket_(ticket) {}

    void run() noexcept override {
        int expected = waiting;
        if (state_.compare_exchange_strong(expected, running, std::memory_order_acq_rel)) {
            try {
                if constexpr (std::is_void_v<R>) {
                    f_();
                    result_.emplace();
                } else {
                    result_.emplace(f_());
                }
            } catch (...) {
                error_ = std::current_exception();
            }
            wake(ticket_); // HB-2 publishes the result
        }
        release();
    }
    void abandon() noexcept override { release(); }

    void drop() noexcept {
        int expected = waiting;
        state_.compare_exchange_strong(expected, dropped, std::memory_order_acq_rel);
        release();
    }

    R take() {
        if (error_)
            std::rethrow_exception(error_);
        if constexpr (!std::is_void_v<R>)
            return std::move(*result_);
    }

private:
    ~blocking_call() = default;
    void release() noexcept {
        if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            delete this;
    }

    enum : int { waiting, running, dropped };
    F f_;
    wake_ticket ticket_;
    std::optional<non_void<R>> result_;
    std::exception_ptr error_;
    std::atomic<int> state_{waiting};
    std::atomic<int> references_{2};
};

template <class F, class R>
class [[nodiscard]] blocking_awaiter {
public:
    explicit blocking_awaiter(F f) : f_(std::move(f)) {}
    blocking_awaiter(const blocking_awaiter&) = delete;
    blocking_awaiter& operator=(const blocking_awaiter&) = delete;
    ~blocking_awaiter() {
        if (call_ != nullptr)
            call_->drop();
    }
    bool await_ready() const noexcept { return false; }
    template <std::derived_from<resumable> Promise>
    void await_suspend(std::coroutine_handle<Promise> at) {
        blocking_pool& pool = at.promise().slot->arena->core->blocking();
        call_ = new blocking_call<F, R>(std::move(f_), begin_suspend(at.promise()));
        try {
            pool.submit(*call_);
        } catch (...) {
            revoke_suspend(at.promise());
            call_->abandon(); // the pool's reference
            throw;
        }
    }
    R await_resume() { return call_->take(); }

private:
    F f_;
    blocking_call<F, R>* call_ = nullptr;
};

} // namespace detail

template <class F>
    requires std::invocable<F&>
auto spawn_blocking(F f) {
    return detail::blocking_awaiter<F, std::invoke_result_t<F&>>(std::move(f));
}

} // namespace horae
