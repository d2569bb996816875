// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <fstream>

namespace demo {

inline std::int64_t read_clock_ns(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}
inline std::int64_t now_ns() {
    return read_clock_ns(CLOCK_MONOTONIC);
}
inline std::int64_t thread_cpu_ns() {
    return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

// How long the calling thread was ready to run while others had the cores; zero where Linux does not say.
inline std::int64_t thread_waited_ns() {
    std::int64_t ran_ns = 0;
    std::int64_t waited_ns = 0;
    std::ifstream("/proc/thread-self/schedstat") >> ran_ns >> waited_ns;
    return waited_ns;
}

inline void sleep_until(std::int64_t time_ns) {
    const timespec time{static_cast<std::time_t>(time_ns / 1'000'000'000),
                        static_cast<long>(time_ns % 1'000'000'000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
    }
}

} // namespace demo
