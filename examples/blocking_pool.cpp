// SPDX-License-Identifier: Apache-2.0
//
// A call that blocks goes to a thread where it may; the worker stays free for other tasks meanwhile.
#include <horae/horae.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

horae::task<int> slow_read() {
    co_return co_await horae::spawn_blocking([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5)); // a file, a driver, a library that blocks
        return 7;
    });
}

horae::task<int> both() {
    auto [a, b] = co_await horae::when_all(slow_read(), slow_read());
    co_return a + b;
}

} // namespace

int main() {
    horae::runtime rt({.workers = 1, .blocking_threads = 2});
    const int sum = rt.block_on(both());
    std::printf("%d\n", sum);
    return sum == 14 ? 0 : 1;
}
