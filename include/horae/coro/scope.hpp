// SPDX-License-Identifier: Apache-2.0
//
// Structured concurrency: with_scope() returns only when everything started in it has ended.
//
//   int n = co_await with_scope([&](scope& s) -> task<int> {
//       s.spawn(worker(shared));          // may use whatever outlives the with_scope call
//       co_return co_await other();
//   });
//
// The first exception, of the body or of a child, cancels the rest and is thrown when all have ended. If the
// awaiting task is cancelled, so are body and children, and it ends after them. Children must not refer to
// the body's own variables: the body may end before them.
#pragma once

#include <horae/coro/when_all.hpp>

#include <mutex>
#include <vector>

namespace horae {

class scope final : private child_group {
public:
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;

    // From the body or from a child, on any worker. The result is dropped. Throws spawn_failure or
    // std::bad_alloc.
    template <class T>
    void spawn(task<T> work) {
        HORAE_ASSERT(static_cast<bool>(work), "an empty task can not be spawned");
        add(*work.release());
    }

    // Asks every child, and the body, to end.
    void cancel() noexcept { cancel_children(); }

private:
    template <class F, class R>
    friend class scope_awaiter;

    explicit scope() noexcept = default;
    ~scope() {
        if (body_.slot != nullptr)
            detail::release_slot(*body_.slot);
    }

    bool start(resumable& parent, resumable& body) noexcept;
    void add(resumable& root);
    void child_ended(task_slot& child) noexcept override;
    void cancel_children() noexcept override;
    void forget_ended() noexcept;

    runtime_core* core_ = nullptr;
    wake_ticket ticket_;
    std::atomic<std::uint32_t> pending_{1};
    task_ref body_;
    spawn_error error_ = spawn_error::none;
    std::mutex mutex_; // guards the rest
    std::vector<task_ref> children_;
    std::exception_ptr first_;
    bool cancelling_ = false;
};

template <class F, class R>
class [[nodiscard]] scope_awaiter {
public:
    explicit scope_awaiter(F body) : body_(std::move(body)), work_(body_(scope_)) {}
    scope_awaiter(const scope_awaiter&) = delete;
    scope_awaiter& operator=(const scope_awaiter&) = delete;

    bool await_ready() const noexcept { return false; }
    template <std::derived_from<resumable> Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        return scope_.start(parent.promise(), *work_.release());
    }
    R await_resume() {
        if (scope_.error_ != spawn_error::none)
            throw spawn_failure(scope_.error_);
        if (scope_.first_)
            std::rethrow_exception(scope_.first_);
        if constexpr (std::is_void_v<R>)
            detail::take_child<R>(scope_.body_.slot);
        else
            return detail::take_child<R>(scope_.body_.slot);
    }

private:
    scope scope_;
    F body_;
    task<R> work_;
};

template <class F>
auto with_scope(F body) {
    using result = typename std::invoke_result_t<F&, scope&>::value_type;
    return scope_awaiter<F, result>(std::move(body));
}

} // namespace horae
