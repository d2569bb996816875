// SPDX-License-Identifier: Apache-2.0
//
// A pipeline in a scope: stages run concurrently, an error anywhere ends all of them, and with_scope returns
// only when every stage has ended.
#include <horae/horae.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>

namespace {

horae::task<> parse(std::atomic<int>& parsed, int item) {
    co_await horae::yield();
    if (item < 0)
        throw std::invalid_argument("a negative item");
    ++parsed;
}

horae::task<int> run(int items, int bad) {
    std::atomic<int> parsed{0};
    co_await horae::with_scope([&](horae::scope& stage) -> horae::task<> {
        for (int i = 0; i < items; ++i)
            stage.spawn(parse(parsed, i == bad ? -1 : i));
        co_return;
    });
    co_return parsed.load();
}

} // namespace

int main() {
    horae::runtime rt({.workers = 2});
    const int good = rt.block_on(run(100, -1));
    std::printf("%d items parsed\n", good);
    try {
        rt.block_on(run(100, 50));
        return 1;
    } catch (const std::invalid_argument& e) {
        std::printf("stopped: %s\n", e.what());
    }
    return good == 100 ? 0 : 1;
}
