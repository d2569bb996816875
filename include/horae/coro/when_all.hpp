// SPDX-License-Identifier: Apache-2.0
//
// co_await when_all(a(), b(), ...): runs the tasks concurrently, each as a task of its own, and gives a tuple
// of their results (std::monostate for void). If one throws, the others still run to their end, then the
// first exception in argument order is thrown. If the awaiting task is cancelled, so are all of them, and it
// ends after them.
#pragma once

#include <horae/coro/child_group.hpp>
#include <horae/coro/join_handle.hpp>
#include <horae/coro/runtime.hpp>

#include <tuple>
#include <variant>

namespace horae {
namespace detail {

template <class T>
using non_void = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

// The result of an ended child; throws what it threw.
template <class T>
non_void<T> take_child(task_slot* child) {
    if (child == nullptr || child->outcome == task_outcome::cancelled)
        throw task_cancelled();
    auto& promise = static_cast<task_promise<T>&>(*child->innermost);
    if constexpr (std::is_void_v<T>) {
        promise.take();
        return {};
    } else {
        return promise.take();
    }
}

template <class... Ts>
class [[nodiscard]] group_awaiter_base {
public:
    using group = fixed_group<sizeof...(Ts)>;
    group_awaiter_base(typename group::mode how, task<Ts>... work) : group_(how), work_(std::move(work)...) {}

    bool await_ready() const noexcept { return false; }
    template <std::derived_from<resumable> Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const auto roots = std::apply(
            [](auto&... each) { return std::array<resumable*, sizeof...(Ts)>{each.release()...}; }, work_);
        return group_.start(parent.promise(), roots);
    }

protected:
    void throw_if_not_started() const {
        if (group_.error() != spawn_error::none)
            throw spawn_failure(group_.error());
    }
    group group_;

private:
    std::tuple<task<Ts>...> work_;
};

template <class... Ts>
class [[nodiscard]] when_all_awaiter : public group_awaiter_base<Ts...> {
public:
    explicit when_all_awaiter(task<Ts>... work)
        : group_awaiter_base<Ts...>(fixed_group<sizeof...(Ts)>::mode::all, std::move(work)...) {}

    std::tuple<non_void<Ts>...> await_resume() {
        this->throw_if_not_started();
        return take(std::index_sequence_for<Ts...>{});
    }

private:
    template <std::size_t... I>
    std::tuple<non_void<Ts>...> take(std::index_sequence<I...>) {
        return {take_child<Ts>(this->group_.child(I))...}; // braces: in argument order
    }
};

} // namespace detail

template <class... Ts>
    requires(sizeof...(Ts) > 0)
detail::when_all_awaiter<Ts...> when_all(task<Ts>... work) {
    return detail::when_all_awaiter<Ts...>(std::move(work)...);
}

} // namespace horae
