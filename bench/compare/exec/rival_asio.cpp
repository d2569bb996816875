// SPDX-License-Identifier: Apache-2.0
//
// Boost.Asio's C++20 coroutines. It has no join: a counter stands in, and the last one to end resumes the
// parent. Its yield is a post to the executor. One worker runs an io_context with concurrency hint 1, without
// locks.
#include "workload.hpp"

#include <utility> // before Asio 1.74, which forgets it

#include <boost/asio.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace bench {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

class machine {
public:
    explicit machine(int workers) : context_(workers), workers_(workers) {}

    template <class Make>
    double run(Make make) {
        double result = 0;
        asio::co_spawn(
            context_,
            [&]() -> awaitable<void> {
                const stopwatch time;
                co_await make(context_);
                result = time.nanoseconds();
            },
            asio::detached);
        std::vector<std::thread> threads;
        for (int i = 1; i < workers_; ++i)
            threads.emplace_back([this] { context_.run(); });
        context_.run();
        for (auto& each : threads)
            each.join();
        return result;
    }

private:
    asio::io_context context_;
    int workers_;
};

awaitable<void> empty() {
    co_return;
}

awaitable<void> yielder(int count) {
    for (int i = 0; i < count; ++i)
        co_await asio::post(co_await asio::this_coro::executor, use_awaitable);
}

template <class Make>
awaitable<void> many(asio::io_context& context, int count, Make make) {
    std::atomic<int> left{count};
    asio::steady_timer all(context, asio::steady_timer::time_point::max());
    for (int i = 0; i < count; ++i) {
        asio::co_spawn(context, make(), [&](std::exception_ptr) {
            if (left.fetch_sub(1) == 1)
                asio::post(context, [&] { all.cancel(); });
        });
    }
    boost::system::error_code ignored;
    co_await all.async_wait(asio::redirect_error(use_awaitable, ignored));
}

} // namespace

void run_asio(settings with) {
    const auto measure = [&](const char* name, int operations, auto make) {
        if (!with.wanted(name))
            return;
        machine here(with.workers);
        with.report(name, operations, here.run(make));
    };
    measure("spawn_join", 300'000, [](asio::io_context& context) -> awaitable<void> {
        for (int i = 0; i < 300'000; ++i)
            co_await asio::co_spawn(context, empty(), use_awaitable);
    });
    measure("yield_1", 1'000'000,
            [](asio::io_context& c) { return many(c, 1, [] { return yielder(1'000'000); }); });
    measure("yield_1k", 1'000'000,
            [](asio::io_context& c) { return many(c, 1'000, [] { return yielder(1'000); }); });
    measure("yield_100k", 2'000'000,
            [](asio::io_context& c) { return many(c, 100'000, [] { return yielder(20); }); });
    measure("fan_out_in_100k", 100'000,
            [](asio::io_context& c) { return many(c, 100'000, [] { return empty(); }); });
}

} // namespace bench
