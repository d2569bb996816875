// SPDX-License-Identifier: Apache-2.0
//
// The plan lived through in real time: one thread, one wheel, sleeping until the next deadline.
#pragma once

#include "demo/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace demo {

// What became of the timers. It is kept beside the wheel and does not ask the wheel: each timer has one
// state here, and every callback, cancel and re-arm is held against it.
struct ledger {
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t rearmed = 0;
    std::uint64_t early = 0;        // the clock read less than the deadline in force
    std::uint64_t lost = 0;         // neither fired nor cancelled when all was over
    std::uint64_t twice = 0;        // fired when it had fired or was cancelled
    std::uint64_t out_of_order = 0; // fired after one with a later deadline
    std::uint64_t untruths = 0;     // cancel() or rearm() answered something else than the state says

    bool clean() const { return early + lost + twice + out_of_order + untruths == 0; }
};

struct live_result {
    ledger accounts;
    std::vector<std::int64_t> lateness_ns; // of each timer that fired, in ascending order
    std::int64_t arming_ns = 0;            // thread CPU time
    std::int64_t running_ns = 0;           // wall-clock time
    std::int64_t running_cpu_ns = 0;
    std::int64_t waited_ns = 0; // of it, ready to run while other processes had the cores
    std::uint64_t sleeps = 0;
    std::size_t wheel_bytes = 0; // with every timer armed
};

struct progress {
    std::int64_t elapsed_ns;
    std::int64_t length_ns;
    const ledger& accounts;
};

// `on_progress`, if given, is called ten times a second, by a timer of the same wheel.
live_result run_live(const plan& work, const std::function<void(const progress&)>& on_progress);

} // namespace demo
