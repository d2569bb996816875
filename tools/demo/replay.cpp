// SPDX-License-Identifier: Apache-2.0
#include "demo/replay.hpp"

#include "demo/clock.hpp"
#include "demo/lazy_heap.hpp"

#include <horae/wheel.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace demo {
namespace {

struct round_result {
    cpu_times cpu;
    std::uint64_t fired = 0;
    std::uint64_t order_hash = 0;
};

class stopwatch {
public:
    void lap(std::int64_t& total_ns) {
        const std::int64_t now = thread_cpu_ns();
        total_ns += now - last_ns_;
        last_ns_ = now;
    }

private:
    std::int64_t last_ns_ = thread_cpu_ns();
};

// Queue is the wheel or the heap; the code around it, the callback too, is the same for both.
template <class Id, class Queue>
round_result replay(const plan& work, Queue& queue) {
    round_result result;
    const auto timers = static_cast<std::uint32_t>(work.deadlines_ns.size());
    std::vector<Id> ids(timers);
    auto cancel = work.cancels.begin();
    auto rearm = work.rearms.begin();

    stopwatch watch;
    for (std::uint32_t timer = 0; timer < timers; ++timer) {
        ids[timer] = queue.schedule(work.deadlines_ns[timer], timer);
    }
    watch.lap(result.cpu.arm_ns);
    const std::int64_t turns = replay_turns(work);
    for (std::int64_t turn = 1; turn <= turns; ++turn) {
        const std::int64_t now = work.length_ns * turn / turns;
        for (; cancel != work.cancels.end() && cancel->at_ns < now; ++cancel) {
            queue.cancel(ids[cancel->timer]);
        }
        watch.lap(result.cpu.cancel_ns);
        for (; rearm != work.rearms.end() && rearm->at_ns < now; ++rearm) {
            queue.rearm(ids[rearm->timer], rearm->deadline_ns);
        }
        watch.lap(result.cpu.rearm_ns);
        queue.advance(now, [&result](Id, std::int64_t, std::uint32_t timer) {
            ++result.fired;
            result.order_hash = (result.order_hash ^ timer) * 0x9e3779b97f4a7c15u;
        });
        watch.lap(result.cpu.fire_ns);
    }
    return result;
}

round_result replay_wheel(const plan& work) {
    horae::timing_wheel<std::uint32_t> wheel({.reserve = work.deadlines_ns.size()});
    return replay<horae::timer_id>(work, wheel);
}

round_result replay_heap(const plan& work) {
    lazy_heap<std::uint32_t> heap(work.deadlines_ns.size() + work.rearms.size());
    return replay<lazy_heap<std::uint32_t>::id>(work, heap);
}

using rounds = std::array<round_result, replay_rounds>;

cpu_times medians(const rounds& results) {
    const auto median = [&results](std::int64_t cpu_times::* field) {
        std::array<std::int64_t, replay_rounds> values{};
        std::transform(results.begin(), results.end(), values.begin(),
                       [field](const round_result& r) { return r.cpu.*field; });
        std::sort(values.begin(), values.end());
        return values[replay_rounds / 2];
    };
    return {median(&cpu_times::arm_ns), median(&cpu_times::cancel_ns), median(&cpu_times::rearm_ns),
            median(&cpu_times::fire_ns)};
}

} // namespace

comparison compare_with_heap(const plan& work) {
    rounds wheel;
    rounds heap;
    comparison result;
    for (std::size_t round = 0; round < wheel.size(); ++round) {
        wheel[round] = replay_wheel(work);
        heap[round] = replay_heap(work);
        result.same_order = result.same_order && wheel[round].fired == heap[round].fired &&
                            wheel[round].order_hash == heap[round].order_hash;
    }
    result.wheel = medians(wheel);
    result.heap = medians(heap);
    result.fired = wheel.front().fired;
    return result;
}

} // namespace demo
