// SPDX-License-Identifier: Apache-2.0
//
// The workloads of the executor benchmark; rust/src/main.rs and go/main.go have the same ones.
//
//   spawn_join         inside a task: start an empty task and wait for it, one after the other
//   spawn_outside      a foreign thread starts 100,000 empty tasks, then waits for all
//   yield_1, 1k, 100k  that many tasks yield in turn; per yield
//   ping_pong          two tasks wake each other through a one-place notification; per round trip
//   fan_out_in_100k    one task starts 100,000 empty tasks, then waits for all
//   skewed             one task starts 20,000 that compute for about a microsecond, then waits for all
//   fib_20             recursive fork and join; per fork
//   foreign_wake       a foreign thread wakes a task that wakes the thread; per round trip
//   wake_1M_suspended  a million tasks wait; wake all and wait for all; bytes: resident memory for each
//   cancel_suspended   100,000 tasks wait; cancel and reap each
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace bench {

struct settings {
    std::string rival;
    int workers = 1;
    std::string only;

    bool wanted(const char* name) const { return only.empty() || only == name; }

    void report(const char* name, int operations, double nanoseconds, long bytes = 0) const {
        std::printf(
            "{\"rival\":\"%s\",\"workload\":\"%s\",\"workers\":%d,\"operations\":%d,\"ns_per_op\":%.2f",
            rival.c_str(), name, workers, operations, nanoseconds / operations);
        if (bytes != 0)
            std::printf(",\"bytes\":%ld", bytes);
        std::printf("}\n");
        std::fflush(stdout);
    }
};

class stopwatch {
public:
    double nanoseconds() const {
        return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

inline std::uint64_t spin(std::uint64_t x) {
    x |= 1;
    for (int i = 0; i < 500; ++i) { // shifts and xors, which no compiler folds
        x ^= x << 13U;
        x ^= x >> 7U;
        x ^= x << 17U;
    }
    return x;
}

inline long resident_bytes() {
    long size = 0;
    long pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
        if (std::fscanf(file, "%ld %ld", &size, &pages) != 2)
            pages = 0;
        std::fclose(file);
    }
    return pages * sysconf(_SC_PAGESIZE);
}

void run_horae(settings with);   // horae, and horae-current without threads
void run_asio(settings with);    // Boost.Asio coroutines on an io_context
void run_threads(settings with); // std::thread and std::condition_variable

} // namespace bench
