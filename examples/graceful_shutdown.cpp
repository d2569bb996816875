// SPDX-License-Identifier: Apache-2.0
//
// Orderly shutdown: what can finish in time finishes, the rest is cancelled, and destructors run either way.
#include <horae/horae.hpp>

#include <chrono>
#include <cstdio>

namespace {

struct connection {
    const char* name;
    ~connection() { std::printf("%s closed\n", name); }
};

horae::task<> quick() {
    const connection c{"quick"};
    for (int i = 0; i < 100; ++i)
        co_await horae::yield();
}

horae::task<> endless() {
    const connection c{"endless"};
    co_await horae::suspend_with([](horae::wake_ticket) {}); // nobody will wake it
}

} // namespace

int main() {
    using namespace std::chrono_literals;
    horae::runtime rt({.workers = 2});
    auto first = rt.spawn(quick());
    rt.spawn(endless()).detach();
    first.wait();
    const auto report = rt.shutdown(20ms);
    std::printf("%llu cancelled\n", static_cast<unsigned long long>(report.cancelled));
    return report.cancelled == 1 ? 0 : 1;
}
