#include <horae/wheel.hpp>

#include <cstdio>

int main() {
    horae::timing_wheel<const char*> wheel; // you tell it the time, it calls you back
    const auto timeout = wheel.schedule(30'000'000'000, "timeout");
    const auto ticker = wheel.schedule(1'000'000'000, "tick");
    wheel.schedule(2'500'000'000, "answer");

    for (std::int64_t now = 0; now < 5'000'000'000; now = *wheel.next_deadline()) {
        wheel.advance(now, [&](horae::timer_id id, std::int64_t deadline_ns, const char*& name) {
            std::printf("%.1f s: %s\n", static_cast<double>(deadline_ns) / 1e9, name);
            id == ticker ? wheel.rearm(id, deadline_ns + 1'000'000'000) : wheel.cancel(timeout);
        });
    }
}
