// SPDX-License-Identifier: Apache-2.0
//
// The smallest program: a task that awaits another one and starts a third.
#include <horae/horae.hpp>

#include <cstdio>

namespace {

horae::task<int> answer() {
    co_return 42;
}

horae::task<> hello() {
    std::printf("hello from worker %u\n", horae::current_worker()->index());
    auto other = horae::spawn(answer());
    const int here = co_await answer();
    const int there = co_await other;
    std::printf("%d and %d\n", here, there);
}

} // namespace

int main() {
    horae::runtime rt({.workers = 2});
    rt.block_on(hello());
}
