// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace horae {

// Names one use of one place in a wheel: | generation:32 | index:32 |. The generation is never zero, so
// a default-constructed id is no timer's. An id stays recognisable as stale for ever: a place whose
// generations are used up is not used again.
//
// An id means something only to the wheel that issued it. Another wheel treats it like any number: it is
// stale there, unless that wheel happens to have a timer of the same index and generation.
struct timer_id {
    std::uint64_t value = 0;

    explicit constexpr operator bool() const noexcept { return value != 0; }
    friend constexpr bool operator==(timer_id, timer_id) noexcept = default;
};

static_assert(sizeof(timer_id) == 8);

namespace detail {

constexpr timer_id make_timer_id(std::uint32_t index, std::uint32_t generation) noexcept {
    return {std::uint64_t{generation} << 32 | index};
}
constexpr std::uint32_t index_of(timer_id id) noexcept {
    return static_cast<std::uint32_t>(id.value);
}
constexpr std::uint32_t generation_of(timer_id id) noexcept {
    return static_cast<std::uint32_t>(id.value >> 32);
}

} // namespace detail
} // namespace horae

template <>
struct std::hash<horae::timer_id> {
    std::size_t operator()(horae::timer_id id) const noexcept { return std::hash<std::uint64_t>{}(id.value); }
};
