// SPDX-License-Identifier: Apache-2.0
//
// Between Python's seconds (double) and the wheel's nanoseconds (int64), so that a timer is never
// early as loop.time() tells it: a double loses single nanoseconds after 104 days of uptime.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace horae::python {

inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

// a - b, or the end of the range where that does not fit: an overridden clock may read anything.
inline std::int64_t difference(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (!__builtin_sub_overflow(a, b, &result))
        return result;
    return a < b ? std::numeric_limits<std::int64_t>::min() : never_ns;
}

// What loop.time() reads at `ns`. Monotone, because each of its two roundings is.
inline double to_seconds(std::int64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

// The first nanosecond at which loop.time() >= when, give or take what a double can tell apart;
// `never_ns` from 2^63 ns on.
// `when` is no NaN.
inline std::int64_t deadline_from(double when) {
    const double exact = std::floor(when * 1e9);
    if (exact >= 9.2233720368547e18)
        return never_ns;
    if (exact <= -9.2233720368547e18)
        return std::numeric_limits<std::int64_t>::min();
    auto ns = static_cast<std::int64_t>(exact);
    while (to_seconds(ns) < when)
        ++ns;
    return ns;
}

} // namespace horae::python
