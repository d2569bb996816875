// SPDX-License-Identifier: Apache-2.0
//
// The wheel in libuv's loop: one uv_timer_t drives all timers. libuv counts milliseconds, the wheel decides
// what is due in nanoseconds: a wake-up that comes too soon fires nothing and is set again.
#include <horae/wheel.hpp>

#include <uv.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>

namespace {

constexpr std::int64_t ms = 1'000'000;

class uv_wheel {
public:
    using callback = std::function<void(horae::timer_id, std::int64_t deadline_ns)>;
    explicit uv_wheel(uv_loop_t* loop) : wheel_({.start_ns = now_ns()}) {
        uv_timer_init(loop, &timer_);
        timer_.data = this;
    }

    static std::int64_t now_ns() { return static_cast<std::int64_t>(uv_hrtime()); }

    horae::timer_id call_at(std::int64_t deadline_ns, callback call) {
        const horae::timer_id id = wheel_.schedule(deadline_ns, std::move(call));
        set_wake_up();
        return id;
    }
    bool call_again(horae::timer_id id, std::int64_t deadline_ns) {
        const bool armed = wheel_.rearm(id, deadline_ns);
        set_wake_up();
        return armed;
    }
    bool cancel(horae::timer_id id) { return wheel_.cancel(id); }

private:
    // With no timer left, nothing keeps uv_run() from returning.
    void set_wake_up() {
        const auto next_ns = wheel_.next_deadline();
        if (!next_ns) {
            uv_timer_stop(&timer_);
            return;
        }
        uv_update_time(timer_.loop);
        const std::int64_t wait_ms = (*next_ns - now_ns() + ms - 1) / ms;
        const auto on_time = [](uv_timer_t* timer) { static_cast<uv_wheel*>(timer->data)->on_wake_up(); };
        uv_timer_start(&timer_, on_time, wait_ms > 0 ? static_cast<std::uint64_t>(wait_ms) : 0, 0);
    }

    void on_wake_up() {
        wheel_.advance(now_ns(), [](horae::timer_id id, std::int64_t at, callback& call) { call(id, at); });
        set_wake_up();
    }

    uv_timer_t timer_{};
    horae::timing_wheel<callback> wheel_;
};

} // namespace

int main() {
    uv_wheel wheel(uv_default_loop());
    int ticks = 0, early = 0, answers = 0, timeouts = 0;
    const std::int64_t start_ns = wheel.now_ns();
    const auto timeout = wheel.call_at(start_ns + 60'000 * ms, [&](auto...) { ++timeouts; });
    wheel.call_at(start_ns + 20 * ms, [&](auto...) { answers += wheel.cancel(timeout) ? 1 : 0; });
    wheel.call_at(start_ns + 5 * ms, [&](horae::timer_id self, std::int64_t deadline_ns) {
        early += wheel.now_ns() < deadline_ns ? 1 : 0;
        if (++ticks < 3) {
            wheel.call_again(self, deadline_ns + 5 * ms); // periodic, without drift
        }
    });
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    std::printf("ticks %d, early %d, answers %d, timeouts %d\n", ticks, early, answers, timeouts);
    return ticks == 3 && early == 0 && answers == 1 && timeouts == 0 ? 0 : 1;
}
