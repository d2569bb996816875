// SPDX-License-Identifier: Apache-2.0
//
// Random programs against the judge. A failing one is shrunk and printed, ready to become a test.
//   HORAE_SEED=n   run that seed alone        HORAE_SEEDS=n   run n seeds from each setup
#include "support/wheel_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

namespace horae::testing {
namespace {

std::int64_t random_delta(std::mt19937_64& random) {
    // Every magnitude alike, a few values shared by many so that ties are common, and level boundaries.
    switch (random() % 8) {
    case 0:
        return static_cast<std::int64_t>(random() % 4);
    case 1:
        return -static_cast<std::int64_t>(random() % 1000);
    case 2:
        return static_cast<std::int64_t>(random() % 4) * 1'000'000;
    case 3: {
        const auto boundary = std::int64_t{1} << (6 * (random() % 10));
        return boundary + static_cast<std::int64_t>(random() % 3) - 1;
    }
    default:
        return static_cast<std::int64_t>(random() >> (1 + random() % 62));
    }
}

std::vector<wheel_step> random_program(std::mt19937_64& random) {
    // Each program has its own taste, so that some run full and others stay small. In a crowded one very many
    // timers are due at the same few instants, and many are put off to them.
    const bool crowded = random() % 4 == 0;
    std::vector<wheel_step> program(10 + random() % (crowded ? 700 : 300));
    const std::uint64_t weight_schedule = crowded ? 24 : 1 + random() % 8;
    const std::uint64_t weight_advance = 1 + random() % 4;
    for (wheel_step& step : program) {
        const std::uint64_t draw = random() % (weight_schedule + weight_advance + 8);
        if (draw < weight_schedule) {
            step = {wheel_op::schedule,
                    crowded ? 100 - static_cast<std::int64_t>(random() % 3) : random_delta(random),
                    !crowded && random() % 4 == 0 ? random_delta(random) : 0};
        } else if (draw < weight_schedule + weight_advance) {
            step = {wheel_op::advance,
                    crowded ? static_cast<std::int64_t>(random() % 16 / 15) : random_delta(random),
                    random() % 3 == 0 ? static_cast<std::int64_t>(1 + random() % 5) : 0};
        } else {
            step.op = static_cast<wheel_op>(1 + random() % (static_cast<unsigned>(wheel_op::count_) - 1));
            if (step.op == wheel_op::clear && random() % 8 != 0) {
                step.op = wheel_op::rearm;
            }
            step.a = static_cast<std::int64_t>(random() >> 1);
            step.b = crowded ? 100 + static_cast<std::int64_t>(random() % 3) : random_delta(random);
            if (step.op == wheel_op::to_next) {
                step.a = static_cast<std::int64_t>(random() % 3) - 1;
            }
            if (step.op == wheel_op::advance || step.op == wheel_op::advance_back) {
                step.a = crowded ? static_cast<std::int64_t>(random() % 30) : random_delta(random);
                step.b = 0;
            }
        }
    }
    return program;
}

// Leaves out ever smaller parts as long as the program still fails.
template <class Limits>
std::vector<wheel_step> shrink(std::vector<wheel_step> program, const wheel_setup& setup) {
    for (std::size_t part = program.size() / 2; part > 0; part /= 2) {
        for (std::size_t at = 0; at + part <= program.size();) {
            std::vector<wheel_step> shorter = program;
            shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(at),
                          shorter.begin() + static_cast<std::ptrdiff_t>(at + part));
            if (judge<Limits>(shorter, setup)) {
                program = std::move(shorter);
            } else {
                at += part;
            }
        }
    }
    return program;
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value ? std::strtoull(value, nullptr, 10) : otherwise;
}

template <class Limits>
void run_seeds(std::int64_t start_ns, std::uint64_t seeds) {
    const std::uint64_t only = from_environment("HORAE_SEED", 0);
    seeds = from_environment("HORAE_SEEDS", seeds);
    for (std::uint64_t seed = only ? only : 1; seed <= (only ? only : seeds); ++seed) {
        std::mt19937_64 random(seed * 7919 + static_cast<std::uint64_t>(start_ns));
        static constexpr std::int64_t resolutions[] = {1, 63, 64, 1000, 1'000'000, 20'000'000, 5'000'000'000};
        const wheel_setup setup{.start_ns = start_ns,
                                .resolution_ns = resolutions[random() % std::size(resolutions)],
                                .garbage_floor = random() % 16};
        const std::vector<wheel_step> program = random_program(random);
        if (const auto broken = judge<Limits>(program, setup)) {
            const auto small = shrink<Limits>(program, setup);
            FAIL() << *broken << "\nseed " << seed << ", shrunk to (" << *judge<Limits>(small, setup)
                   << "):\n"
                   << to_text(small, setup);
        }
    }
}

constexpr std::int64_t day_ns = 86'400'000'000'000;
constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> starts() {
    std::vector<std::int64_t> all = {0,
                                     2'000'000'000,
                                     day_ns / 24,
                                     12 * day_ns,
                                     194 * day_ns,
                                     30 * 365 * day_ns,
                                     latest - day_ns / 24,
                                     latest - 1,
                                     std::numeric_limits<std::int64_t>::min(),
                                     -day_ns};
    for (unsigned level = 1; level <= 10; ++level) {
        const std::int64_t boundary = std::int64_t{1} << (6 * level);
        all.insert(all.end(), {boundary - 1, boundary, boundary + 1});
    }
    return all;
}

class wheel_property : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(wheel_property, keeps_the_contract) {
    run_seeds<detail::wheel_limits>(GetParam(), 200);
}
TEST_P(wheel_property, keeps_the_contract_when_counters_run_out) {
    run_seeds<tiny_limits>(GetParam(), 100);
}

INSTANTIATE_TEST_SUITE_P(starts, wheel_property, ::testing::ValuesIn(starts()));

} // namespace
} // namespace horae::testing
