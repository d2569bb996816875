// SPDX-License-Identifier: Apache-2.0
#include "demo/plan.hpp"

#include <algorithm>
#include <random>

namespace demo {
namespace {

constexpr std::int64_t millisecond = 1'000'000;

std::int64_t draw(std::mt19937_64& random, std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

} // namespace

plan make_plan(std::uint32_t timers, std::uint32_t seconds, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    plan result;
    result.length_ns = std::int64_t{seconds} * 1000 * millisecond;
    result.deadlines_ns.reserve(timers);
    result.cancels.reserve(timers / 5 + 1);
    result.rearms.reserve(timers / 5 + 1);
    for (std::uint32_t timer = 0; timer < timers; ++timer) {
        const std::int64_t deadline_ns = draw(random, millisecond, result.length_ns - 1);
        result.deadlines_ns.push_back(deadline_ns);
        const std::int64_t at_ns = draw(random, 0, deadline_ns - 1) / millisecond * millisecond;
        const auto fate = random() % 5;
        if (fate == 0) {
            result.cancels.push_back({at_ns, 0, timer});
        } else if (fate == 1) {
            result.rearms.push_back({at_ns, draw(random, at_ns + 1, result.length_ns - 1), timer});
        }
    }
    const auto by_time = [](const change& a, const change& b) {
        return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.timer < b.timer;
    };
    std::sort(result.cancels.begin(), result.cancels.end(), by_time);
    std::sort(result.rearms.begin(), result.rearms.end(), by_time);
    return result;
}

} // namespace demo
