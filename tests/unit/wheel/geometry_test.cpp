// SPDX-License-Identifier: Apache-2.0
#include <horae/wheel/geometry.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace horae::detail {
namespace {

constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST(geometry, keys_keep_the_order_of_times) {
    const std::int64_t times[] = {smallest, smallest + 1, -1, 0, 1, largest - 1, largest};
    for (std::size_t i = 0; i + 1 < std::size(times); ++i) {
        EXPECT_LT(key_of(times[i]), key_of(times[i + 1]));
        EXPECT_EQ(time_of(key_of(times[i])), times[i]);
    }
    EXPECT_EQ(key_of(largest), never_key);
}

TEST(geometry, the_level_is_that_of_the_highest_digit_that_differs) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        EXPECT_EQ(level_of(wheel_key{1} << bit, 0), bit / digit_bits) << bit;
    }
    EXPECT_EQ(level_of(7, 7), 0u);
}

TEST(geometry, a_bucket_holds_exactly_the_keys_that_name_it) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 100'000; ++round) {
        const wheel_key now = random() >> (random() % 64);
        const wheel_key key = now + 1 + (random() >> (random() % 63 + 1)) % (never_key - now);
        const unsigned level = level_of(key, now);
        const wheel_key start = bucket_start(level, slot_of(key, level), now);
        ASSERT_LE(start, key);
        ASSERT_LE(key, start | offset_mask(level));
        ASSERT_GT(start, now) << "a later key never shares a bucket with now";
        // Moving up to just before the bucket changes nothing.
        ASSERT_EQ(level_of(key, start - 1), level);
        ASSERT_EQ(bucket_start(level, slot_of(key, level), start - 1), start);
    }
}

TEST(geometry, slack_moves_a_deadline_to_the_roundest_moment_within_it) {
    EXPECT_EQ(slack_bits_of(-5), 0u);
    EXPECT_EQ(slack_bits_of(0), 0u);
    EXPECT_EQ(slack_bits_of(1), 1u);
    EXPECT_EQ(slack_bits_of(largest), 62u);
    std::mt19937_64 random(2);
    for (int round = 0; round < 100'000; ++round) {
        const auto deadline = static_cast<std::int64_t>(random() >> (random() % 64)) / 2;
        const auto slack = static_cast<std::int64_t>(random() >> (1 + random() % 63));
        const wheel_key key = due_key(deadline, slack_bits_of(slack));
        ASSERT_GE(key, key_of(deadline));
        ASSERT_LE(key - key_of(deadline), static_cast<wheel_key>(slack));
    }
}

TEST(geometry, slack_never_turns_a_deadline_into_never) {
    EXPECT_EQ(due_key(largest, 20), never_key);
    EXPECT_EQ(due_key(largest - 1, 62), never_key - 1);
    EXPECT_EQ(due_key(largest - 100, 20), never_key - 1);
}

TEST(geometry, resolution_is_the_power_of_64_not_above) {
    EXPECT_EQ(resolution_level(1), 0u);
    EXPECT_EQ(resolution_level(63), 0u);
    EXPECT_EQ(resolution_level(64), 1u);
    EXPECT_EQ(resolution_level(1'000'000), 3u);
    EXPECT_EQ(resolution_level(largest), 10u);
}

} // namespace
} // namespace horae::detail
