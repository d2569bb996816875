// SPDX-License-Identifier: Apache-2.0
//
// What the wheel allocates, when, and what happens when it cannot.
#include "support/counting_memory.hpp"

#include <horae/wheel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <vector>

namespace horae {
namespace {

using testing::counting_memory;
using payload = std::array<void*, 2>;
using wheel_type = pmr::timing_wheel<payload>;

constexpr auto ignore = [](timer_id, std::int64_t, payload&) {};

// One mixed step; the same sequence for the same `random`.
void step(wheel_type& wheel, std::vector<timer_id>& ids, std::mt19937_64& random, std::int64_t& now) {
    timer_id& id = ids[random() % ids.size()];
    const auto delta = static_cast<std::int64_t>(random() >> (28 + random() % 30));
    switch (random() % 6) {
    case 0:
    case 1:
        if (!wheel.contains(id)) {
            id = wheel.schedule(now + delta, {}, random() % 4 == 0 ? delta / 8 : 0);
        }
        break;
    case 2:
        wheel.cancel(id);
        break;
    case 3:
    case 4:
        wheel.rearm(id, now + delta);
        break;
    default:
        now += delta >> 8;
        wheel.advance(now, [&](timer_id fired, std::int64_t, payload&) {
            if (random() % 2 == 0) {
                wheel.rearm(fired, now + 1000);
            }
        });
    }
}

TEST(wheel_memory, a_million_mixed_operations_on_a_warm_wheel_allocate_nothing) {
    counting_memory memory;
    wheel_type wheel({.reserve = 4096}, &memory);
    std::vector<timer_id> ids(2000);
    std::mt19937_64 random(7);
    std::int64_t now = 0;
    for (int i = 0; i < 300'000; ++i) {
        step(wheel, ids, random, now);
    }
    const std::size_t warm = memory.allocations();
    for (int i = 0; i < 1'000'000; ++i) {
        step(wheel, ids, random, now);
    }
    EXPECT_EQ(memory.allocations(), warm);
    EXPECT_GT(wheel.stats().fired, 10'000u);
}

TEST(wheel_memory, a_million_cycles_of_each_operation_allocate_nothing) {
    counting_memory memory;
    wheel_type wheel({.reserve = 64}, &memory);
    std::int64_t now = 0;
    const auto cycle = [&] {
        const timer_id a = wheel.schedule(now + 1'000'000, {});
        const timer_id b = wheel.schedule(now + 5'000'000, {});
        wheel.rearm(a, now + 2'000'000);
        wheel.rearm(a, now + 500);
        wheel.cancel(b);
        now += 700;
        ASSERT_EQ(wheel.advance(now, ignore), 1u);
    };
    for (int i = 0; i < 10'000; ++i) {
        cycle();
    }
    const std::size_t warm = memory.allocations();
    for (int i = 0; i < 1'000'000; ++i) {
        cycle();
    }
    EXPECT_EQ(memory.allocations(), warm);
}

TEST(wheel_memory, reserve_makes_the_first_timers_free_of_allocations) {
    counting_memory memory;
    wheel_type wheel({.reserve = 100'000}, &memory);
    const std::size_t reserved = memory.allocations();
    for (int i = 0; i < 100'000; ++i) {
        wheel.schedule(i * 30'000'000ll, {});
    }
    EXPECT_EQ(memory.allocations(), reserved);
    EXPECT_EQ(wheel.advance(3'000'000'000'000, ignore), 100'000u);
    EXPECT_EQ(memory.allocations(), reserved) << "advancing never allocates";
}

TEST(wheel_memory, advancing_never_allocates_however_buckets_spread) {
    std::mt19937_64 random(8);
    for (int round = 0; round < 50; ++round) {
        counting_memory memory;
        wheel_type wheel({.resolution_ns = 1}, &memory);
        const std::size_t timers = 1 + random() % 2000;
        const unsigned shift = 20 + static_cast<unsigned>(random() % 40);
        for (std::size_t i = 0; i < timers; ++i) {
            wheel.schedule(static_cast<std::int64_t>(random() >> shift), {});
        }
        const std::size_t before = memory.allocations();
        while (const auto next = wheel.next_deadline()) {
            wheel.advance(*next, ignore);
        }
        EXPECT_EQ(memory.allocations(), before);
        EXPECT_EQ(wheel.stats().fired, timers);
    }
}

// The k-th allocation fails, for every k: the call throws, nothing has changed, and everything still fires.
TEST(wheel_memory, any_allocation_may_fail) {
    std::size_t failures = 0;
    for (std::size_t k = 1;; ++k) {
        counting_memory memory;
        memory.fail_at(k);
        std::optional<wheel_type> wheel;
        try {
            wheel.emplace(wheel_options{.reserve = 100}, &memory);
        } catch (const std::bad_alloc&) {
            ++failures;
            EXPECT_EQ(memory.bytes(), 0u);
            continue;
        }
        std::map<std::uint64_t, std::int64_t> armed;
        std::mt19937_64 random(9);
        for (int i = 0; i < 6000; ++i) {
            const std::size_t size = wheel->size();
            const auto next = wheel->next_deadline();
            try {
                const auto deadline = static_cast<std::int64_t>(random() >> (1 + random() % 60)) - 5;
                if (i % 5 == 4 && !armed.empty()) {
                    const timer_id id{armed.begin()->first};
                    wheel->rearm(id, deadline);
                    armed[id.value] = deadline;
                } else {
                    armed[wheel->schedule(deadline, {}).value] = deadline;
                }
            } catch (const std::bad_alloc&) {
                ++failures;
                EXPECT_EQ(wheel->size(), size);
                EXPECT_EQ(wheel->next_deadline(), next);
                for (const auto& [id, deadline] : armed) {
                    ASSERT_EQ(wheel->deadline({id}), deadline);
                }
            }
        }
        std::size_t fired = 0;
        wheel->advance(INT64_MAX, [&](timer_id id, std::int64_t deadline_ns, payload&) {
            EXPECT_EQ(armed.at(id.value), deadline_ns);
            ++fired;
        });
        EXPECT_EQ(fired, armed.size());
        if (memory.allocations() < k) {
            break;
        }
    }
    EXPECT_GT(failures, 20u);
}

TEST(wheel_memory, ten_million_cancelled_timers_leave_nothing_behind) {
    counting_memory memory;
    wheel_type wheel({}, &memory);
    std::mt19937_64 random(10);
    std::vector<timer_id> ids(10'000);
    std::size_t worst = 0;
    for (int i = 0; i < 10'000'000; ++i) {
        timer_id& id = ids[random() % ids.size()];
        wheel.cancel(id);
        id =
            wheel.schedule(static_cast<std::int64_t>(random() >> 24), {}); // up to 18 minutes, no time passes
        worst = std::max(worst, wheel.stats().stale);
    }
    EXPECT_LE(worst, 1024u + 12'288u + 64u) << "the floor, and one for each place there is memory for";
    EXPECT_LE(memory.bytes(), 2'000'000u);
    for (const timer_id id : ids) {
        wheel.cancel(id);
    }
    EXPECT_EQ(wheel.stats().stale, 0u);
    EXPECT_EQ(wheel.stats().pending, 0u);
}

TEST(wheel_memory, garbage_beyond_the_threshold_is_scrubbed_within_the_budget) {
    timing_wheel<payload> wheel({.garbage_floor = 100, .garbage_per_slot = 0, .scrub_budget = 50});
    std::vector<timer_id> ids;
    for (int i = 0; i < 1000; ++i) {
        ids.push_back(wheel.schedule(1'000'000'000'000 + i, {}));
    }
    for (int i = 0; i < 90; ++i) { // below the threshold: cancel() itself does nothing about it
        wheel.cancel(ids[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(wheel.stats().stale, 90u);
    EXPECT_EQ(wheel.stats().scrubbed, 0u);
    std::uint64_t before = 0;
    for (int call = 1; call <= 60; ++call) {
        wheel.advance(call, ignore);
        const std::uint64_t examined = wheel.stats().scrubbed - before;
        EXPECT_LE(examined, 50u + 19u) << "up to the end of a chunk";
        before = wheel.stats().scrubbed;
    }
    EXPECT_LE(wheel.stats().stale, 50u);
}

TEST(wheel_memory, memory_follows_the_live_timers) {
    counting_memory memory;
    wheel_type wheel({}, &memory);
    for (int i = 0; i < 200'000; ++i) {
        wheel.schedule(i, {});
    }
    const std::size_t full = memory.bytes();
    EXPECT_EQ(wheel.advance(200'000, ignore), 200'000u);
    for (int i = 0; i < 80'000; ++i) {
        wheel.advance(200'001 + i, ignore);
    }
    EXPECT_LT(memory.bytes(), full / 16) << "one byte stays for each place there ever was";
    // Stale ids stay stale when the memory comes back.
    const timer_id again = wheel.schedule(300'000'000, {});
    for (std::uint32_t index = 0; index < 3000; ++index) {
        EXPECT_FALSE(wheel.contains({std::uint64_t{1} << 32 | index}));
    }
    EXPECT_TRUE(wheel.contains(again));
}

TEST(wheel_memory, what_was_reserved_is_kept) {
    counting_memory memory;
    wheel_type wheel({.reserve = 50'000}, &memory);
    const std::size_t before = memory.allocations();
    for (int i = 0; i < 20'000; ++i) {
        wheel.advance(i, ignore);
    }
    for (int i = 0; i < 50'000; ++i) {
        wheel.schedule(1'000'000 + i, {});
    }
    EXPECT_EQ(memory.allocations(), before);
}

TEST(wheel_memory, a_pending_timer_takes_at_most_56_bytes) {
    counting_memory memory;
    wheel_type wheel({}, &memory);
    std::mt19937_64 random(11);
    constexpr std::size_t timers = 1'000'000;
    for (std::size_t i = 0; i < timers; ++i) {
        wheel.schedule(10'000'000 + static_cast<std::int64_t>(random() % 59'990'000'000), {});
    }
    EXPECT_LE((memory.bytes() + sizeof(wheel)) / timers, 55u);
    EXPECT_EQ(wheel.stats().bytes, memory.bytes() + sizeof(wheel)) << "stats() tells the whole truth";
}

} // namespace
} // namespace horae
