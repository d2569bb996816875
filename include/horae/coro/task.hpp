// SPDX-License-Identifier: Apache-2.0
//
// task<T>: a coroutine that does nothing until it is awaited or spawned, and then runs as part of its awaiter
// or as a task of its own.
//
//   task<int> answer() { co_return 42; }
//   int n = co_await answer();             // part of this task: no scheduling, a jump there and a jump back
//   join_handle<int> h = spawn(answer());  // a task of its own
//
// Await and return are symmetric transfers: a chain a million deep does not grow the stack in optimised
// builds. A task that is destroyed unawaited is simply dropped; one that is cancelled while suspended is
// destroyed from the innermost frame outwards.
#pragma once

#include <horae/coro/frame_cache.hpp>
#include <horae/exec/resumable.hpp>
#include <horae/exec/task_slot.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace horae {

template <class T = void>
class task;

namespace detail {

// T of a task: a value, nothing, or a reference.
template <class T>
using stored = std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<std::remove_reference_t<T>>, T>;

struct final_transfer {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        resumable& self = ended.promise();
        if (self.parent != nullptr)
            return self.parent->self;
        self.slot->leave = leave_kind::finished;
        self.slot->innermost = &self; // where the result is
        return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};

struct task_promise_base : resumable {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { free_frame(frame, bytes); }

    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_transfer final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }

    void rethrow() {
        if (error)
            std::rethrow_exception(std::exchange(error, nullptr));
    }
};

template <class T>
struct task_promise : task_promise_base {
    task<T> get_return_object() noexcept;

    template <class U>
        requires std::constructible_from<stored<T>, U>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<stored<T>, U>) {
        result.emplace(std::forward<U>(value));
    }

    T take() {
        rethrow();
        return std::move(*result);
    }

    std::optional<stored<T>> result;
};

template <class T>
struct task_promise<T&> : task_promise_base {
    task<T&> get_return_object() noexcept;
    void return_value(T& value) noexcept { result = &value; }
    T& take() {
        rethrow();
        return *result;
    }
    T* result = nullptr;
};

template <>
struct task_promise<void> : task_promise_base {
    task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void take() { rethrow(); }
};

} // namespace detail

template <class T>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] task {
public:
    using value_type = T;
    using promise_type = detail::task_promise<T>;

    task() noexcept = default;
    task(task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        task(std::move(other)).swap(*this);
        return *this;
    }
    ~task() {
        if (frame_ != nullptr)
            frame_->self.destroy();
    }
    void swap(task& other) noexcept { std::swap(frame_, other.frame_); }
    explicit operator bool() const noexcept { return frame_ != nullptr; }

    class awaiter {
    public:
        explicit awaiter(resumable* child) noexcept : child_(child) {}
        awaiter(awaiter&& other) noexcept : child_(std::exchange(other.child_, nullptr)) {}
        ~awaiter() {
            if (child_ != nullptr)
                child_->self.destroy();
        }
        bool await_ready() const noexcept { return false; }
        template <std::derived_from<resumable> Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
            child_->parent = &parent.promise();
            child_->slot = parent.promise().slot;
            child_->owner = &child_;
            return child_->self;
        }
        T await_resume() { return static_cast<promise_type*>(child_)->take(); }

    private:
        resumable* child_;
    };

    // Once, and on an rvalue: `co_await f()` or `co_await std::move(t)`.
    awaiter operator co_await() && noexcept { return awaiter(std::exchange(frame_, nullptr)); }

    // For whoever starts it: the frame, now the caller's.
    promise_type* release() noexcept { return static_cast<promise_type*>(std::exchange(frame_, nullptr)); }

private:
    friend promise_type;
    explicit task(promise_type* frame) noexcept : frame_(frame) {
        frame->self = std::coroutine_handle<promise_type>::from_promise(*frame);
    }

    resumable* frame_ = nullptr;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>(this);
}
template <class T>
task<T&> task_promise<T&>::get_return_object() noexcept {
    return task<T&>(this);
}
inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(this);
}

} // namespace detail
} // namespace horae
