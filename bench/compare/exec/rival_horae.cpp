// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

#include <horae/horae.hpp>

#include <atomic>
#include <vector>

namespace bench {
namespace {

using horae::join_handle;
using horae::task;
using horae::wake_ticket;

task<> empty() {
    co_return;
}

// A notification with one place and one waiter, as Tokio's Notify is used here.
class notification {
public:
    void notify() noexcept {
        if (state_.exchange(set, std::memory_order_acq_rel) == waiting)
            horae::wake(ticket_);
    }
    bool await_ready() noexcept {
        if (state_.load(std::memory_order_acquire) != set)
            return false;
        state_.store(none, std::memory_order_relaxed); // one waiter: nobody else takes it
        return true;
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> at) noexcept {
        ticket_ = horae::begin_suspend(at.promise());
        int expected = none;
        if (state_.compare_exchange_strong(expected, waiting, std::memory_order_release))
            return true;
        horae::revoke_suspend(at.promise());
        return false;
    }
    void await_resume() noexcept { state_.store(none, std::memory_order_relaxed); }

private:
    enum : int { none, waiting, set };
    std::atomic<int> state_{none};
    wake_ticket ticket_;
};

task<double> spawn_join(int count) {
    const stopwatch time;
    for (int i = 0; i < count; ++i) {
        auto handle = horae::spawn(empty());
        co_await handle;
    }
    co_return time.nanoseconds();
}

task<> yielder(int count) {
    for (int i = 0; i < count; ++i)
        co_await horae::yield();
}

template <class Make>
task<double> many(int count, Make make) {
    std::vector<join_handle<void>> handles;
    handles.reserve(static_cast<std::size_t>(count));
    const stopwatch time;
    for (int i = 0; i < count; ++i)
        handles.push_back(horae::spawn(make(i)));
    for (auto& each : handles)
        co_await each;
    co_return time.nanoseconds();
}

task<double> ping_pong(int rounds) {
    notification a;
    notification b;
    const stopwatch time;
    co_await horae::when_all(
        [](notification& x, notification& y, int n) -> task<> {
            for (int i = 0; i < n; ++i) {
                x.notify();
                co_await y;
            }
        }(a, b, rounds),
        [](notification& x, notification& y, int n) -> task<> {
            for (int i = 0; i < n; ++i) {
                co_await x;
                y.notify();
            }
        }(a, b, rounds));
    co_return time.nanoseconds();
}

task<std::uint64_t> fib(std::uint32_t n) {
    if (n < 2)
        co_return n;
    auto left = horae::spawn(fib(n - 1));
    const std::uint64_t right = co_await fib(n - 2);
    co_return co_await left + right;
}

task<> computes(int i) {
    volatile std::uint64_t keep = spin(static_cast<std::uint64_t>(i));
    static_cast<void>(keep);
    co_return;
}

task<> waits(wake_ticket& key) {
    co_await horae::suspend_with([&key](wake_ticket mine) { key = mine; });
}

task<double> cancel_suspended(int count) {
    std::vector<wake_ticket> keys(static_cast<std::size_t>(count));
    std::vector<join_handle<void>> handles;
    for (auto& key : keys)
        handles.push_back(horae::spawn(waits(key)));
    while (keys.front().slot == nullptr || keys.back().slot == nullptr)
        co_await horae::yield();
    for (int i = 0; i < 200; ++i)
        co_await horae::yield();
    const stopwatch time;
    for (auto& each : handles)
        each.cancel();
    for (auto& each : handles)
        co_await each.ended();
    co_return time.nanoseconds();
}

// What every task of wake_1M_suspended waits at: a list of tickets.
task<> at_gate(wake_ticket& key, std::atomic<int>& arrived) {
    co_await horae::suspend_with([&](wake_ticket mine) {
        key = mine;
        arrived.fetch_add(1, std::memory_order_relaxed);
    });
}

task<double> wake_all(int count, long& bytes) {
    const long before = resident_bytes();
    std::vector<wake_ticket> keys(static_cast<std::size_t>(count)); // counted: it is the gate's memory
    std::vector<join_handle<void>> handles;
    handles.reserve(keys.size());
    std::atomic<int> arrived{0};
    for (auto& key : keys)
        handles.push_back(horae::spawn(at_gate(key, arrived)));
    while (arrived.load(std::memory_order_relaxed) != count)
        co_await horae::yield();
    for (int i = 0; i < 100; ++i)
        co_await horae::yield();
    bytes = (resident_bytes() - before) / count;
    const stopwatch time;
    for (const auto& key : keys)
        horae::wake(key);
    for (auto& each : handles)
        co_await each;
    co_return time.nanoseconds();
}

void run_outside(const settings& with, horae::runtime& rt) {
    if (with.wanted("spawn_outside")) {
        std::vector<join_handle<void>> handles;
        handles.reserve(100'000);
        const stopwatch time;
        for (int i = 0; i < 100'000; ++i)
            handles.push_back(rt.spawn(empty()));
        for (auto& each : handles)
            each.wait();
        with.report("spawn_outside", 100'000, time.nanoseconds());
    }
    if (with.wanted("foreign_wake")) {
        constexpr int rounds = 20'000;
        notification to;
        horae::parker back;
        auto echo = rt.spawn([](notification& t, horae::parker& b) -> task<> {
            for (int i = 0; i < rounds; ++i) {
                co_await t;
                b.unpark();
            }
        }(to, back));
        const stopwatch time;
        for (int i = 0; i < rounds; ++i) {
            to.notify();
            back.park();
        }
        with.report("foreign_wake", rounds, time.nanoseconds());
        echo.wait();
    }
}

} // namespace

void run_horae(settings with) {
    const bool current = with.rival == "horae-current";
    const auto fresh = [&] {
        return horae::runtime_options{.workers = static_cast<std::uint32_t>(with.workers),
                                      .current_thread = current,
                                      .slot_capacity = 1'100'000};
    };
    const auto inside = [&](const char* name, int operations, auto make) {
        if (!with.wanted(name))
            return;
        horae::runtime rt(fresh());
        with.report(name, operations, rt.block_on(make()));
    };
    inside("spawn_join", 300'000, [] { return spawn_join(300'000); });
    inside("yield_1", 1'000'000, [] { return many(1, [](int) { return yielder(1'000'000); }); });
    inside("yield_1k", 1'000'000, [] { return many(1'000, [](int) { return yielder(1'000); }); });
    inside("yield_100k", 2'000'000, [] { return many(100'000, [](int) { return yielder(20); }); });
    inside("ping_pong", 300'000, [] { return ping_pong(300'000); });
    inside("fan_out_in_100k", 100'000, [] { return many(100'000, [](int) { return empty(); }); });
    inside("skewed", 20'000, [] { return many(20'000, [](int i) { return computes(i); }); });
    inside("fib_20", 10'945, []() -> task<double> {
        const stopwatch time;
        if (co_await fib(20) != 6765)
            std::abort();
        co_return time.nanoseconds();
    });
    inside("cancel_suspended", 100'000, [] { return cancel_suspended(100'000); });
    if (!current) {
        horae::runtime rt(fresh());
        run_outside(with, rt);
    }
    if (with.wanted("wake_1M_suspended")) {
        horae::runtime rt(fresh());
        long bytes = 0;
        const double time = rt.block_on(wake_all(1'000'000, bytes));
        with.report("wake_1M_suspended", 1'000'000, time, bytes);
    }
}

} // namespace bench
