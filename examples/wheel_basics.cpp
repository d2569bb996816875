// SPDX-License-Identifier: Apache-2.0
//
// The smallest use of the wheel. It has no clock: time is a number that you hand to advance(), here one that
// we make up. Start with this one to see what each call does.
#include <horae/wheel.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

namespace {

constexpr std::int64_t ms = 1'000'000; // all times are nanoseconds

std::string fired; // the names of the timers, in the order in which they fired

void expect(const char* what, bool holds) {
    if (!holds) {
        std::fprintf(stderr, "wrong: %s (fired: '%s')\n", what, fired.c_str());
        std::exit(1);
    }
    std::printf("ok: %s\n", what);
}

} // namespace

int main() {
    horae::timing_wheel<char> wheel({.start_ns = 0});
    const auto on_fire = [](horae::timer_id, std::int64_t, char& name) { fired += name; };

    // schedule: a deadline and a payload of any type. Timers fire in order of their deadlines.
    wheel.schedule(20 * ms, 'b');
    wheel.schedule(10 * ms, 'a');
    expect("the next deadline is known", wheel.next_deadline() == 10 * ms);
    wheel.advance(10 * ms - 1, on_fire);
    expect("nothing fires a nanosecond early", fired.empty());
    wheel.advance(20 * ms, on_fire);
    expect("both have fired, in order", fired == "ab");

    // cancel: true means that it will never fire. The id of a timer that is gone stays harmless.
    const horae::timer_id c = wheel.schedule(30 * ms, 'c');
    expect("cancelled", wheel.cancel(c));
    expect("not twice", !wheel.cancel(c) && !wheel.contains(c));

    // rearm: a new deadline, the same id and payload. This is how a timeout is put off.
    const horae::timer_id d = wheel.schedule(30 * ms, 'd');
    wheel.rearm(d, 50 * ms);
    wheel.advance(49 * ms, on_fire);
    expect("put off", fired == "ab");
    wheel.advance(50 * ms, on_fire);
    expect("and fired at its new deadline", fired == "abd");

    // slack: it may fire up to 10 ms late, which lets timers share wake-ups. Without: as exact as you call.
    const horae::timer_id e = wheel.schedule(60 * ms, 'e', 10 * ms);
    const auto wake_up = wheel.next_deadline();
    expect("the wake-up is within the slack", wake_up >= 60 * ms && wake_up <= 70 * ms);
    wheel.advance(70 * ms, on_fire);
    expect("fired within its slack", fired == "abde" && !wheel.contains(e));

    // budget: at most so many callbacks, so that a burst does not keep a loop from its other work.
    for (char name = '0'; name <= '9'; ++name) {
        wheel.schedule(80 * ms, name);
    }
    expect("four of ten", wheel.advance(80 * ms, on_fire, 4) == 4 && fired == "abde0123");
    expect("what is left is due at once", wheel.next_deadline() <= 80 * ms);
    wheel.advance(80 * ms, on_fire);
    expect("the rest follows in order", fired == "abde0123456789");

    // INT64_MAX: never, but held until it is cancelled.
    const horae::timer_id never = wheel.schedule(std::numeric_limits<std::int64_t>::max(), 'n');
    wheel.advance(std::numeric_limits<std::int64_t>::max(), on_fire);
    expect("never is never", wheel.contains(never) && !wheel.next_deadline());
}
