// SPDX-License-Identifier: Apache-2.0
//
// Options, capacity, shutdown, workers that come and go, drivers, fork.
#include "support/manual_clock.hpp"

#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <thread>

namespace {

using namespace std::chrono_literals;
using horae::join_handle;
using horae::runtime;
using horae::spawn_error;
using horae::task;
using horae::wake_ticket;

task<> for_ever() {
    co_await horae::suspend_with([](wake_ticket) {});
}
task<int> answer() {
    co_return 42;
}
task<> thrower() {
    throw std::runtime_error("nobody awaits me");
    co_return;
}

TEST(runtime, bad_options_are_named) {
    EXPECT_THROW(runtime({.workers = 1000}), std::invalid_argument);
    EXPECT_THROW(runtime({.slot_capacity = 0}), std::invalid_argument);
    EXPECT_THROW(runtime({.blocking_threads = 0}), std::invalid_argument);
}

TEST(runtime, several_in_one_process) {
    runtime a({.workers = 1});
    runtime b({.workers = 1});
    const int sum = a.block_on([](runtime& other) -> task<int> {
        auto there = other.spawn(answer());
        const int here = co_await horae::spawn(answer());
        co_return here + co_await there;
    }(b));
    EXPECT_EQ(sum, 84);
}

TEST(runtime, block_on_inside_a_task_is_an_error) {
    runtime rt({.workers = 1});
    rt.block_on([](runtime& r) -> task<> {
        EXPECT_THROW(r.block_on(answer()), std::logic_error);
        co_return;
    }(rt));
}

TEST(runtime, a_full_arena_is_a_clear_error) {
    for (const bool local : {false, true}) {
        runtime rt({.workers = 1, .slot_capacity = 16});
        std::vector<join_handle<void>> handles;
        const auto fill = [&](int room) {
            for (int i = 0; i < room; ++i)
                handles.push_back(rt.spawn(for_ever()));
            task<> more = for_ever();
            join_handle<void> handle;
            EXPECT_EQ(rt.try_spawn(more, handle), spawn_error::no_capacity);
            EXPECT_TRUE(static_cast<bool>(more)) << "the task is still the caller's";
            try {
                static_cast<void>(rt.spawn(for_ever()));
                ADD_FAILURE();
            } catch (const horae::spawn_failure& e) {
                EXPECT_EQ(e.code(), spawn_error::no_capacity);
            }
        };
        if (local) {
            rt.block_on([](auto& f) -> task<> {
                f(15);
                co_return;
            }(fill));
        } else {
            fill(16);
        }
        for (auto& each : handles) {
            each.cancel();
            EXPECT_THROW(each.wait(), horae::task_cancelled);
        }
        handles.clear();
        EXPECT_EQ(rt.block_on(answer()), 42);
    }
}

TEST(runtime, spawn_wait_waits_for_a_slot) {
    runtime rt({.workers = 2, .slot_capacity = 4});
    const int sum = rt.block_on([]() -> task<int> {
        int total = 0;
        co_await horae::with_scope([&](horae::scope&) -> task<> {
            for (int i = 0; i < 100; ++i) {
                auto handle = co_await horae::spawn_wait(answer());
                handle.detach();
                ++total;
            }
        });
        co_return total;
    }());
    EXPECT_EQ(sum, 100);
}

TEST(runtime, shutdown_waits_for_tasks_and_refuses_new_ones) {
    runtime rt({.workers = 2});
    for (int i = 0; i < 100; ++i) {
        rt.spawn([]() -> task<> {
              for (int k = 0; k < 50; ++k)
                  co_await horae::yield();
          }())
            .detach();
    }
    const auto report = rt.shutdown(1h);
    EXPECT_EQ(report.cancelled, 0U);
    EXPECT_EQ(rt.metrics().completed, 100U);
    EXPECT_EQ(rt.metrics().workers, 0U);
    task<int> late = answer();
    join_handle<int> handle;
    EXPECT_EQ(rt.try_spawn(late, handle), spawn_error::shut_down);
}

TEST(runtime, shutdown_cancels_at_the_deadline) {
    runtime rt({.workers = 2});
    for (int i = 0; i < 10; ++i)
        rt.spawn(for_ever()).detach();
    EXPECT_EQ(rt.shutdown(0s).cancelled, 10U);
    EXPECT_EQ(rt.metrics().live(), 0U);
}

TEST(runtime, shutdown_with_no_worker_left) {
    runtime rt({.workers = 1});
    rt.remove_worker(rt.workers().at(0));
    while (rt.metrics().workers != 0)
        std::this_thread::yield();
    rt.spawn(for_ever()).detach();
    EXPECT_EQ(rt.shutdown(0s).cancelled, 1U);
}

TEST(runtime, a_handle_may_outlive_its_runtime) {
    join_handle<int> done;
    join_handle<void> dropped;
    {
        runtime rt({.workers = 1});
        done = rt.spawn(answer());
        dropped = rt.spawn(for_ever());
        while (!done.done())
            std::this_thread::yield();
    }
    EXPECT_EQ(done.take(), 42);
    EXPECT_TRUE(dropped.cancelled());
    EXPECT_FALSE(dropped.cancel());
}

TEST(runtime, tickets_of_a_dead_runtime_are_stale) {
    wake_ticket ticket;
    {
        runtime rt({.workers = 1, .slot_capacity = 77});
        rt.spawn([](wake_ticket& t) -> task<> {
              co_await horae::suspend_with([&](wake_ticket mine) { t = mine; });
          }(ticket))
            .detach();
        while (rt.metrics().polls == 0)
            std::this_thread::yield();
    }
    EXPECT_FALSE(horae::wake(ticket));
    runtime next({.workers = 1, .slot_capacity = 77}); // the same memory
    auto handle = next.spawn(for_ever());
    EXPECT_FALSE(horae::wake(ticket));
}

TEST(runtime, exceptions_nobody_awaits_go_to_the_handler) {
    std::atomic<int> caught{0};
    runtime rt({.workers = 1, .on_unhandled_exception = [&](std::exception_ptr) { ++caught; }});
    rt.spawn(thrower()).detach();
    {
        auto dropped_later = rt.spawn(thrower());
        while (!dropped_later.done())
            std::this_thread::yield();
    }
    rt.shutdown(1h);
    EXPECT_EQ(caught, 2);
}

TEST(runtime, the_last_worker_leaves_and_tasks_wait_for_the_next) {
    runtime rt({.workers = 1});
    EXPECT_TRUE(rt.remove_worker(rt.workers().at(0)));
    while (rt.metrics().workers != 0)
        std::this_thread::yield();
    auto handle = rt.spawn(answer());
    EXPECT_FALSE(handle.done());
    rt.add_worker();
    EXPECT_EQ(handle.wait(), 42);
}

TEST(runtime, a_removed_worker_leaves_after_the_task_it_is_in) {
    runtime rt({.workers = 2});
    std::atomic<bool> in_task{false};
    std::atomic<bool> go{false};
    std::atomic<int> ran{0};
    auto blocker = rt.spawn([](auto& in, auto& g, auto& r) -> task<horae::worker_id> {
        const horae::worker_id here = horae::current_worker()->id();
        for (int i = 0; i < 10; ++i)
            horae::spawn([](auto& n) -> task<> {
                ++n;
                co_return;
            }(r))
                .detach();
        in = true;
        while (!g) {
        }
        co_await horae::yield();
        EXPECT_NE(horae::current_worker()->id(), here) << "its worker has left";
        co_return here;
    }(in_task, go, ran));
    while (!in_task)
        std::this_thread::yield();
    for (const auto id : rt.workers())
        rt.remove_worker(id);
    rt.add_worker();
    go = true;
    const auto gone = blocker.wait();
    EXPECT_FALSE(rt.remove_worker(gone));
    rt.shutdown(1h);
    EXPECT_EQ(ran, 10);
}

TEST(runtime, drivers_poll_inline_and_hand_over) {
    horae_test::manual_clock clock;
    horae::runtime_options options{.workers = 2, .clock = &clock};
    options.drivers.push_back([](horae::worker&) { return std::make_unique<horae_test::map_timers>(); });
    horae::runtime_core core(options, horae::runtime_core::threads::none);
    int woken = 0;
    for (int i = 0; i < 5; ++i) {
        auto* root = [](int& n, std::int64_t at) -> task<> {
            co_await horae::suspend_with([&](wake_ticket ticket) {
                static_cast<horae_test::map_timers&>(*horae::current_worker()->driver_at(0))
                    .insert(at, ticket);
            });
            ++n;
        }(woken, clock.now_ns() + 100)
                                                        .release();
        ASSERT_EQ(core.spawn(*root, horae::join_state::detached, nullptr).error, spawn_error::none);
    }
    for (int i = 0; i < 50; ++i)
        core.step_worker(0, 1);
    EXPECT_EQ(core.step_worker(0, 1).until_ns, clock.now_ns() + 100);
    const auto polls = core.metrics().polls;
    core.remove_worker(core.worker_at(0)->id());
    EXPECT_EQ(core.step_worker(0, 1).what, horae::step_outcome::kind::stopped);
    clock.advance(99);
    for (int i = 0; i < 5; ++i)
        core.step_worker(1, 1);
    EXPECT_EQ(woken, 0);
    clock.advance(1);
    core.step_worker(1, 1);
    EXPECT_EQ(woken, 5);
    EXPECT_EQ(core.metrics().inline_polls, 5U) << "idle -> executing goes around the queues";
    EXPECT_EQ(core.metrics().polls, polls);
    EXPECT_EQ(core.metrics().signal_acquires, 5U) << "only the spawns from outside went through the map";
}

TEST(runtime, at_rest_nobody_wakes) {
    runtime rt({.workers = 2});
    rt.block_on(answer());
    while (rt.metrics().idle_workers != 2)
        std::this_thread::yield();
    const auto before = rt.metrics();
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(rt.metrics().parks, before.parks);
    EXPECT_EQ(rt.metrics().unparks, before.unparks);
}

TEST(runtime, spawn_blocking_runs_elsewhere) {
    runtime rt({.workers = 1, .blocking_threads = 2});
    rt.block_on([]() -> task<> {
        const auto here = std::this_thread::get_id();
        const auto there = co_await horae::spawn_blocking([] { return std::this_thread::get_id(); });
        EXPECT_NE(here, there);
        EXPECT_THROW(co_await horae::spawn_blocking([]() -> int { throw std::runtime_error("x"); }),
                     std::runtime_error);
        int sum = 0;
        co_await horae::with_scope([&](horae::scope& s) -> task<> {
            for (int i = 0; i < 100; ++i)
                s.spawn([](int& n) -> task<> { n += co_await horae::spawn_blocking([] { return 1; }); }(sum));
            co_return;
        });
        EXPECT_EQ(sum, 100);
    }());
    EXPECT_LE(rt.core().blocking().threads(), 2U);
}

TEST(runtime, current_thread_with_blocking_pool_and_foreign_wake) {
    runtime rt({.current_thread = true});
    EXPECT_EQ(
        rt.block_on([]() -> task<int> { co_return co_await horae::spawn_blocking([] { return 5; }); }()), 5);
}

// A signal never shortens a wait.
TEST(parker, signals_do_not_end_a_wait) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, nullptr);
    horae::parker place;
    std::atomic<bool> early{false};
    std::atomic<bool> token{false};
    std::atomic<bool> ready{false};
    std::thread sleeper([&] {
        ready = true;
        place.park();
        early = !token.load();
    });
    while (!ready)
        std::this_thread::yield();
    for (int i = 0; i < 200; ++i) {
        pthread_kill(sleeper.native_handle(), SIGUSR1);
        std::this_thread::yield();
    }
    token = true;
    place.unpark();
    sleeper.join();
    EXPECT_FALSE(early);
}

} // namespace
