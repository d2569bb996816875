// SPDX-License-Identifier: Apache-2.0
//
// What callbacks and payload destructors may do to the wheel that calls them.
#include <horae/wheel.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace horae {
namespace {

using action = std::function<void(timer_id)>;
using action_wheel = timing_wheel<action>;

std::size_t run_to(action_wheel& wheel, std::int64_t now, std::size_t budget = SIZE_MAX) {
    return wheel.advance(now, [](timer_id id, std::int64_t, action& act) { act(id); }, budget);
}

TEST(wheel_callback, what_is_armed_in_a_callback_waits_for_the_next_call) {
    action_wheel wheel;
    int late = 0;
    wheel.schedule(10, [&](timer_id) {
        for (const std::int64_t deadline : {-5, 0, 10, 50, 100}) {
            wheel.schedule(deadline, [&](timer_id) { ++late; });
        }
    });
    EXPECT_EQ(run_to(wheel, 100), 1u);
    EXPECT_EQ(late, 0);
    EXPECT_EQ(wheel.next_deadline(), -5);
    EXPECT_EQ(run_to(wheel, 100), 5u);
    EXPECT_EQ(late, 5);
}

TEST(wheel_callback, a_firing_timer_counts_as_fired_and_can_arm_itself_again) {
    action_wheel wheel;
    int fired = 0;
    wheel.schedule(100, [&](timer_id id) {
        EXPECT_FALSE(wheel.contains(id));
        EXPECT_FALSE(wheel.cancel(id));
        EXPECT_EQ(wheel.deadline(id), std::nullopt);
        EXPECT_EQ(wheel.size(), 0u);
        if (++fired < 5) {
            EXPECT_TRUE(wheel.rearm(id, 100 * (fired + 1)));
            EXPECT_TRUE(wheel.contains(id));
            EXPECT_EQ(wheel.size(), 1u);
        }
    });
    for (std::int64_t now = 100; now <= 700; now += 100) {
        EXPECT_EQ(run_to(wheel, now), now <= 500 ? 1u : 0u);
    }
    EXPECT_EQ(fired, 5) << "under one id, with its payload kept";
}

TEST(wheel_callback, a_periodic_timer_does_not_drift) {
    timing_wheel<int> wheel;
    constexpr std::int64_t period = 1'000'003;
    wheel.schedule(period, 0);
    std::int64_t now = 0;
    for (int tick = 1; tick <= 10'000; ++tick) {
        now = *wheel.next_deadline() + tick % 977; // called late every time
        wheel.advance(now, [&](timer_id id, std::int64_t deadline_ns, int&) {
            ASSERT_EQ(deadline_ns, tick * period);
            wheel.rearm(id, deadline_ns + period);
        });
    }
    EXPECT_EQ(wheel.stats().fired, 10'000u);
}

TEST(wheel_callback, armed_again_and_cancelled_in_its_own_callback_keeps_the_payload_until_the_end) {
    const auto alive = std::make_shared<int>(1);
    timing_wheel<std::shared_ptr<int>> wheel;
    wheel.schedule(10, alive);
    wheel.advance(10, [&](timer_id id, std::int64_t, std::shared_ptr<int>& payload) {
        EXPECT_TRUE(wheel.rearm(id, 20));
        EXPECT_TRUE(wheel.cancel(id));
        EXPECT_FALSE(wheel.contains(id));
        EXPECT_EQ(payload, alive) << "still in use";
    });
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(wheel.advance(100, [](auto&&...) {}), 0u);
}

TEST(wheel_callback, others_due_in_the_same_call_can_be_cancelled_and_put_off) {
    action_wheel wheel;
    std::vector<int> fired;
    std::vector<timer_id> ids;
    for (int i = 0; i < 200; ++i) { // more than one sorted batch
        ids.push_back(wheel.schedule(10 + i, [&, i](timer_id) {
            fired.push_back(i);
            if (i == 0) {
                EXPECT_TRUE(wheel.cancel(ids[1]));
                EXPECT_TRUE(wheel.cancel(ids[150]));
                EXPECT_TRUE(wheel.rearm(ids[2], 500));
                EXPECT_TRUE(wheel.rearm(ids[151], 500));
                EXPECT_TRUE(wheel.rearm(ids[3], 5)); // earlier, but armed in this call
            }
        }));
    }
    EXPECT_EQ(run_to(wheel, 400), 195u);
    EXPECT_EQ(fired.size(), 195u);
    fired.clear();
    EXPECT_EQ(run_to(wheel, 500), 3u);
    EXPECT_EQ(fired, (std::vector{3, 2, 151}));
}

// At a level boundary the older timer comes down from a coarser level, the newer one waits in the heap.
TEST(wheel_callback, a_timer_armed_in_a_callback_stays_behind_an_older_one_of_its_instant) {
    action_wheel wheel({.resolution_ns = 1});
    std::vector<int> fired;
    wheel.schedule(320, [&](timer_id) { fired.push_back(1); });
    wheel.schedule(319, [&](timer_id) { wheel.schedule(320, [&](timer_id) { fired.push_back(2); }); });
    EXPECT_EQ(run_to(wheel, 320, 1), 1u); // the budget ends the call between the two
    EXPECT_EQ(run_to(wheel, 320), 2u);
    EXPECT_EQ(fired, (std::vector{1, 2}));
}

TEST(wheel_callback, a_nested_advance_does_nothing) {
    action_wheel wheel;
    int fired = 0;
    for (int i = 0; i < 3; ++i) {
        wheel.schedule(10, [&](timer_id) {
            ++fired;
            EXPECT_EQ(run_to(wheel, 1000), 0u);
        });
    }
    wheel.schedule(500, [&](timer_id) { ++fired; });
    EXPECT_EQ(run_to(wheel, 10), 3u);
    EXPECT_EQ(wheel.now_ns(), 10);
    EXPECT_EQ(fired, 3);
}

TEST(wheel_callback, clear_and_drain_work_inside_a_callback) {
    action_wheel wheel;
    int fired = 0;
    for (int i = 0; i < 100; ++i) {
        wheel.schedule(10, [&](timer_id id) {
            ++fired;
            wheel.rearm(id, 20);
            wheel.clear();
            EXPECT_EQ(wheel.size(), 0u);
            EXPECT_FALSE(wheel.contains(id));
        });
    }
    EXPECT_EQ(run_to(wheel, 100), 1u);
    EXPECT_EQ(run_to(wheel, 1000), 0u);
    EXPECT_EQ(fired, 1);
}

TEST(wheel_callback, one_that_throws_has_fired_and_nothing_else_is_lost) {
    action_wheel wheel;
    std::vector<int> fired;
    for (int i = 0; i < 200; ++i) {
        wheel.schedule(10 + i % 3, [&, i](timer_id id) {
            fired.push_back(i);
            if (i % 7 == 0) {
                if (i % 2 == 0) {
                    wheel.rearm(id, 1000);
                }
                throw std::runtime_error("callback");
            }
        });
    }
    int thrown = 0;
    for (;;) {
        try {
            if (run_to(wheel, 100) == 0) {
                break;
            }
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    EXPECT_EQ(thrown, 29);
    EXPECT_EQ(fired.size(), 200u);
    EXPECT_EQ(wheel.size(), 15u) << "those that had armed themselves again before they threw";
}

struct throws_at_its_end {
    explicit throws_at_its_end(bool t) : throws(t) {}
    throws_at_its_end(throws_at_its_end&& other) noexcept : throws(std::exchange(other.throws, false)) {}
    throws_at_its_end& operator=(throws_at_its_end&&) = delete;
    ~throws_at_its_end() noexcept(false) {
        if (throws) {
            throw std::runtime_error("destructor");
        }
    }
    bool throws;
};

TEST(wheel_callback, a_payload_whose_destructor_throws_leaves_the_wheel_whole) {
    timing_wheel<throws_at_its_end> wheel;
    std::vector<timer_id> ids;
    for (int i = 0; i < 100; ++i) {
        ids.push_back(wheel.schedule(10 + i, throws_at_its_end(i % 10 == 0)));
    }
    EXPECT_THROW(wheel.cancel(ids[50]), std::runtime_error);
    EXPECT_FALSE(wheel.contains(ids[50]));
    EXPECT_EQ(wheel.size(), 99u);
    int fired = 0;
    int thrown = 0;
    for (int call = 0; call < 100; ++call) {
        try {
            if (wheel.advance(1000, [&](auto&&...) { ++fired; }, 20) == 0) {
                break;
            }
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    EXPECT_EQ(fired, 99);
    EXPECT_EQ(thrown, 9);
    EXPECT_EQ(wheel.size(), 0u);
    for (int i = 0; i < 3; ++i) {
        wheel.schedule(2000, throws_at_its_end(i == 1));
    }
    EXPECT_THROW(wheel.clear(), std::runtime_error);
    wheel.clear();
    EXPECT_EQ(wheel.size(), 0u);
}

struct throws_when_moved {
    explicit throws_when_moved(int* c) : countdown(c) {}
    throws_when_moved(throws_when_moved&& other) : countdown(other.countdown) {
        if (--*countdown < 0) {
            throw std::runtime_error("move");
        }
    }
    throws_when_moved& operator=(throws_when_moved&&) = delete;
    int* countdown;
};

TEST(wheel_callback, a_payload_whose_move_throws_changes_nothing) {
    timing_wheel<throws_when_moved> wheel;
    int plenty = 1000;
    int none = 0;
    const timer_id id = wheel.schedule(10, throws_when_moved(&plenty));
    EXPECT_THROW(wheel.schedule(5, throws_when_moved(&none)), std::runtime_error);
    EXPECT_EQ(wheel.size(), 1u);
    EXPECT_EQ(wheel.next_deadline(), 10);
    EXPECT_TRUE(wheel.contains(id));
}

// The destructor of one payload cancels other timers, also while the wheel itself goes.
struct cancels_others {
    cancels_others(timing_wheel<std::unique_ptr<cancels_others>>& w, std::vector<timer_id>& i)
        : wheel(w), ids(i) {}
    ~cancels_others() {
        for (const timer_id id : ids) {
            cancelled += wheel.cancel(id) ? 1 : 0;
        }
        EXPECT_FALSE(wheel.schedule(1, nullptr)) << "nothing is armed on a wheel that goes";
    }
    timing_wheel<std::unique_ptr<cancels_others>>& wheel;
    std::vector<timer_id>& ids;
    static inline int cancelled = 0;
};

TEST(wheel_callback, payloads_may_cancel_others_while_the_wheel_is_destroyed) {
    std::vector<timer_id> ids;
    cancels_others::cancelled = 0;
    {
        timing_wheel<std::unique_ptr<cancels_others>> wheel;
        for (int i = 0; i < 50; ++i) {
            ids.push_back(wheel.schedule(i * 1'000'000, std::make_unique<cancels_others>(wheel, ids)));
        }
    }
    EXPECT_EQ(cancels_others::cancelled, 49);
}

} // namespace
} // namespace horae
