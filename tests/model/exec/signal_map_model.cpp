// SPDX-License-Identifier: Apache-2.0
//
// Two markers of one leaf against an acquirer: each bit is acquired exactly once, and once mark() has
// returned the summary shows it, so that a parking check can not miss it.
#include "support/relacy_atomics.hpp"

#include <horae/exec/signal_map.hpp>

namespace {

struct mark_against_acquire : rl::test_suite<mark_against_acquire, 3> {
    horae::basic_signal_map<model::relacy_atomics> map{128};
    model::watched<int> payload[2];
    model::relacy_atomics::atomic<int> taken[2];

    void acquire() {
        const auto got = map.acquire(128, 0);
        for (std::uint64_t bits = got.bits; bits != 0; bits &= bits - 1) {
            const auto slot = static_cast<std::uint32_t>(std::countr_zero(bits));
            model::require(slot < 2 && payload[slot].read() == 3);
            taken[slot].fetch_add(1, std::memory_order_seq_cst);
        }
    }
    void thread(unsigned index) {
        if (index < 2) {
            payload[index].write(3);
            map.mark(index);
        } else {
            acquire();
            acquire();
        }
    }
    void after() {
        // All bits left are still visible.
        while (!map.maybe_empty(128))
            acquire();
        model::require(taken[0].load(std::memory_order_seq_cst) == 1);
        model::require(taken[1].load(std::memory_order_seq_cst) == 1);
    }
};

} // namespace

int main(int argc, char** argv) {
    return model::run<mark_against_acquire>(argc, argv, {.random = 200'000});
}
