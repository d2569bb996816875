// SPDX-License-Identifier: Apache-2.0
#include <horae/wheel/entry_list.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace horae::detail {
namespace {

class entry_list_test : public ::testing::Test {
protected:
    entry_list_test() { pool_.ensure_capacity(4096); }

    void fill(entry_list& list, std::uint32_t from, std::uint32_t count) {
        for (std::uint32_t i = from; i < from + count; ++i) {
            list.append({i, i, i}, pool_);
        }
    }
    std::vector<std::uint32_t> drained(entry_list& list) {
        std::vector<std::uint32_t> indices;
        list.drain(pool_, [&](std::span<wheel_entry> entries) {
            for (const wheel_entry& entry : entries) {
                indices.push_back(entry.index);
            }
        });
        EXPECT_TRUE(list.empty());
        return indices;
    }
    static std::vector<std::uint32_t> range(std::uint32_t from, std::uint32_t to, std::uint32_t step = 1) {
        std::vector<std::uint32_t> values;
        for (; from < to; from += step) {
            values.push_back(from);
        }
        return values;
    }

    chunk_pool<std::allocator<std::byte>> pool_{{}};
};

TEST_F(entry_list_test, is_first_in_first_out) {
    for (const std::uint32_t count : {0u, 1u, 19u, 20u, 21u, 40u, 1000u}) {
        entry_list list;
        fill(list, 0, count);
        EXPECT_EQ(list.size(), count);
        EXPECT_EQ(drained(list), range(0, count));
    }
}

TEST_F(entry_list_test, lists_append_to_lists_in_order) {
    for (const std::uint32_t first : {0u, 5u, 20u, 33u}) {
        for (const std::uint32_t second : {0u, 7u, 20u, 61u}) {
            entry_list a;
            entry_list b;
            fill(a, 0, first);
            fill(b, first, second);
            a.append(b);
            EXPECT_TRUE(b.empty());
            fill(a, first + second, 3);
            EXPECT_EQ(drained(a), range(0, first + second + 3));
        }
    }
}

TEST_F(entry_list_test, first_chunks_are_taken_one_by_one) {
    entry_list list;
    fill(list, 0, 45);
    std::vector<std::uint32_t> indices;
    while (!list.empty()) {
        list.drain_first_chunk(pool_, [&](std::span<wheel_entry> entries) {
            for (const wheel_entry& entry : entries) {
                indices.push_back(entry.index);
            }
        });
    }
    EXPECT_EQ(indices, range(0, 45));
}

TEST_F(entry_list_test, any_entry_can_be_popped_until_none_is_left) {
    entry_list list;
    fill(list, 0, 45);
    std::vector<bool> seen(45);
    for (int i = 0; i < 45; ++i) {
        const std::uint32_t index = list.pop_any(pool_).index;
        EXPECT_FALSE(seen[index]);
        seen[index] = true;
    }
    EXPECT_TRUE(list.empty());
}

TEST_F(entry_list_test, compaction_keeps_order_and_frees_chunks) {
    std::mt19937 random(3);
    for (const unsigned keep_one_in : {1u, 2u, 3u, 25u, 1000u}) {
        entry_list list;
        fill(list, 0, 1000);
        std::vector<bool> keep(2000);
        std::vector<std::uint32_t> expected;
        for (std::uint32_t i = 0; i < 1005; ++i) {
            keep[i] = random() % keep_one_in == 0;
            if (keep[i]) {
                expected.push_back(i);
            }
        }
        entry_chunk* done = nullptr;
        std::uint32_t steps = 0;
        std::uint32_t examined = 0;
        for (bool finished = false; !finished;) {
            const entry_list::compaction step =
                list.compact_step(pool_, done, [&](std::span<wheel_entry> entries) {
                    return static_cast<std::uint32_t>(
                        std::remove_if(entries.begin(), entries.end(),
                                       [&](const wheel_entry& entry) { return !keep[entry.index]; }) -
                        entries.begin());
                });
            examined += step.examined;
            finished = step.finished;
            if (++steps == 10) {
                fill(list, 1000, 5); // appending meanwhile is fine
            }
        }
        EXPECT_EQ(examined, 1005u);
        EXPECT_EQ(list.size(), expected.size());
        EXPECT_EQ(drained(list), expected);
    }
}

TEST_F(entry_list_test, released_chunks_are_used_again) {
    chunk_pool<std::allocator<std::byte>> small{{}};
    small.ensure_capacity(32);
    for (int round = 0; round < 1000; ++round) {
        entry_list list;
        for (std::uint32_t i = 0; i < 32 * entry_chunk::capacity; ++i) {
            list.append({i, i, i}, small);
        }
        list.clear(small);
    }
    EXPECT_EQ(small.capacity(), 32u);
}

} // namespace
} // namespace horae::detail
