// SPDX-License-Identifier: Apache-2.0
//
// Our wheel, as its users have it: exact nanoseconds, deadline order, ids that stay recognisable.
#include "chain.hpp"

#include <horae/version.hpp>
#include <horae/wheel.hpp>

namespace {

struct rival {
    using handle = horae::timer_id;

    static bench::rival_info info() {
        return {.name = "horae",
                .version = std::to_string(HORAE_VERSION_MAJOR) + "." + std::to_string(HORAE_VERSION_MINOR) +
                           "." + std::to_string(HORAE_VERSION_PATCH),
                .language = "C++",
                .resolution = "1 ns",
                .handle_bytes = sizeof(handle),
                .next_deadline = true};
    }

    rival(std::size_t capacity, std::int64_t start_ns)
        : wheel_(horae::wheel_options{.start_ns = start_ns, .reserve = capacity}) {}

    handle schedule(std::int64_t deadline_ns, bench::payload p) { return wheel_.schedule(deadline_ns, p); }
    bool cancel(handle h) { return wheel_.cancel(h); }
    handle rearm(handle h, std::int64_t deadline_ns) {
        wheel_.rearm(h, deadline_ns);
        return h;
    }
    template <class F>
    void advance(std::int64_t now_ns, F&& on_fire) {
        wheel_.advance(now_ns, [&](horae::timer_id, std::int64_t, bench::payload& p) { on_fire(p); });
    }
    std::int64_t next_deadline() { return *wheel_.next_deadline(); }

    horae::timing_wheel<bench::payload> wheel_;
};

HORAE_BENCH_RIVAL(rival)

} // namespace
