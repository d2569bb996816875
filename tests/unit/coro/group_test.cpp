// SPDX-License-Identifier: Apache-2.0
//
// when_all, when_any, scope, with_stop: children never outlive the suspension that waits for them.
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace {

using horae::runtime;
using horae::scope;
using horae::task;
using horae::wake_ticket;

task<int> number(int n, int yields) {
    for (int i = 0; i < yields; ++i)
        co_await horae::yield();
    co_return n;
}
task<> nothing() {
    co_return;
}
task<> thrower() {
    co_await horae::yield();
    throw std::runtime_error("child");
}
task<> for_ever() {
    co_await horae::suspend_with([](wake_ticket) {});
}

struct counted {
    explicit counted(std::atomic<int>& n) : n_(&n) { ++n; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*n_; }
    std::atomic<int>* n_;
};
task<> hold(std::atomic<int>& n) {
    const counted here(n);
    co_await for_ever();
}

class group : public testing::TestWithParam<unsigned> {
protected:
    runtime rt{{.workers = GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(workers, group, testing::Values(1U, 2U));

TEST_P(group, when_all_gives_every_result) {
    rt.block_on([]() -> task<> {
        auto [a, b, c, d] = co_await horae::when_all(
            number(1, 3), number(2, 0), nothing(),
            []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(4); }());
        EXPECT_EQ(a + b, 3);
        EXPECT_EQ(*d, 4);
        static_cast<void>(c);
    }());
}

TEST_P(group, when_all_throws_after_all_have_ended) {
    rt.block_on([]() -> task<> {
        bool ended = false;
        auto slow = [](bool& e) -> task<> {
            for (int i = 0; i < 50; ++i)
                co_await horae::yield();
            e = true;
        };
        EXPECT_THROW(co_await horae::when_all(thrower(), slow(ended)), std::runtime_error);
        EXPECT_TRUE(ended);
    }());
}

TEST_P(group, when_any_cancels_the_losers_before_it_goes_on) {
    rt.block_on([]() -> task<> {
        for (int round = 0; round < 200; ++round) {
            std::atomic<int> alive{0};
            auto result = co_await horae::when_any(hold(alive), number(7, round % 5), hold(alive));
            EXPECT_EQ(result.index(), 1U);
            EXPECT_EQ(std::get<1>(result), 7);
            EXPECT_EQ(alive, 0);
        }
    }());
}

TEST_P(group, cancelling_the_parent_cancels_the_children_first) {
    rt.block_on([]() -> task<> {
        for (int round = 0; round < 200; ++round) {
            std::atomic<int> alive{0};
            std::atomic<bool> parent_gone{false};
            struct check {
                std::atomic<int>* alive;
                std::atomic<bool>* gone;
                ~check() {
                    EXPECT_EQ(*alive, 0) << "a child outlived its parent's frame";
                    *gone = true;
                }
            };
            auto parent = horae::spawn([](auto& a, auto& g) -> task<> {
                const check c{&a, &g};
                co_await horae::when_all(hold(a), hold(a));
            }(alive, parent_gone));
            for (int i = 0; i < round % 7; ++i)
                co_await horae::yield();
            parent.cancel();
            EXPECT_THROW(co_await parent, horae::task_cancelled);
            EXPECT_EQ(alive, 0);
        }
    }());
}

TEST_P(group, scope_waits_for_all_children) {
    rt.block_on([]() -> task<> {
        std::atomic<int> ended{0};
        const int n = co_await horae::with_scope([&](scope& s) -> task<int> {
            for (int i = 0; i < 100; ++i) {
                s.spawn([](auto& e, int k) -> task<> {
                    co_await number(0, k % 7);
                    ++e;
                }(ended, i));
            }
            co_return 5;
        });
        EXPECT_EQ(n, 5);
        EXPECT_EQ(ended, 100);
    }());
}

TEST_P(group, scope_children_may_spawn_more) {
    rt.block_on([]() -> task<> {
        std::atomic<int> ended{0};
        co_await horae::with_scope([&](scope& s) -> task<> {
            s.spawn([](scope& sc, auto& e) -> task<> {
                co_await horae::yield();
                for (int i = 0; i < 10; ++i)
                    sc.spawn([](auto& x) -> task<> {
                        co_await horae::yield();
                        ++x;
                    }(e));
            }(s, ended));
            co_return;
        });
        EXPECT_EQ(ended, 10);
    }());
}

TEST_P(group, an_exception_cancels_the_scope) {
    rt.block_on([]() -> task<> {
        std::atomic<int> alive{0};
        auto run = [&]() -> task<> {
            co_await horae::with_scope([&](scope& s) -> task<> {
                s.spawn(hold(alive));
                s.spawn(thrower());
                co_await for_ever();
            });
        };
        EXPECT_THROW(co_await run(), std::runtime_error);
        EXPECT_EQ(alive, 0);
    }());
}

TEST_P(group, cancelling_the_parent_of_a_scope) {
    rt.block_on([]() -> task<> {
        for (int round = 0; round < 100; ++round) {
            std::atomic<int> alive{0};
            auto parent = horae::spawn([](auto& a) -> task<> {
                co_await horae::with_scope([&](scope& s) -> task<> {
                    for (int i = 0; i < 5; ++i)
                        s.spawn(hold(a));
                    co_await for_ever();
                });
            }(alive));
            for (int i = 0; i < round % 9; ++i)
                co_await horae::yield();
            parent.cancel();
            EXPECT_THROW(co_await parent, horae::task_cancelled);
            EXPECT_EQ(alive, 0);
        }
    }());
}

TEST_P(group, a_stop_token_cancels) {
    std::stop_source source;
    std::atomic<int> alive{0};
    auto waiting = rt.spawn([](std::stop_token token, auto& a) -> task<bool> {
        co_return co_await horae::with_stop(token, hold(a));
    }(source.get_token(), alive));
    while (alive == 0)
        std::this_thread::yield();
    source.request_stop();
    EXPECT_FALSE(waiting.wait());
    EXPECT_EQ(alive, 0);

    const auto at_once = rt.block_on([](std::stop_token token) -> task<std::optional<int>> {
        co_return co_await horae::with_stop(token, number(1, 1000));
    }(source.get_token()));
    EXPECT_FALSE(at_once.has_value());

    const auto unstopped = rt.block_on([]() -> task<std::optional<int>> {
        co_return co_await horae::with_stop(std::stop_token{}, number(3, 3));
    }());
    EXPECT_EQ(unstopped, 3);
}

} // namespace
