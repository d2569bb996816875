// SPDX-License-Identifier: Apache-2.0
//
// Parking: producers publish work and notify, sleepers search, register and park. All work is found and the
// counts are back at zero. A lost wake-up leaves a sleeper parked beside work: the checker reports a
// deadlock.
#include "support/relacy_atomics.hpp"

#include <horae/exec/idle_set.hpp>

namespace {

using idle = horae::basic_idle_set<model::relacy_atomics, 1>;

// Work is counted in one word per producer, published as the ring publishes its tail: by a seq_cst store.
template <unsigned Producers, unsigned Sleepers>
struct parking {
    idle set;
    model::relacy_atomics::atomic<int> work[Producers];
    model::relacy_atomics::atomic<int> token[Sleepers];
    model::relacy_atomics::atomic<int> found;

    void produce(unsigned index) {
        work[index].store(1, std::memory_order_seq_cst);
        wake(set.claim_for_work());
    }
    void wake(std::uint32_t worker) {
        if (worker != idle::nobody)
            token[worker].store(1, std::memory_order_release);
    }
    bool take() {
        for (auto& each : work) {
            int one = 1;
            if (each.compare_exchange_strong(one, 2, std::memory_order_seq_cst, std::memory_order_seq_cst)) {
                found.fetch_add(1, std::memory_order_seq_cst);
                return true;
            }
        }
        return false;
    }
    bool any() {
        for (auto& each : work) {
            if (each.load(std::memory_order_seq_cst) == 1)
                return true;
        }
        return false;
    }
    bool over() { return found.load(std::memory_order_seq_cst) == static_cast<int>(Producers); }

    // One who wakes by itself once (a timeout), as a worker with a timer does.
    void sleep(unsigned index, bool restless) {
        bool searching = false;
        while (!over()) {
            if (!searching)
                set.begin_search();
            if (take()) {
                if (set.end_search())
                    wake(set.claim_for_work());
                searching = false;
                continue;
            }
            set.end_search();
            set.prepare_park(index);
            if (!any() && !over()) {
                while (!restless && token[index].load(std::memory_order_acquire) == 0 && !over())
                    model::pause();
                restless = false;
                token[index].store(0, std::memory_order_relaxed);
            }
            searching = set.unpark_done(index);
        }
        if (searching)
            set.end_search();
    }
    void check() {
        model::require(set.searching() == 0);
        model::require(set.idle_count() == 0);
    }
};

struct one_of_each : rl::test_suite<one_of_each, 2>, parking<1, 1> {
    void thread(unsigned index) { index == 0 ? produce(0) : sleep(0, false); }
    void after() { check(); }
};

struct two_producers_restless : rl::test_suite<two_producers_restless, 3>, parking<2, 1> {
    void thread(unsigned index) { index < 2 ? produce(index) : sleep(0, true); }
    void after() { check(); }
};

struct two_sleepers : rl::test_suite<two_sleepers, 3>, parking<1, 2> {
    void thread(unsigned index) { index == 0 ? produce(0) : sleep(index - 1, index == 1); }
    void after() { check(); }
};

} // namespace

int main(int argc, char** argv) {
    return model::verdict(argc, argv)
        .check<one_of_each>({.preemptions = 4})
        .check<two_producers_restless>({.preemptions = 4})
        .check<two_sleepers>({.preemptions = 3})
        .exit_code();
}
