// SPDX-License-Identifier: Apache-2.0
//
// Bugs that timer systems really had, as far as the wheel alone can have them; see also wheel_time_test.cpp.
// Each names where it happened.
#include <horae/wheel.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace horae {
namespace {

constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
constexpr auto ignore = [](timer_id, std::int64_t, int&) {};

// tokio #3069: a sleep of 0 ms hangs.
TEST(wheel_regressions, no_6_delays_of_zero_and_one_nanosecond_fire_at_once_for_ever) {
    timing_wheel<int> wheel({.start_ns = 123});
    wheel.schedule(123, 0);
    std::int64_t now = 123;
    for (int round = 0; round < 10'000; ++round) {
        EXPECT_LE(*wheel.next_deadline(), now + 1);
        std::size_t fired =
            wheel.advance(now, [&](timer_id id, std::int64_t, int&) { wheel.rearm(id, now + round % 2); });
        if (fired == 0) {
            ++now;
            fired = wheel.advance(now, [&](timer_id id, std::int64_t, int&) { wheel.rearm(id, now); });
        }
        ASSERT_EQ(fired, 1u);
    }
}

// tokio #3229, #2473: dropped in the very tick in which it fires.
TEST(wheel_regressions, no_7_cancel_at_the_deadline_itself) {
    timing_wheel<int> wheel;
    const timer_id first = wheel.schedule(1000, 1);
    const timer_id second = wheel.schedule(1000, 2);
    wheel.advance(999, ignore);
    EXPECT_TRUE(wheel.cancel(first)) << "due in the same nanosecond, but not fired";
    std::vector<int> fired;
    wheel.advance(1000, [&](timer_id, std::int64_t, int& payload) { fired.push_back(payload); });
    EXPECT_EQ(fired, std::vector{2});
    EXPECT_FALSE(wheel.cancel(second));
    // Left over by a budget: due, not fired, so cancel still wins.
    const timer_id third = wheel.schedule(1000, 3);
    const timer_id fourth = wheel.schedule(1000, 4);
    EXPECT_EQ(wheel.advance(1000, ignore, 1), 1u);
    EXPECT_FALSE(wheel.cancel(third));
    EXPECT_TRUE(wheel.cancel(fourth));
    EXPECT_EQ(wheel.advance(2000, ignore), 0u);
}

// tokio #5710: a deadline that equals the sentinel.
TEST(wheel_regressions, no_8_every_reserved_value_is_an_ordinary_deadline) {
    for (const std::int64_t deadline :
         {latest - 1, latest - 2, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::min() + 1, std::int64_t{-1}, std::int64_t{0}}) {
        timing_wheel<int> wheel({.start_ns = std::numeric_limits<std::int64_t>::min()});
        const timer_id id = wheel.schedule(deadline, 1);
        EXPECT_TRUE(wheel.contains(id));
        EXPECT_EQ(wheel.next_deadline(), deadline);
        if (deadline > std::numeric_limits<std::int64_t>::min()) {
            EXPECT_EQ(wheel.advance(deadline - 1, ignore), 0u);
        }
        EXPECT_EQ(wheel.advance(deadline, ignore), 1u);
    }
    timing_wheel<int> wheel;
    wheel.schedule(latest, 1);
    EXPECT_EQ(wheel.advance(latest, ignore), 0u) << "INT64_MAX is never";
}

// tokio #4495, #3551, #6612; crossbeam #798: a huge duration panics or wraps.
TEST(wheel_regressions, no_9_huge_deadlines_and_slacks_saturate) {
    timing_wheel<int> wheel({.start_ns = latest - 1000});
    wheel.schedule(latest - 1, 1, latest);
    wheel.schedule(latest - 500, 2, latest - 1);
    wheel.schedule(latest, 3, latest);
    EXPECT_EQ(wheel.advance(latest - 501, ignore), 0u);
    EXPECT_EQ(wheel.advance(latest, ignore), 2u);
    EXPECT_EQ(wheel.size(), 1u);
}

// tokio #6715: a slot is changed while it expires.
TEST(wheel_regressions, no_10_the_bucket_that_expires_is_changed_meanwhile) {
    for (const std::size_t crowd : {3u, 60u, 500u}) { // sorted, at the edge, a run
        timing_wheel<int> wheel;
        std::vector<timer_id> ids;
        for (std::size_t i = 0; i < crowd; ++i) {
            ids.push_back(wheel.schedule(1000, static_cast<int>(i)));
        }
        std::vector<bool> fired(crowd);
        wheel.advance(1000, [&](timer_id, std::int64_t, int& payload) {
            const auto at = static_cast<std::size_t>(payload);
            EXPECT_FALSE(fired[at]);
            fired[at] = true;
            if (at + 2 < crowd && at % 3 == 0) {
                EXPECT_TRUE(wheel.cancel(ids[at + 1]));
                EXPECT_TRUE(wheel.rearm(ids[at + 2], 1001));
                wheel.schedule(1000, 9999);
            }
        });
        for (std::size_t i = 0; i < crowd; ++i) {
            EXPECT_EQ(fired[i], i % 3 == 0 || i / 3 * 3 + 2 >= crowd) << i;
        }
    }
}

// go #38070: the scheduler runs the very timer that is being modified.
TEST(wheel_regressions, no_20_a_timer_is_modified_inside_its_own_expiry) {
    timing_wheel<int> wheel;
    wheel.schedule(10, 0);
    int calls = 0;
    for (std::int64_t now = 10; now < 20; ++now) {
        wheel.advance(now, [&](timer_id id, std::int64_t, int&) {
            ++calls;
            EXPECT_TRUE(wheel.rearm(id, now + 100));
            EXPECT_TRUE(wheel.rearm(id, now - 100));
            EXPECT_TRUE(wheel.rearm(id, now + 1));
        });
    }
    EXPECT_EQ(calls, 10);
}

// go #51654: the earliest deadline goes stale and the loop spins on it.
TEST(wheel_regressions, no_21_a_deadline_brought_forward_and_deleted_wakes_at_most_once) {
    timing_wheel<int> wheel;
    wheel.schedule(1'000'000, 1);
    const timer_id id = wheel.schedule(2'000'000, 2);
    wheel.rearm(id, 500);
    EXPECT_EQ(wheel.next_deadline(), 500);
    wheel.cancel(id);
    EXPECT_EQ(wheel.next_deadline(), 1'000'000);
    EXPECT_EQ(wheel.advance(1'000'000, ignore), 1u);
    // No timer left: nothing to wake for, whatever was cancelled.
    wheel.cancel(wheel.schedule(5'000'000, 3));
    EXPECT_EQ(wheel.next_deadline(), std::nullopt);
}

// libuv #4250: a timeout of zero, armed again in its callback, starves the loop.
TEST(wheel_regressions, no_27_a_zero_timeout_that_arms_itself_fires_once_in_a_call) {
    timing_wheel<int> wheel({.start_ns = 50});
    wheel.schedule(50, 1);
    wheel.schedule(50, 2);
    for (int call = 0; call < 100; ++call) {
        std::vector<int> fired;
        wheel.advance(50, [&](timer_id id, std::int64_t, int& payload) {
            fired.push_back(payload);
            wheel.rearm(id, 50);
        });
        ASSERT_EQ(fired, (std::vector{1, 2})) << "each once, in turn";
    }
}

// libuv #4304: stopping another expired timer in a callback left it queued.
TEST(wheel_regressions, no_28_another_expired_timer_is_stopped_in_a_callback) {
    timing_wheel<int> wheel;
    std::vector<timer_id> ids;
    for (int i = 0; i < 10; ++i) {
        ids.push_back(wheel.schedule(100 + i, i));
    }
    std::vector<int> fired;
    wheel.advance(1000, [&](timer_id, std::int64_t, int& payload) {
        fired.push_back(payload);
        for (const timer_id other : ids) {
            wheel.cancel(other);
        }
    });
    EXPECT_EQ(fired, std::vector{0});
    EXPECT_EQ(wheel.advance(latest, ignore), 0u);
    EXPECT_EQ(wheel.stats().cancelled, 9u);
}

} // namespace
} // namespace horae
