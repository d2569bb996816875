// SPDX-License-Identifier: Apache-2.0
//
// What loop.metrics() reports. Counting costs a few instructions per event and one clock read per turn.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "py.hpp"

namespace horae::python {

struct loop_metrics {
    std::uint64_t turns = 0, callbacks = 0, polls = 0, sleeps = 0, wakes = 0;
    std::uint64_t fired = 0, cancelled = 0;
    std::int64_t idle_ns = 0, busy_ns = 0, longest_turn_ns = 0, longest_callback_ns = 0,
                 worst_lateness_ns = 0;
    // Bucket i counts timers that were late by less than 2^i ns, and not less than half of that.
    std::array<std::uint64_t, 64> lateness{};

    void count_fired(std::int64_t late_ns) {
        ++fired;
        if (late_ns < 0)
            late_ns = 0;
        if (late_ns > worst_lateness_ns)
            worst_lateness_ns = late_ns;
        ++lateness[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(late_ns)))];
    }
};

} // namespace horae::python
