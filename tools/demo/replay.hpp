// SPDX-License-Identifier: Apache-2.0
//
// The same plan once more, in virtual time and as fast as it goes, by the wheel and by a heap.
#pragma once

#include "demo/plan.hpp"

#include <algorithm>
#include <cstdint>

namespace demo {

// CPU time of the calling thread.
struct cpu_times {
    std::int64_t arm_ns = 0;
    std::int64_t cancel_ns = 0;
    std::int64_t rearm_ns = 0;
    std::int64_t fire_ns = 0;

    std::int64_t total_ns() const { return arm_ns + cancel_ns + rearm_ns + fire_ns; }
};

struct comparison {
    cpu_times wheel; // each figure the median of the rounds
    cpu_times heap;
    std::uint64_t fired = 0;
    bool same_order = true; // both fired the same timers in the same order, in every round
};

inline constexpr int replay_rounds = 3;

// Calls of advance(): fewer for few timers, so that reading the CPU clock between the phases stays small
// beside what it measures.
inline std::int64_t replay_turns(const plan& work) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(work.deadlines_ns.size()) / 2000, 1, 500);
}

comparison compare_with_heap(const plan& work);

} // namespace demo
