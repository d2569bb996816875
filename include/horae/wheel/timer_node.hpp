// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <horae/wheel/geometry.hpp>

#include <algorithm>
#include <cstdint>
#include <new>

namespace horae::detail {

// Counters that run out, as parameters so that tests can let them run out soon.
struct wheel_limits {
    static constexpr std::uint32_t max_generation = 0xffff'ffff;
    static constexpr std::uint32_t max_tag = 0xffff'ffff;
};

// A timer: 24 bytes and its payload, at one address for its whole life.
//
//   generation   odd while the place is in use, even while it is free; counts up with every change. Ids carry
//                odd ones only, so no number that anybody makes up can name a free place
//   tag          equals that of the one entry that stands for this timer; moved on when the timer leaves its
//                entry behind (cancelled, or re-armed to an earlier time), which makes that entry stale
//   order        | arming:57 | deferred:1 | slack:6 |  arming is unique and grows, so comparing order words
//                compares arming order, and an unchanged word proves that the timer was not armed again
//   deferred     the entry stands at an earlier time than the timer is due, because the timer was
//                re-armed to a later one; the entry moves there when its own time comes
template <class Payload>
struct timer_node {
    static constexpr std::uint64_t slack_mask = 63;
    static constexpr std::uint64_t deferred_bit = 64;
    static constexpr unsigned arming_shift = 7;

    std::int64_t deadline_ns;
    std::uint64_t order;
    std::uint32_t tag;
    std::uint32_t generation;
    alignas(Payload) unsigned char storage[sizeof(Payload)];

    Payload& payload() noexcept { return *std::launder(reinterpret_cast<Payload*>(storage)); }
    unsigned slack_bits() const noexcept { return static_cast<unsigned>(order & slack_mask); }
    bool deferred() const noexcept { return (order & deferred_bit) != 0; }
    wheel_key key() const noexcept { return due_key(deadline_ns, slack_bits()); }

    // For the pool.
    std::uint32_t next_free() const noexcept { return static_cast<std::uint32_t>(deadline_ns); }
    void set_next_free(std::uint32_t offset) noexcept { deadline_ns = offset; }
    void begin(std::uint32_t wear) noexcept {
        tag = wear;
        generation = wear;
    }
    std::uint32_t wear() const noexcept { return (std::max(tag, generation) + 2) & ~1u; }
};

} // namespace horae::detail
