// SPDX-License-Identifier: Apache-2.0
#include <horae/wheel/due_queue.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace horae::detail {
namespace {

using queue = due_queue<std::allocator<std::byte>>;

std::vector<std::uint32_t> popped(queue& due) {
    std::vector<std::uint32_t> indices;
    while (due.first()) {
        indices.push_back(due.pop().index);
    }
    return indices;
}

TEST(due_queue, merges_ready_and_heap_by_deadline_then_arming) {
    queue due{{}};
    due.clear_ready();
    due.add_ready({20, 4, 0, 0});
    due.add_ready({10, 7, 1, 0});
    due.add_ready({10, 2, 2, 0});
    due.sort_ready();
    for (const due_entry entry : {due_entry{10, 5, 3, 0}, due_entry{15, 1, 4, 0}, due_entry{20, 9, 5, 0}}) {
        due.ensure_heap_room();
        due.push(entry, false);
    }
    EXPECT_EQ(popped(due), (std::vector<std::uint32_t>{2, 3, 1, 4, 0, 5}));
}

TEST(due_queue, late_ones_wait_until_they_are_admitted) {
    queue due{{}};
    for (std::uint32_t i = 0; i < 6; ++i) {
        due.ensure_heap_room();
        due.push({wheel_key{10} - i, i, i, 0}, i % 2 == 1);
    }
    EXPECT_EQ(due.first_key(), 5u) << "the late one is earliest";
    EXPECT_EQ(due.pop().index, 4u);
    due.push({1, 9, 9, 0}, false); // room came free with the pop
    EXPECT_EQ(popped(due), (std::vector<std::uint32_t>{9, 2, 0}));
    due.admit_late();
    EXPECT_EQ(popped(due), (std::vector<std::uint32_t>{5, 3, 1}));
}

TEST(due_queue, scrubbing_keeps_the_heap_in_order) {
    std::mt19937 random(4);
    queue due{{}};
    std::vector<bool> stale(500);
    for (std::uint32_t i = 0; i < 500; ++i) {
        stale[i] = random() % 2 == 0;
        due.ensure_heap_room();
        due.push({random() % 100, i, i, 0}, false);
    }
    std::size_t examined = 0;
    for (int round = 0; round < 200; ++round) {
        const std::size_t step = due.scrub(10, [&](const due_entry& entry) { return stale[entry.index]; });
        EXPECT_LE(step, 10u);
        examined += step;
    }
    EXPECT_GT(examined, 500u);
    EXPECT_EQ(due.heap_size(), static_cast<std::size_t>(std::count(stale.begin(), stale.end(), false)));
    due_entry previous{};
    while (due.first()) {
        const due_entry entry = due.pop();
        EXPECT_FALSE(stale[entry.index]);
        EXPECT_FALSE(entry < previous);
        previous = entry;
    }
}

TEST(due_queue, all_entries_of_one_timer_can_be_dropped) {
    queue due{{}};
    due.clear_ready();
    due.add_ready({1, 1, 7, 0});
    due.add_ready({2, 2, 8, 0});
    for (std::uint32_t i = 0; i < 10; ++i) {
        due.ensure_heap_room();
        due.push({i + 3, i + 3, i % 2 == 0 ? 7u : 9u, 0}, i >= 5);
    }
    EXPECT_EQ(due.drop_timer(7), 6u);
    EXPECT_EQ(popped(due), (std::vector<std::uint32_t>{8, 9, 9}));
    due.admit_late();
    EXPECT_EQ(popped(due), (std::vector<std::uint32_t>{9, 9, 9}));
}

} // namespace
} // namespace horae::detail
