// SPDX-License-Identifier: Apache-2.0
//
// What happens to each timer, drawn once from a seed, so that the live run, the wheel's replay and the
// heap's replay have the same work to do. Times are nanoseconds after the start of the run.
#pragma once

#include <cstdint>
#include <vector>

namespace demo {

struct change {
    std::int64_t at_ns;       // a whole millisecond, before the timer is due
    std::int64_t deadline_ns; // the new one, for a re-arm
    std::uint32_t timer;
};

struct plan {
    std::vector<std::int64_t> deadlines_ns; // by timer; uniform over the run
    std::vector<change> cancels;            // one timer in five, in order of time
    std::vector<change> rearms;             // another one in five, in order of time
    std::int64_t length_ns = 0;             // every deadline is before this
};

plan make_plan(std::uint32_t timers, std::uint32_t seconds, std::uint64_t seed);

} // namespace demo
