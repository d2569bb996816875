// SPDX-License-Identifier: Apache-2.0
#include "thread_setup.hpp"

#include <algorithm>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

namespace horae {

std::uint32_t usable_cores() noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

void set_up_worker_thread(const std::string& name, int core) noexcept {
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); // the default lets the kernel be 50 us late
    if (core < 0)
        return;
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof(usable), &usable) != 0)
        return;
    int skip = core % std::max(1, CPU_COUNT(&usable));
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
        if (CPU_ISSET(i, &usable) && skip-- == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
            return;
        }
    }
}

} // namespace horae
