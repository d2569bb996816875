// SPDX-License-Identifier: Apache-2.0
//
// Bugs that runtimes of this kind really had. The number is the row of the list in docs/design/exec-proof.md,
// which also says which of them are models or simulations instead.
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;
using horae::join_handle;
using horae::runtime;
using horae::task;
using horae::wake_ticket;

task<> for_ever() {
    co_await horae::suspend_with([](wake_ticket) {});
}

// 14: tasks that wait for each other do not hold up the end.
TEST(regression_14, tasks_waiting_on_each_other_at_shutdown) {
    for (int round = 0; round < 50; ++round) {
        runtime rt({.workers = 2});
        auto a = rt.spawn(for_ever());
        auto b = rt.spawn([](join_handle<void> h) -> task<> { co_await h; }(std::move(a)));
        auto c = rt.spawn([](join_handle<void> h) -> task<> { co_await h; }(std::move(b)));
        c.detach();
        const auto report = rt.shutdown(0s);
        EXPECT_EQ(report.cancelled + report.completed, 3U);
        EXPECT_EQ(rt.core().idle().searching(), 0U);
        EXPECT_EQ(rt.core().idle().idle_count(), 0U);
    }
}

// 15, 38: destructors that cancel other tasks while a shutdown cancels everything.
TEST(regression_15_38, destructors_that_cancel_during_shutdown) {
    struct canceller {
        const std::vector<horae::task_ref>* all;
        std::size_t next;
        ~canceller() {
            horae::cancel((*all)[next]);
        } // round and round: it also meets tasks that are being destroyed
    };
    for (int round = 0; round < 50; ++round) {
        runtime rt({.workers = 2});
        std::vector<horae::task_ref> all(20);
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto handle =
                rt.spawn([](const std::vector<horae::task_ref>& others, std::size_t next) -> task<> {
                    const canceller at_end{&others, next};
                    co_await for_ever();
                }(all, (i + 1) % all.size()));
            all[i] = handle.ref();
            handle.detach();
        }
        EXPECT_EQ(rt.shutdown(0s).cancelled, 20U);
    }
}

// 17: a pair that wakes each other for ever does not starve a third task.
TEST(regression_17, a_ping_pong_pair_starves_nobody) {
    runtime rt({.workers = 1});
    const int rounds = rt.block_on([]() -> task<int> {
        wake_ticket tickets[2];
        bool stop = false;
        int played = 0;
        auto player = [](wake_ticket* t, int me, bool& s, int& n) -> task<> {
            while (!s) {
                ++n;
                const wake_ticket other = std::exchange(t[1 - me], {});
                co_await horae::suspend_with([&](wake_ticket mine) {
                    t[me] = mine;
                    horae::wake(other);
                });
            }
            horae::wake(t[1 - me]);
        };
        auto a = horae::spawn(player(tickets, 0, stop, played));
        auto b = horae::spawn(player(tickets, 1, stop, played));
        int turns = 0;
        auto third = horae::spawn([](int& t) -> task<> {
            for (; t < 100; ++t)
                co_await horae::yield();
        }(turns));
        co_await third;
        stop = true;
        horae::wake(tickets[0]);
        horae::wake(tickets[1]);
        co_await a;
        co_await b;
        co_return played;
    }());
    // Three turns of the pair at most for each of the third's, and the spawns around it.
    EXPECT_LE(rounds, 100 * (2 * static_cast<int>(horae::worker::next_streak_limit) + 2) + 100);
}

// 18: jobs that arrive while the last thread of the pool goes to sleep.
TEST(regression_18, the_blocking_pool_never_sleeps_beside_work) {
    runtime rt({.workers = 2, .blocking_threads = 2});
    rt.block_on([]() -> task<> {
        for (int i = 0; i < 2000; ++i) {
            auto [a, b, c] = co_await horae::when_all(
                []() -> task<int> { co_return co_await horae::spawn_blocking([] { return 1; }); }(),
                []() -> task<int> { co_return co_await horae::spawn_blocking([] { return 2; }); }(),
                []() -> task<int> { co_return co_await horae::spawn_blocking([] { return 3; }); }());
            EXPECT_EQ(a + b + c, 6);
        }
    }());
}

// 24: a wake-up against a driver that is about to sleep in its own way.
TEST(regression_24, a_waiting_driver_is_woken) {
    class waiting final : public horae::driver {
    public:
        std::size_t poll(horae::worker&, std::int64_t) noexcept override { return 0; }
        bool waits() const noexcept override { return true; }
        void wait(std::int64_t) noexcept override {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return woken_; });
            woken_ = false;
        }
        void wake() noexcept override {
            const std::lock_guard lock(mutex_);
            woken_ = true;
            changed_.notify_one();
        }

    private:
        std::mutex mutex_;
        std::condition_variable changed_;
        bool woken_ = false;
    };
    horae::runtime_options options{.workers = 2};
    options.drivers.push_back([](horae::worker&) { return std::make_unique<waiting>(); });
    runtime rt(options);
    for (int i = 0; i < 3000; ++i)
        EXPECT_EQ(rt.block_on([](int n) -> task<int> { co_return n; }(i)), i);
    for (int i = 0; i < 20; ++i) { // and against its end
        rt.remove_worker(rt.workers().at(0));
        rt.add_worker();
        rt.block_on([]() -> task<> { co_return; }());
    }
}

// 30: storms of wake-ups, all but one of each suspension stale.
TEST(regression_30, wake_storms) {
    runtime rt({.workers = 2});
    std::mutex mutex;
    wake_ticket current;
    std::atomic<bool> over{false};
    auto sleeper = rt.spawn([](auto& m, auto& c) -> task<> {
        for (int i = 0; i < 5000; ++i) {
            co_await horae::suspend_with([&](wake_ticket t) {
                const std::lock_guard lock(m);
                c = t;
            });
        }
    }(mutex, current));
    std::vector<std::thread> storm;
    std::atomic<int> good{0};
    for (int i = 0; i < 3; ++i) {
        storm.emplace_back([&] {
            while (!over) {
                wake_ticket ticket;
                {
                    const std::lock_guard lock(mutex);
                    ticket = current;
                }
                good += horae::wake(ticket) ? 1 : 0;
            }
        });
    }
    sleeper.wait();
    over = true;
    for (auto& each : storm)
        each.join();
    EXPECT_EQ(good, 5000) << "each suspension is ended by exactly one ticket";
}

// 37: armed inside await_suspend, fired on another thread before it returns, then cancelled or finished
// there.
TEST(regression_37, a_wake_up_before_await_suspend_has_returned) {
    runtime rt({.workers = 2});
    struct exchange {
        horae::parker to_waker, back;
        wake_ticket ticket;
        bool over = false;
    } shared;
    std::thread waker([&shared] {
        for (;;) {
            shared.to_waker.park();
            if (shared.over)
                return;
            horae::wake(shared.ticket);
            shared.back.unpark();
        }
    });
    for (int i = 0; i < 1000; ++i) {
        rt.block_on([](exchange& e) -> task<> {
            auto kept = std::make_unique<int>(7);
            co_await horae::suspend_with([&](wake_ticket t) {
                e.ticket = t;
                e.to_waker.unpark();
                e.back.park(); // the wake-up has come and gone, and we are still in await_suspend
            });
            EXPECT_EQ(*kept, 7);
        }(shared));
    }
    shared.over = true;
    shared.to_waker.unpark();
    waker.join();
}

// 41: workers retire while tasks are added from outside.
TEST(regression_41, retire_against_spawn) {
    runtime rt({.workers = 2});
    std::atomic<bool> over{false};
    std::atomic<int> ran{0};
    int added = 0;
    std::thread churn([&] {
        while (!over) {
            rt.remove_worker(rt.workers().at(0));
            rt.add_worker();
        }
    });
    for (; added < 5000; ++added)
        rt.spawn([](auto& n) -> task<> {
              ++n;
              co_return;
          }(ran))
            .detach();
    over = true;
    churn.join();
    rt.shutdown(1h);
    EXPECT_EQ(ran, added);
}

// 42: the compiler must not keep a thread-local's address, nor write to the frame, across a suspension.
TEST(regression_42, current_worker_is_right_after_a_migration) {
    runtime rt({.workers = 4});
    std::atomic<int> moved{0};
    rt.block_on([](auto& m) -> task<> {
        co_await horae::with_scope([&](horae::scope& s) -> task<> {
            for (int i = 0; i < 64; ++i) {
                s.spawn([](auto& n) -> task<> {
                    for (int k = 0; k < 300; ++k) {
                        horae::worker* before = horae::current_worker();
                        co_await horae::yield();
                        horae::worker* after = horae::current_worker();
                        n += before != after ? 1 : 0;
                        EXPECT_EQ(after->running()->word.load().state, horae::slot_state::executing);
                        EXPECT_NE(after->running(), nullptr);
                    }
                }(m));
            }
            co_return;
        });
    }(moved));
}

} // namespace
