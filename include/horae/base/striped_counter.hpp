// SPDX-License-Identifier: Apache-2.0
//
// A counter that many threads add to without sharing a cache line. A stripe is chosen by the caller (a
// worker's index, a thread's hash) and masked, so any number is a valid stripe. add() is wait-free.
// sum() is exact once the adders are quiet; beside running adders it is some value between the sum at its
// start and the sum at its end when all deltas have one sign.
#pragma once

#include <horae/base/atomics.hpp>
#include <horae/base/cache_line.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace horae {

template <class Atomics = std_atomics>
class basic_striped_counter {
public:
    // The number of stripes is rounded up to a power of two.
    explicit basic_striped_counter(std::size_t stripes = 16)
        : mask_(std::bit_ceil(stripes == 0 ? std::size_t{1} : stripes) - 1),
          stripes_(std::make_unique<stripe[]>(mask_ + 1)) {}

    std::size_t stripes() const noexcept { return mask_ + 1; }

    // relaxed: the count publishes nothing but itself.
    void add(std::size_t at, std::int64_t delta) noexcept {
        stripes_[at & mask_].value.fetch_add(delta, std::memory_order_relaxed);
    }

    std::int64_t sum() const noexcept {
        std::int64_t total = 0;
        for (std::size_t i = 0; i <= mask_; ++i)
            total += stripes_[i].value.load(std::memory_order_relaxed);
        return total;
    }

private:
    struct alignas(false_sharing_bytes) stripe {
        typename Atomics::template atomic<std::int64_t> value{0};
    };
    std::size_t mask_;
    std::unique_ptr<stripe[]> stripes_;
};

using striped_counter = basic_striped_counter<>;

} // namespace horae
