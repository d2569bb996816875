// SPDX-License-Identifier: Apache-2.0
//
// Distances, uptimes, jumps and clock faults, all on virtual time.
#include <horae/wheel.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace horae {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1000 * ms;
constexpr std::int64_t hour = 3600 * second;
constexpr std::int64_t day = 24 * hour;
constexpr std::int64_t year = 365 * day;
constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();

const std::int64_t distances[] = {0, 1, ms, 1100 * ms, 20 * 60 * second, 20 * hour, 30 * day, 10 * year};
const std::int64_t uptimes[] = {0, 2 * second, hour, 12 * day, 194 * day, 30 * year};

TEST(wheel_time, is_exact_at_every_distance_uptime_and_resolution) {
    for (const std::int64_t uptime : uptimes) {
        for (const std::int64_t resolution : {std::int64_t{1}, ms, 17 * ms, second}) {
            for (const std::int64_t distance : distances) {
                timing_wheel<int> wheel({.start_ns = uptime, .resolution_ns = resolution});
                const std::int64_t deadline = uptime + distance;
                wheel.schedule(deadline, 1);
                if (distance > 0) {
                    EXPECT_EQ(wheel.advance(deadline - 1, [](auto&&...) {}), 0u) << "early at " << distance;
                }
                EXPECT_EQ(wheel.next_deadline(), deadline);
                EXPECT_EQ(wheel.advance(deadline, [](auto&&...) {}), 1u) << "late at " << distance;
            }
        }
    }
}

TEST(wheel_time, a_wheel_that_ran_all_that_time_behaves_like_a_new_one) {
    timing_wheel<int> wheel;
    std::mt19937_64 random(5);
    std::int64_t now = 0;
    for (const std::int64_t uptime : uptimes) {
        while (now < uptime) { // reaches it in steps of every size
            now = std::min(uptime, now + 1 + static_cast<std::int64_t>(random() >> (9 + random() % 50)));
            wheel.advance(now, [](auto&&...) {});
        }
        for (const std::int64_t distance : distances) {
            wheel.schedule(now + distance, 7);
        }
        std::vector<std::int64_t> fired;
        for (const std::int64_t distance : distances) {
            if (distance > 20 * hour) {
                break;
            }
            wheel.advance(now + distance, [&](timer_id, std::int64_t d, int&) { fired.push_back(d - now); });
            EXPECT_EQ(fired.back(), distance);
        }
        wheel.clear();
        now = std::max(now, wheel.now_ns());
    }
}

// tokio #8334: after the top level wraps, short timers hang behind a long one.
TEST(wheel_time, regression_4_every_level_boundary_is_crossed) {
    for (unsigned level = 1; level <= 10; ++level) {
        const std::int64_t boundary = std::int64_t{1} << (6 * level);
        for (const std::int64_t start : {boundary - 1, boundary, boundary + 1, boundary * 3 / 2 - 1}) {
            if (start < 0) {
                continue;
            }
            timing_wheel<int> wheel({.start_ns = start});
            wheel.schedule(latest - 1, 0); // a long one, of the top level
            for (int i = 1; i <= 200; ++i) {
                wheel.schedule(start + i, i);
            }
            for (int i = 1; i <= 200; ++i) {
                int fired = 0;
                EXPECT_EQ(
                    wheel.advance(start + i, [&](timer_id, std::int64_t, int& payload) { fired = payload; }),
                    1u);
                EXPECT_EQ(fired, i);
            }
        }
    }
}

TEST(wheel_time, a_jump_costs_what_is_due_not_the_time_that_passed) {
    timing_wheel<int> wheel;
    wheel.schedule(10 * year, 1);
    wheel.schedule(200 * year, 2);
    EXPECT_EQ(wheel.advance(100 * year, [](auto&&...) {}), 1u);
    EXPECT_LE(wheel.stats().cascaded, 24u) << "a few levels for each timer, whatever the distance";
    EXPECT_EQ(wheel.advance(latest, [](auto&&...) {}), 1u);
}

TEST(wheel_time, a_million_year_of_jumps_is_not_felt) {
    timing_wheel<int> wheel({.start_ns = std::numeric_limits<std::int64_t>::min()});
    wheel.schedule(std::numeric_limits<std::int64_t>::min(), 1);
    wheel.schedule(-1, 2);
    wheel.schedule(0, 3);
    wheel.schedule(latest - 1, 4);
    std::vector<int> fired;
    wheel.advance(latest, [&](timer_id, std::int64_t, int& payload) { fired.push_back(payload); });
    EXPECT_EQ(fired, (std::vector{1, 2, 3, 4}));
}

// libuv #2891, #962; tokio #2784, #8342.
TEST(wheel_time, regression_31_a_clock_that_goes_back_is_clamped_and_counted) {
    timing_wheel<int> wheel({.start_ns = 1000});
    wheel.schedule(1500, 1);
    EXPECT_EQ(wheel.advance(1400, [](auto&&...) {}), 0u);
    EXPECT_EQ(wheel.advance(100, [](auto&&...) {}), 0u);
    EXPECT_EQ(wheel.now_ns(), 1400);
    EXPECT_EQ(wheel.stats().clock_backs, 1u);
    wheel.schedule(1400, 2); // still counted from the latest time
    int fired = 0;
    wheel.advance(-5, [&](timer_id, std::int64_t, int& payload) { fired = payload; });
    EXPECT_EQ(fired, 2);
    EXPECT_EQ(wheel.advance(1500, [](auto&&...) {}), 1u);
    EXPECT_EQ(wheel.stats().clock_backs, 2u);
}

TEST(wheel_time, regression_31_after_a_suspend_everything_overdue_fires_once_in_order) {
    timing_wheel<int> wheel;
    for (int i = 0; i < 1000; ++i) {
        wheel.schedule((i * 7919 % 1000) * ms, i * 7919 % 1000);
    }
    int expected = 0;
    wheel.advance(hour, [&](timer_id, std::int64_t, int& payload) { EXPECT_EQ(payload, expected++); });
    EXPECT_EQ(expected, 1000);
}

// cpython #145703, asyncio #106: after 194 days a double cannot tell neighbouring nanoseconds apart.
TEST(wheel_time, regression_35_a_nanosecond_counts_after_194_days) {
    timing_wheel<int> wheel({.start_ns = 194 * day});
    for (int i = 0; i < 64; ++i) {
        wheel.schedule(194 * day + second + i, i);
    }
    for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(wheel.next_deadline(), 194 * day + second + i);
        EXPECT_EQ(wheel.advance(194 * day + second + i, [](auto&&...) {}), 1u);
    }
}

TEST(wheel_time, following_next_deadline_wakes_once_for_each_deadline) {
    timing_wheel<int> wheel;
    std::mt19937_64 random(6);
    for (int i = 0; i < 1000; ++i) {
        wheel.schedule(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(10 * day)), i);
    }
    std::size_t wake_ups = 0;
    while (const auto next = wheel.next_deadline()) {
        EXPECT_EQ(wheel.advance(*next, [](auto&&...) {}), 1u) << "no wake-up only to cascade";
        ++wake_ups;
    }
    EXPECT_EQ(wake_ups, 1000u);
}

TEST(wheel_time, cancelled_and_put_off_timers_wake_nobody) {
    timing_wheel<int> wheel;
    std::vector<timer_id> ids;
    for (int i = 0; i < 50; ++i) {
        ids.push_back(wheel.schedule(second + i * ms, i));
    }
    wheel.schedule(hour, 99);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_TRUE(i % 2 == 0 ? wheel.cancel(ids[i]) : wheel.rearm(ids[i], 2 * hour));
    }
    EXPECT_EQ(wheel.next_deadline(), hour);
    EXPECT_EQ(wheel.advance(hour, [](auto&&...) {}), 1u);
    EXPECT_EQ(wheel.next_deadline(), 2 * hour);
    wheel.advance(hour + 1, [](auto&&...) {});
    for (std::size_t i = 1; i < 50; i += 2) {
        wheel.cancel(ids[i]);
    }
    EXPECT_EQ(wheel.next_deadline(), std::nullopt);
}

TEST(wheel_time, the_last_timer_cancelled_in_a_callback_leaves_nothing_to_wait_for) {
    timing_wheel<int> wheel;
    const timer_id other = wheel.schedule(hour, 1);
    wheel.schedule(ms, 2);
    wheel.advance(ms, [&](timer_id, std::int64_t, int&) { wheel.cancel(other); });
    EXPECT_EQ(wheel.next_deadline(), std::nullopt);
    EXPECT_EQ(wheel.stats().stale, 0u);
}

} // namespace
} // namespace horae
