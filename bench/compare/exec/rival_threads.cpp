// SPDX-License-Identifier: Apache-2.0
//
// A thread for each task, a mutex and a condition variable for each wait: what an executor replaces.
#include "workload.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace bench {
namespace {

class place {
public:
    void notify() {
        {
            const std::lock_guard lock(mutex_);
            set_ = true;
        }
        changed_.notify_one();
    }
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return set_; });
        set_ = false;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool set_ = false;
};

} // namespace

void run_threads(settings with) {
    if (with.wanted("spawn_join")) {
        const stopwatch time;
        for (int i = 0; i < 5'000; ++i)
            std::thread([] {}).join();
        with.report("spawn_join", 5'000, time.nanoseconds());
    }
    for (const char* name : {"ping_pong", "foreign_wake"}) {
        if (!with.wanted(name))
            continue;
        constexpr int rounds = 20'000;
        place a;
        place b;
        std::thread other([&] {
            for (int i = 0; i < rounds; ++i) {
                a.wait();
                b.notify();
            }
        });
        const stopwatch time;
        for (int i = 0; i < rounds; ++i) {
            a.notify();
            b.wait();
        }
        with.report(name, rounds, time.nanoseconds());
        other.join();
    }
}

} // namespace bench
