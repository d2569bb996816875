// SPDX-License-Identifier: Apache-2.0
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace {

using horae::join_handle;
using horae::runtime;
using horae::task;

task<int> answer() {
    co_return 42;
}
task<int> twice(task<int> inner) {
    co_return 2 * co_await std::move(inner);
}
task<std::unique_ptr<int>> move_only() {
    co_return std::make_unique<int>(7);
}
task<int> thrower() {
    throw std::runtime_error("thrown by a task");
    co_return 0;
}

TEST(task, block_on_gives_the_result) {
    runtime rt({.workers = 2});
    EXPECT_EQ(rt.block_on(answer()), 42);
    EXPECT_EQ(rt.block_on(twice(answer())), 84);
}

TEST(task, results_may_be_move_only) {
    runtime rt({.workers = 1});
    EXPECT_EQ(*rt.block_on(move_only()), 7);
}

TEST(task, a_result_may_be_a_reference) {
    runtime rt({.workers = 1});
    int x = 0;
    int& y = rt.block_on([](int& r) -> task<int&> { co_return r; }(x));
    EXPECT_EQ(&x, &y);
}

TEST(task, exceptions_travel_through_awaits_to_the_caller) {
    runtime rt({.workers = 1});
    EXPECT_THROW(rt.block_on(twice(thrower())), std::runtime_error);
}

TEST(task, spawn_and_join_from_inside) {
    runtime rt({.workers = 2});
    const int sum = rt.block_on([]() -> task<int> {
        int total = 0;
        for (int i = 0; i < 1000; ++i) {
            auto handle = horae::spawn(answer());
            total += co_await handle;
        }
        co_return total;
    }());
    EXPECT_EQ(sum, 42'000);
}

TEST(task, spawn_from_outside_and_wait) {
    runtime rt({.workers = 2});
    std::vector<join_handle<int>> handles;
    for (int i = 0; i < 1000; ++i)
        handles.push_back(rt.spawn(answer()));
    int total = 0;
    for (auto& handle : handles)
        total += handle.wait();
    EXPECT_EQ(total, 42'000);
    EXPECT_EQ(rt.metrics().completed, 1000U);
}

TEST(task, yield_lets_others_run) {
    runtime rt({.workers = 1});
    std::string order;
    rt.block_on([](std::string& out) -> task<> {
        auto other = [](std::string& o, char c) -> task<> {
            for (int i = 0; i < 3; ++i) {
                o += c;
                co_await horae::yield();
            }
        };
        auto a = horae::spawn(other(out, 'a'));
        auto b = horae::spawn(other(out, 'b'));
        co_await a;
        co_await b;
    }(order));
    EXPECT_EQ(order.size(), 6U);
    EXPECT_NE(order, "aaabbb");
    EXPECT_NE(order, "bbbaaa");
}

TEST(task, current_thread_mode_runs_on_the_caller) {
    runtime rt({.current_thread = true});
    const auto here = std::this_thread::get_id();
    const auto there = rt.block_on([]() -> task<std::thread::id> {
        co_await horae::yield();
        co_return std::this_thread::get_id();
    }());
    EXPECT_EQ(here, there);
    EXPECT_EQ(rt.metrics().workers, 1U);
}

} // namespace
