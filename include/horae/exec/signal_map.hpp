// SPDX-License-Identifier: Apache-2.0
//
// The shared ready set: a bit per slot, a summary bit per 64 of them. Anybody marks a slot ready without
// allocating, waiting or failing; any worker acquires ready slots 64 at a time. It is the way in for
// wake-ups from foreign threads, the overflow of a worker's ring, and where a leaving worker puts its tasks.
//
//   leaf_[w]     | ready bit of slots 64w .. 64w+63 |      writers: marker M, acquirer A
//   summary_[s]  | bit w%64: leaf_[w] may be non-zero |    writers: M, A
//
// A summary bit without a leaf bit is allowed (a wasted look); a leaf bit without a summary bit is not, once
// mark() has returned.
//   M: (1) leaf |= bit       (2) summary load; |= bit when it was clear
//   A: (3) leaf = 0          (4) summary &= ~bit   (5) leaf load; (6) summary |= bit when it is non-zero
// Dekker pair: (1) then (2) against (4) then (5), all seq_cst. If M reads the bit as set in (2), then (2) is
// before (4) in the one order of seq_cst operations, so (1) is before (5), A sees the leaf and sets the bit
// again.
//
// HB-S1  M: mark() release -> A: acquire() acquire, on the leaf word. Publishes the slot.
// mark is wait-free; acquire looks at one summary word per 4096 slots in use.
// Model: tests/model/exec/signal_map_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace horae {

template <class Atomics = std_atomics>
class basic_signal_map {
public:
    struct group {
        std::uint32_t first; // slot of bit 0
        std::uint64_t bits;  // 0: nothing was ready
    };

    explicit basic_signal_map(std::uint32_t capacity)
        : leaves_((capacity + 63) / 64), leaf_(new word[leaves_]), summary_(new word[(leaves_ + 63) / 64]) {}

    // Any thread. The caller owns the slot's `scheduled` state and gives it up here.
    void mark(std::uint32_t slot) noexcept {
        const std::uint32_t leaf = slot / 64;
        leaf_[leaf].fetch_or(bit(slot), std::memory_order_seq_cst); // (1), HB-S1
        word& above = summary_[leaf / 64];
        if ((above.load(std::memory_order_seq_cst) & bit(leaf)) == 0) // (2)
            above.fetch_or(bit(leaf), std::memory_order_seq_cst);
    }

    // A worker. Takes up to 64 ready slots of one leaf; `limit` bounds the slots in use, `start` rotates the
    // search, so that no slot is always last.
    group acquire(std::uint32_t limit, std::uint32_t start) noexcept {
        const std::uint32_t count = summaries(limit);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t at = (start / 4096 + i) % count;
            const std::uint64_t seen = summary_[at].load(std::memory_order_acquire);
            // Begin behind the start bit in the first word; its lower part gets a turn at the end.
            const unsigned turn = i == 0 ? (start / 64) % 64 : 0;
            std::uint64_t rest = std::rotr(seen, static_cast<int>(turn));
            for (; rest != 0; rest &= rest - 1) {
                const unsigned b = (static_cast<unsigned>(std::countr_zero(rest)) + turn) % 64;
                const std::uint32_t leaf = at * 64 + b;
                if (const std::uint64_t bits = take(leaf); bits != 0)
                    return {leaf * 64, bits};
            }
        }
        return {0, 0};
    }

    // The parking check: seq_cst, partner of mark() and of idle_set (D1).
    bool maybe_empty(std::uint32_t limit) const noexcept {
        const std::uint32_t count = summaries(limit);
        for (std::uint32_t i = 0; i < count; ++i) {
            if (summary_[i].load(std::memory_order_seq_cst) != 0)
                return false;
        }
        return true;
    }

private:
    using word = typename Atomics::template atomic<std::uint64_t>;

    static std::uint64_t bit(std::uint32_t index) noexcept { return std::uint64_t{1} << (index % 64); }
    static std::uint32_t summaries(std::uint32_t limit) noexcept { return (limit + 4095) / 4096; }

    std::uint64_t take(std::uint32_t leaf) noexcept {
        const std::uint64_t bits = leaf_[leaf].exchange(0, std::memory_order_seq_cst); // (3), HB-S1
        word& above = summary_[leaf / 64];
        above.fetch_and(~bit(leaf), std::memory_order_seq_cst);   // (4)
        if (leaf_[leaf].load(std::memory_order_seq_cst) != 0)     // (5)
            above.fetch_or(bit(leaf), std::memory_order_seq_cst); // (6)
        return bits;
    }

    std::uint32_t leaves_;
    std::unique_ptr<word[]> leaf_;
    std::unique_ptr<word[]> summary_;
};

using signal_map = basic_signal_map<>;

} // namespace horae
