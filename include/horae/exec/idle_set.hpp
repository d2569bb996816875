// SPDX-License-Identifier: Apache-2.0
//
// Which workers sleep, and how many look for work: what a producer asks to wake no more workers than needed.
//
//   idle_[w]    | bit per worker: asleep or about to be |     writers: sleeper Z sets, notifier N or Z clears
//   searching_  | workers between 'nothing of my own' and 'found some' or 'asleep' |
//
//   Z: begin_search  look everywhere  end_search  prepare_park  (A) look everywhere again  park  unpark_done
//   N: publish work  (B) searching_ == 0 ?  claim an idle bit, count it as searching, unpark that worker
//
// D1, a Dekker pair: N publishes with seq_cst, then (B) loads searching_ and idle_ with seq_cst; Z changes
// searching_ and idle_ with seq_cst read-modify-writes, then (A) loads the sources with seq_cst. In the one
// order of seq_cst operations either (B) sees Z's bit and wakes it, or Z's bit came later and (A) sees the
// work. (A release store before a seq_cst load is not enough: the load may be served before the store is
// visible.) D2: if (B) sees a searcher it wakes nobody. That searcher either finds work, and the last one to
// do so notifies in turn, or ends its search after (B) and then runs (A), which sees the work.
//
// A claimed bit hands one unit of searching_ from N to Z, so the two counts never drift: each begin_search
// and each claim is ended by exactly one end_search. Model: tests/model/exec/idle_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>
#include <horae/base/cache_line.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace horae {

template <class Atomics = std_atomics, std::size_t Words = 4>
class basic_idle_set {
public:
    static constexpr std::uint32_t max_workers = 64 * Words;
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};

    // N, after publishing with seq_cst. The worker to unpark, or nobody.
    std::uint32_t claim_for_work() noexcept {
        if (searching_.load(std::memory_order_seq_cst) != 0) // (B), D2
            return nobody;
        return claim_any();
    }

    // Like claim_for_work but without asking whether somebody searches already.
    std::uint32_t claim_any() noexcept {
        for (;;) {
            bool again = false;
            for (std::size_t i = 0; i < Words; ++i) {
                std::uint64_t seen = idle_[i].load(std::memory_order_seq_cst); // (B), D1
                for (; seen != 0; seen &= seen - 1) {
                    const auto bit = static_cast<std::uint32_t>(std::countr_zero(seen));
                    if (claim(i, bit, again))
                        return static_cast<std::uint32_t>(i) * 64 + bit;
                }
            }
            if (!again)
                return nobody;
        }
    }

    // Relaxed hint: is anybody asleep, and nobody searching?
    bool wants_work() const noexcept {
        if (searching_.load(std::memory_order_relaxed) != 0)
            return false;
        std::uint64_t any = 0;
        for (const auto& word : idle_)
            any |= word.load(std::memory_order_relaxed);
        return any != 0;
    }

    void begin_search() noexcept { searching_.fetch_add(1, std::memory_order_seq_cst); }

    // True: nobody searches any more. One who found work then notifies (D2).
    bool end_search() noexcept { return searching_.fetch_sub(1, std::memory_order_seq_cst) == 1; }

    // Z, not searching. Look at every source after this and before parking.
    void prepare_park(std::uint32_t worker) noexcept {
        idle_[worker / 64].fetch_or(bit_of(worker), std::memory_order_seq_cst); // D1
    }

    // Z, after parking or instead of it. True: a notifier claimed us, so we are searching now.
    bool unpark_done(std::uint32_t worker) noexcept {
        const std::uint64_t before = idle_[worker / 64].fetch_and(~bit_of(worker), std::memory_order_seq_cst);
        return (before & bit_of(worker)) == 0;
    }

    std::uint32_t idle_count() const noexcept {
        std::uint32_t count = 0;
        for (const auto& word : idle_)
            count += static_cast<std::uint32_t>(std::popcount(word.load(std::memory_order_seq_cst)));
        return count;
    }
    std::uint32_t searching() const noexcept { return searching_.load(std::memory_order_seq_cst); }

private:
    static std::uint64_t bit_of(std::uint32_t worker) noexcept { return std::uint64_t{1} << (worker % 64); }

    bool claim(std::size_t word, std::uint32_t bit, bool& again) noexcept {
        const std::uint64_t mask = std::uint64_t{1} << bit;
        // Counted before the bit is taken: Z may end the search as soon as it sees the bit gone.
        searching_.fetch_add(1, std::memory_order_seq_cst);
        if ((idle_[word].fetch_and(~mask, std::memory_order_seq_cst) & mask) != 0)
            return true;
        // Z woke by itself. For a moment we counted as a searcher that does not exist, and another notifier
        // may have relied on it: look again on its behalf.
        if (searching_.fetch_sub(1, std::memory_order_seq_cst) == 1)
            again = true;
        return false;
    }

    alignas(false_sharing_bytes) std::array<typename Atomics::template atomic<std::uint64_t>, Words> idle_{};
    typename Atomics::template atomic<std::uint32_t> searching_{0};
};

using idle_set = basic_idle_set<>;

} // namespace horae
