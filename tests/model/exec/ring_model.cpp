// SPDX-License-Identifier: Apache-2.0
//
// The owner pushes and pops in a ring of two places while a thief steals: each entry is taken exactly once,
// or was refused because the ring was full; and it is the entry that was pushed.
#include "support/relacy_atomics.hpp"

#include <horae/exec/ready_ring.hpp>

namespace {

struct steal_against_push : rl::test_suite<steal_against_push, 3> {
    static constexpr std::uint32_t count = 4;
    horae::basic_ready_ring<model::relacy_atomics, 2> ring;
    model::watched<int> payload[count];
    model::relacy_atomics::atomic<int> taken[count];

    void take(std::uint32_t entry) {
        model::require(entry < count);
        model::require(payload[entry].read() == 9);
        model::require(taken[entry].fetch_add(1, std::memory_order_relaxed) == 0);
    }
    void thread(unsigned index) {
        if (index != 0) {
            std::array<std::uint32_t, 2> loot{};
            const std::size_t got = ring.steal(loot);
            for (std::size_t i = 0; i < got; ++i)
                take(loot[i]);
            return;
        }
        std::uint32_t entry = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            payload[i].write(9);
            while (!ring.push(i)) {
                if (ring.pop(entry))
                    take(entry);
            }
        }
        while (ring.pop(entry))
            take(entry);
    }
    void after() {
        std::uint32_t entry = 0;
        while (ring.pop(entry))
            take(entry);
        for (auto& each : taken)
            model::require(each.load(std::memory_order_relaxed) == 1);
    }
};

} // namespace

int main(int argc, char** argv) {
    return model::run<steal_against_push>(argc, argv, {.random = 200'000});
}
