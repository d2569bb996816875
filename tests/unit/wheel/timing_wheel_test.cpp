// SPDX-License-Identifier: Apache-2.0
//
// The contract of timing_wheel as seen from outside callbacks: ids, states, order, budget, slack, bad input.
#include <horae/wheel.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

namespace horae {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

template <class Wheel>
std::vector<int> fired_at(Wheel& wheel, std::int64_t now, std::size_t budget = SIZE_MAX) {
    std::vector<int> payloads;
    wheel.advance(now, [&](timer_id, std::int64_t, int& payload) { payloads.push_back(payload); }, budget);
    return payloads;
}

TEST(timer_id_type, is_a_64_bit_value) {
    static_assert(std::is_trivially_copyable_v<timer_id> && std::is_standard_layout_v<timer_id>);
    static_assert(sizeof(timer_id) == 8);
    EXPECT_FALSE(timer_id{});
    EXPECT_EQ(timer_id{}, timer_id{});
    EXPECT_EQ((std::unordered_set<timer_id>{timer_id{1}, timer_id{2}, timer_id{1}}.size()), 2u);
}

TEST(timing_wheel, fires_at_the_deadline_and_not_before) {
    timing_wheel<int> wheel;
    const timer_id id = wheel.schedule(1000, 1);
    EXPECT_TRUE(id);
    EXPECT_EQ(wheel.next_deadline(), 1000);
    EXPECT_TRUE(fired_at(wheel, 999).empty());
    EXPECT_TRUE(wheel.contains(id));
    EXPECT_EQ(fired_at(wheel, 1000), std::vector{1});
    EXPECT_FALSE(wheel.contains(id));
    EXPECT_EQ(wheel.next_deadline(), std::nullopt);
}

TEST(timing_wheel, the_callback_gets_id_deadline_and_payload) {
    timing_wheel<std::string> wheel;
    const timer_id id = wheel.schedule(77, "text", 1000);
    EXPECT_EQ(wheel.deadline(id), 77);
    std::size_t calls = 0;
    wheel.advance(5000, [&](timer_id fired, std::int64_t deadline_ns, std::string& payload) {
        ++calls;
        EXPECT_EQ(fired, id);
        EXPECT_EQ(deadline_ns, 77) << "its own deadline, not the one that slack made of it";
        EXPECT_EQ(payload, "text");
    });
    EXPECT_EQ(calls, 1u);
}

// Acceptance: every pair of states. A timer is armed, put off, fired or cancelled; each operation on each
// state.
TEST(timing_wheel, every_operation_in_every_state) {
    enum class state { armed, put_off, brought_forward, fired, cancelled };
    for (const state from :
         {state::armed, state::put_off, state::brought_forward, state::fired, state::cancelled}) {
        const auto prepare = [from](timing_wheel<int>& wheel) {
            const timer_id id = wheel.schedule(100, 1);
            switch (from) {
            case state::armed:
                break;
            case state::put_off:
                EXPECT_TRUE(wheel.rearm(id, 100'000));
                break;
            case state::brought_forward:
                EXPECT_TRUE(wheel.rearm(id, 50));
                break;
            case state::fired:
                EXPECT_EQ(fired_at(wheel, 100), std::vector{1});
                break;
            case state::cancelled:
                EXPECT_TRUE(wheel.cancel(id));
                break;
            }
            return id;
        };
        const bool armed = from != state::fired && from != state::cancelled;
        {
            timing_wheel<int> wheel;
            const timer_id id = prepare(wheel);
            EXPECT_EQ(wheel.contains(id), armed);
            EXPECT_EQ(wheel.cancel(id), armed);
            EXPECT_FALSE(wheel.cancel(id));
            EXPECT_TRUE(fired_at(wheel, never).empty());
            EXPECT_EQ(wheel.size(), 0u);
        }
        {
            timing_wheel<int> wheel;
            const timer_id id = prepare(wheel);
            EXPECT_EQ(wheel.rearm(id, 200), armed);
            EXPECT_EQ(wheel.deadline(id).has_value(), armed);
            EXPECT_TRUE(fired_at(wheel, 199).empty());
            EXPECT_EQ(fired_at(wheel, 200).size(), armed ? 1u : 0u);
            EXPECT_FALSE(wheel.rearm(id, 300));
        }
        {
            timing_wheel<int> wheel;
            const timer_id id = prepare(wheel);
            EXPECT_EQ(fired_at(wheel, 1'000'000).size(), armed ? 1u : 0u);
            EXPECT_FALSE(wheel.contains(id));
        }
        { // the place is used again: the old id names nothing
            timing_wheel<int> wheel;
            const timer_id id = prepare(wheel);
            wheel.cancel(id);
            const timer_id next = wheel.schedule(500, 2);
            EXPECT_NE(id, next);
            EXPECT_FALSE(wheel.cancel(id));
            EXPECT_FALSE(wheel.rearm(id, 1));
            EXPECT_EQ(wheel.find(id), nullptr);
            EXPECT_EQ(fired_at(wheel, 500), std::vector{2});
        }
    }
}

TEST(timing_wheel, ids_differ_on_every_use_of_a_place) {
    timing_wheel<int> wheel;
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 100'000; ++i) {
        const timer_id id = wheel.schedule(10, i);
        EXPECT_TRUE(seen.insert(id.value).second);
        if (i % 2 == 0) {
            wheel.cancel(id);
        } else {
            fired_at(wheel, 10);
        }
    }
}

struct short_lived {
    static constexpr std::uint32_t max_generation = 9;
    static constexpr std::uint32_t max_tag = 1000;
};

TEST(timing_wheel, a_place_whose_generations_are_used_up_is_retired) {
    timing_wheel<int, std::allocator<std::byte>, short_lived> wheel;
    std::set<std::uint64_t> seen;
    std::vector<timer_id> old;
    for (int i = 0; i < 100; ++i) {
        const timer_id id = wheel.schedule(10, i);
        EXPECT_TRUE(seen.insert(id.value).second) << "an id came back";
        EXPECT_TRUE(wheel.cancel(id));
        old.push_back(id);
    }
    EXPECT_GE(wheel.stats().retired, 20u);
    for (const timer_id id : old) {
        EXPECT_FALSE(wheel.contains(id));
    }
}

TEST(timing_wheel, equal_deadlines_fire_in_arming_order_and_rearming_is_arming) {
    for (const std::int64_t deadline : {5ll, 1000ll, 1'000'000'000ll, 100'000'000'000'000ll}) {
        timing_wheel<int> wheel;
        const timer_id a = wheel.schedule(deadline, 1);
        const timer_id b = wheel.schedule(deadline / 2, 2);
        wheel.schedule(deadline, 3);
        wheel.rearm(b, deadline);    // put off: after 3
        wheel.schedule(deadline, 4); // after 2
        wheel.rearm(a, deadline);    // same deadline: now last
        EXPECT_EQ(fired_at(wheel, never), (std::vector{3, 2, 4, 1}));
    }
}

TEST(timing_wheel, thousands_of_one_instant_fire_in_arming_order_also_when_put_off_to_it) {
    timing_wheel<int> wheel;
    constexpr std::int64_t instant = 10'000'000'000;
    std::vector<int> expected;
    std::vector<timer_id> early;
    for (int i = 0; i < 3000; ++i) {
        early.push_back(wheel.schedule(1000 + i, i));
    }
    for (int i = 0; i < 3000; ++i) { // alternately new ones and ones that come from an earlier time
        wheel.schedule(instant, 10'000 + i);
        expected.push_back(10'000 + i);
        wheel.rearm(early[static_cast<std::size_t>(i * 7 % 3000)], instant);
        expected.push_back(i * 7 % 3000);
    }
    EXPECT_TRUE(fired_at(wheel, instant - 1).empty());
    std::vector<int> fired;
    while (wheel.size() > 0) {
        const std::vector<int> some = fired_at(wheel, instant, 7);
        ASSERT_FALSE(some.empty());
        fired.insert(fired.end(), some.begin(), some.end());
    }
    EXPECT_EQ(fired, expected);
}

TEST(timing_wheel, a_past_deadline_keeps_its_own_place_in_the_order) {
    timing_wheel<int> wheel({.start_ns = 1000});
    wheel.schedule(900, 2);
    wheel.schedule(-5, 1);
    wheel.schedule(1000, 4);
    wheel.schedule(900, 3);
    EXPECT_EQ(wheel.next_deadline(), -5);
    EXPECT_EQ(fired_at(wheel, 1000), (std::vector{1, 2, 3, 4}));
}

TEST(timing_wheel, ten_times_the_budget_fires_on_the_next_calls_in_order) {
    timing_wheel<int> wheel;
    for (int i = 0; i < 1000; ++i) {
        wheel.schedule(1000 - i, i);
    }
    int expected = 999;
    for (int call = 0; call < 10; ++call) {
        const std::vector<int> fired = fired_at(wheel, 5000, 100);
        ASSERT_EQ(fired.size(), 100u);
        for (const int payload : fired) {
            ASSERT_EQ(payload, expected--);
        }
    }
    EXPECT_EQ(wheel.size(), 0u);
}

TEST(timing_wheel, a_timer_armed_between_what_is_left_over_takes_its_place) {
    timing_wheel<int> wheel;
    for (int i = 0; i < 100; ++i) {
        wheel.schedule(i * 10, i);
    }
    EXPECT_EQ(fired_at(wheel, 5000, 30).back(), 29);
    wheel.schedule(500, -1); // after 50, which was armed before
    wheel.schedule(100, -2); // past what has fired: next
    wheel.schedule(505, -3);
    EXPECT_EQ(wheel.next_deadline(), 100);
    const std::vector<int> fired = fired_at(wheel, 5000, 24);
    EXPECT_EQ(fired.front(), -2);
    EXPECT_EQ((std::vector<int>(fired.end() - 4, fired.end())), (std::vector{49, 50, -1, -3}));
}

TEST(timing_wheel, a_budget_of_zero_does_nothing) {
    timing_wheel<int> wheel;
    wheel.schedule(10, 1);
    EXPECT_TRUE(fired_at(wheel, 1000, 0).empty());
    EXPECT_EQ(wheel.now_ns(), 0);
}

TEST(timing_wheel, never_is_held_and_can_be_cancelled) {
    timing_wheel<int> wheel;
    const timer_id id = wheel.schedule(never, 1);
    EXPECT_EQ(wheel.next_deadline(), std::nullopt);
    EXPECT_TRUE(fired_at(wheel, never).empty());
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_TRUE(wheel.cancel(id));
    const timer_id again = wheel.schedule(never, 2);
    EXPECT_TRUE(wheel.rearm(again, 5));
    EXPECT_EQ(fired_at(wheel, never), std::vector{2});
}

TEST(timing_wheel, next_deadline_is_exact_when_nothing_was_cancelled) {
    timing_wheel<int> wheel;
    for (const std::int64_t deadline : {7'777'777'777ll, 123'456'789ll, 99'999ll, 65ll, 64ll, 3ll}) {
        wheel.schedule(deadline, 0);
        EXPECT_EQ(wheel.next_deadline(), deadline);
    }
    for (const std::int64_t deadline : {3ll, 64ll, 65ll, 99'999ll, 123'456'789ll, 7'777'777'777ll}) {
        EXPECT_EQ(wheel.next_deadline(), deadline);
        EXPECT_EQ(fired_at(wheel, deadline).size(), 1u);
    }
}

TEST(timing_wheel, slack_is_kept_and_makes_wake_ups_fewer) {
    const auto wake_ups = [](std::int64_t slack_ns) {
        timing_wheel<int> wheel;
        for (int i = 0; i < 1000; ++i) {
            wheel.schedule(1'000'000'000 + i * 1'234'567ll, i, slack_ns);
        }
        std::size_t count = 0;
        while (const auto next = wheel.next_deadline()) {
            ++count;
            wheel.advance(*next, [&](timer_id, std::int64_t deadline_ns, int&) {
                EXPECT_GE(*next, deadline_ns);
                EXPECT_LE(*next, deadline_ns + slack_ns);
            });
        }
        EXPECT_EQ(wheel.stats().fired, 1000u);
        return count;
    };
    EXPECT_EQ(wake_ups(0), 1000u);
    EXPECT_LE(wake_ups(10'000'000), 250u);
    EXPECT_LE(wake_ups(100'000'000), 25u);
}

TEST(timing_wheel, a_timer_with_slack_rests_in_a_coarse_level) {
    const auto cascades = [](std::int64_t slack_ns) {
        timing_wheel<int> wheel({.resolution_ns = 1});
        for (int i = 0; i < 1000; ++i) {
            wheel.schedule(60'000'000'000 + i * 1'234'567ll, i, slack_ns);
        }
        while (const auto next = wheel.next_deadline()) {
            wheel.advance(*next, [](auto&&...) {});
        }
        return wheel.stats().cascaded;
    };
    EXPECT_LT(cascades(1'000'000'000) * 2, cascades(0));
}

TEST(timing_wheel, negative_slack_is_none) {
    timing_wheel<int> wheel;
    wheel.schedule(1001, 1, -1000);
    EXPECT_TRUE(fired_at(wheel, 1000).empty());
    EXPECT_EQ(fired_at(wheel, 1001), std::vector{1});
}

TEST(timing_wheel, resolution_must_be_positive_and_is_reported) {
    for (const std::int64_t bad : {0ll, -1ll, -1'000'000ll}) {
        try {
            timing_wheel<int> wheel({.resolution_ns = bad});
            ADD_FAILURE() << bad;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find("resolution_ns is " + std::to_string(bad)),
                      std::string::npos);
        }
    }
    for (const auto& [asked, in_force] : {std::pair{1ll, 1ll}, {100ll, 64ll}, {1'000'000ll, 262'144ll}}) {
        timing_wheel<int> wheel({.resolution_ns = asked});
        EXPECT_EQ(wheel.resolution_ns(), in_force);
        EXPECT_EQ(wheel.stats().resolution_ns, in_force);
    }
    EXPECT_THROW(timing_wheel<int>({.garbage_per_slot = -0.5}), std::invalid_argument);
}

TEST(timing_wheel, ids_of_another_wheel_and_made_up_ones_are_harmless) {
    timing_wheel<int> large;
    std::vector<timer_id> foreign;
    for (int i = 0; i < 5000; ++i) {
        foreign.push_back(large.schedule(100, i));
    }
    timing_wheel<int> small;
    const timer_id own = small.schedule(100, 1);
    const timer_id gone = small.schedule(100, 2);
    small.cancel(gone);
    for (const timer_id id : foreign) { // only an equal index and generation can name something here
        EXPECT_EQ(small.contains(id), id == own);
    }
    for (std::uint64_t generation = 0; generation < 8; ++generation) {
        for (std::uint64_t index = 0; index < 3000; ++index) {
            const timer_id id{generation << 32 | index};
            if (id != own) {
                EXPECT_FALSE(small.contains(id) || small.cancel(id) || small.rearm(id, 5));
            }
        }
    }
    EXPECT_EQ(fired_at(small, 100), std::vector{1});
}

TEST(timing_wheel, holds_move_only_payloads_and_destroys_them_in_time) {
    const auto count = std::make_shared<int>(0);
    timing_wheel<std::unique_ptr<std::shared_ptr<int>>> wheel;
    const auto payload = [&] { return std::make_unique<std::shared_ptr<int>>(count); };
    const timer_id cancelled = wheel.schedule(1000, payload());
    wheel.schedule(10, payload());
    wheel.schedule(never, payload());
    EXPECT_EQ(count.use_count(), 4);
    wheel.cancel(cancelled);
    EXPECT_EQ(count.use_count(), 3) << "at once, not at the deadline";
    wheel.advance(10, [&](timer_id, std::int64_t, auto&) { EXPECT_EQ(count.use_count(), 3); });
    EXPECT_EQ(count.use_count(), 2) << "right after its callback";
    wheel.clear();
    EXPECT_EQ(count.use_count(), 1);
}

TEST(timing_wheel, its_destructor_destroys_what_is_left_wherever_it_stands) {
    const auto count = std::make_shared<int>(0);
    {
        timing_wheel<std::shared_ptr<int>> wheel({.start_ns = 1000});
        for (int i = 0; i < 200; ++i) {
            wheel.schedule(2000, count); // one instant
            wheel.schedule(500, count);  // past
            wheel.schedule(10'000'000 * i, count);
        }
        wheel.advance(2000, [](auto&&...) {}, 210); // leaves ready, run and heap half consumed
    }
    EXPECT_EQ(count.use_count(), 1);
}

TEST(timing_wheel, drain_hands_every_timer_over) {
    timing_wheel<int> wheel({.start_ns = 50});
    std::set<int> expected;
    for (int i = 0; i < 500; ++i) {
        const timer_id id = wheel.schedule(i * 1'000'003ll, i, i % 2 == 0 ? 1023 : 0);
        if (i % 5 == 0) {
            wheel.cancel(id);
        } else {
            expected.insert(i);
        }
    }
    std::set<int> taken;
    wheel.drain([&](timer_id id, std::int64_t deadline_ns, std::int64_t slack_ns, int& payload) {
        EXPECT_TRUE(taken.insert(payload).second);
        EXPECT_EQ(deadline_ns, payload * 1'000'003ll);
        EXPECT_EQ(slack_ns, payload % 2 == 0 ? 1023 : 0);
        EXPECT_FALSE(wheel.contains(id));
    });
    EXPECT_EQ(taken, expected);
    EXPECT_EQ(wheel.size(), 0u);
    EXPECT_EQ(wheel.stats().stale, 0u);
}

TEST(timing_wheel, counts_what_happened) {
    timing_wheel<int> wheel;
    const timer_id a = wheel.schedule(10, 1);
    wheel.schedule(20, 2);
    wheel.schedule(30, 3);
    wheel.cancel(a);
    fired_at(wheel, 20);
    const wheel_stats stats = wheel.stats();
    EXPECT_EQ(stats.pending, 1u);
    EXPECT_EQ(stats.fired, 1u);
    EXPECT_EQ(stats.cancelled, 1u);
    EXPECT_GT(stats.bytes, sizeof(wheel));
}

} // namespace
} // namespace horae
