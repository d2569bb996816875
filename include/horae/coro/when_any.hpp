// SPDX-License-Identifier: Apache-2.0
//
// co_await when_any(a(), b(), ...): runs the tasks concurrently; the first to end wins and the others are
// cancelled. Gives a variant of the results (std::monostate for void) whose index() says which one it was;
// throws what the winner threw. Goes on only after the losers have ended, so they may use the caller's
// variables. If the awaiting task is cancelled, so are all of them.
#pragma once

#include <horae/coro/when_all.hpp>

namespace horae {
namespace detail {

template <class... Ts>
class [[nodiscard]] when_any_awaiter : public group_awaiter_base<Ts...> {
public:
    using result = std::variant<non_void<Ts>...>;

    explicit when_any_awaiter(task<Ts>... work)
        : group_awaiter_base<Ts...>(fixed_group<sizeof...(Ts)>::mode::first, std::move(work)...) {}

    result await_resume() {
        this->throw_if_not_started();
        return take<0>();
    }

private:
    template <std::size_t I>
    result take() {
        if constexpr (I == sizeof...(Ts)) {
            throw task_cancelled(); // every one was cancelled from elsewhere
        } else {
            task_slot* const child = this->group_.child(I);
            if (child == nullptr || child != this->group_.winner())
                return take<I + 1>();
            using type = std::tuple_element_t<I, std::tuple<Ts...>>;
            return result(std::in_place_index<I>, take_child<type>(child));
        }
    }
};

} // namespace detail

template <class... Ts>
    requires(sizeof...(Ts) > 0)
detail::when_any_awaiter<Ts...> when_any(task<Ts>... work) {
    return detail::when_any_awaiter<Ts...>(std::move(work)...);
}

} // namespace horae
