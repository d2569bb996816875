// SPDX-License-Identifier: Apache-2.0
//
// A small seeded generator (the splitmix64 sequence): for choosing victims and for simulations, where a seed
// must give the same choices on every machine. Not for secrets.
#pragma once

#include <cstdint>

namespace horae {

class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    // A number in [0, bound); bound > 0. The bias of a 64-bit multiply is far below what choices need.
    std::uint32_t below(std::uint32_t bound) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32U) * bound) >> 32U);
    }

private:
    std::uint64_t state_;
};

} // namespace horae
