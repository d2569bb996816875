// SPDX-License-Identifier: Apache-2.0
//
// Chains a million deep, and a million awaits in a row, cost no stack. Optimised builds only: a compiler that
// does not turn the transfer into a jump (g++ without -O2) returns through every frame.
#include <horae/horae.hpp>

#include <gtest/gtest.h>

namespace {

using horae::runtime;
using horae::task;

constexpr int million = 1'000'000;

task<int> down(int depth) {
    if (depth == 0)
        co_return 0;
    co_return 1 + co_await down(depth - 1);
}

task<int> ready() {
    co_return 1;
}

task<> down_and_wait(int depth, bool& arrived) {
    if (depth != 0) {
        co_await down_and_wait(depth - 1, arrived);
        co_return;
    }
    arrived = true;
    co_await horae::suspend_with([](horae::wake_ticket) {});
}

TEST(deep, a_million_nested_awaits) {
    runtime rt({.workers = 1});
    EXPECT_EQ(rt.block_on(down(million)), million);
}

TEST(deep, a_million_awaits_in_a_row) {
    runtime rt({.workers = 1});
    const int sum = rt.block_on([]() -> task<int> {
        int total = 0;
        for (int i = 0; i < million; ++i)
            total += co_await ready();
        co_return total;
    }());
    EXPECT_EQ(sum, million);
}

TEST(deep, cancelling_a_chain_a_million_deep) {
    runtime rt({.workers = 1});
    rt.block_on([]() -> task<> {
        bool arrived = false;
        auto handle = horae::spawn(down_and_wait(million, arrived));
        while (!arrived)
            co_await horae::yield();
        handle.cancel();
        EXPECT_THROW(co_await handle, horae::task_cancelled);
    }());
}

} // namespace
