// SPDX-License-Identifier: Apache-2.0
//
// The wheel in Boost.Asio's loop: a single steady_timer, set to next_deadline(), drives a hundred thousand
// timers. None of them costs an Asio object, and arming or cancelling one rarely reaches Asio at all.
#include <horae/wheel.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>

namespace {

class asio_wheel {
public:
    using callback = std::function<void(std::int64_t deadline_ns)>;

    explicit asio_wheel(boost::asio::io_context& loop) : timer_(loop), wheel_({.start_ns = now_ns()}) {}

    static std::int64_t now_ns() {
        return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    horae::timer_id call_at(std::int64_t deadline_ns, callback call) {
        const horae::timer_id id = wheel_.schedule(deadline_ns, std::move(call));
        wait_for_next();
        return id;
    }

    // The wait goes on: a wake-up for a timer that is gone does no harm.
    bool cancel(horae::timer_id id) { return wheel_.cancel(id); }

private:
    // Asio hears of it only when the next deadline has come nearer, or the one waited for has passed.
    void wait_for_next() {
        const auto next_ns = wheel_.next_deadline();
        if (!next_ns || (waiting_ && *next_ns >= wake_ns_)) {
            return;
        }
        wake_ns_ = *next_ns;
        waiting_ = true;
        timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(wake_ns_)));
        timer_.async_wait([this](const boost::system::error_code& error) {
            if (!error) { // otherwise a nearer deadline has replaced this wait
                waiting_ = false;
                wheel_.advance(now_ns(), [](horae::timer_id, std::int64_t at, callback& call) { call(at); });
                wait_for_next();
            }
        });
    }

    boost::asio::steady_timer timer_;
    horae::timing_wheel<callback> wheel_;
    std::int64_t wake_ns_ = 0;
    bool waiting_ = false;
};

} // namespace

int main() {
    boost::asio::io_context loop;
    asio_wheel wheel(loop);
    int fired = 0, misplaced = 0, cancelled = 0;
    std::int64_t last_ns = 0;
    const std::int64_t start_ns = wheel.now_ns() + 100'000'000;
    for (std::int64_t i = 0; i < 100'000; ++i) {
        const auto id = wheel.call_at(start_ns + i * 7919 % 100'000'000, [&](std::int64_t at) {
            misplaced += at >= std::exchange(last_ns, at) && at <= wheel.now_ns() ? 0 : 1;
            ++fired;
        });
        cancelled += i % 2 == 0 && wheel.cancel(id) ? 1 : 0;
    }
    loop.run();
    std::printf("fired %d, cancelled %d, early or out of order %d\n", fired, cancelled, misplaced);
    return fired == 50'000 && cancelled == 50'000 && misplaced == 0 ? 0 : 1;
}
