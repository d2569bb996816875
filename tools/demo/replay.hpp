// SPDX-License-Identifier: Apache-2.0
//
// The same plan once more, in virtual time and as fast as it goes, by the wheel and by a heap.
#pragma once

#include "demo/plan.hpp"

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
inline constexpr int replay_turns = 500; // calls of advance()

comparison compare_with_heap(const plan& work);

} // namespace demo
