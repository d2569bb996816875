// SPDX-License-Identifier: Apache-2.0
//
// HORAE_SIM_SEED=n    runs that seed alone (how a failure is replayed)
// HORAE_SIM_SEEDS=n   how many seeds; HORAE_SIM_FIRST=n the first of them
#include "sim_world.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(exec_sim, every_task_ends_exactly_once_and_seeds_repeat) {
    std::uint64_t first = from_environment("HORAE_SIM_FIRST", 1);
    std::uint64_t count = from_environment("HORAE_SIM_SEEDS", 1000);
    if (const std::uint64_t only = from_environment("HORAE_SIM_SEED", 0); only != 0) {
        first = only;
        count = 1;
    }
    horae_sim::result sum;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const auto once = horae_sim::world(seed).run();
        ASSERT_EQ(once.error, "") << "replay with HORAE_SIM_SEED=" << seed;
        const auto again = horae_sim::world(seed).run();
        ASSERT_EQ(once.hash, again.hash) << "seed " << seed << " does not repeat itself";
        ASSERT_EQ(once.events, again.events);
        sum.completed += once.completed;
        sum.dropped += once.dropped;
        sum.events += once.events;
    }
    std::printf("%llu seeds, %llu events, %llu programs completed, %llu dropped\n",
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(sum.events),
                static_cast<unsigned long long>(sum.completed), static_cast<unsigned long long>(sum.dropped));
}

} // namespace
