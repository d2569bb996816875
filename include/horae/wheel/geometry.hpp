// SPDX-License-Identifier: Apache-2.0
//
// Where a time belongs in the wheel: pure arithmetic.
//
// Times are compared as `key`s: int64 nanoseconds with the sign bit flipped, so that unsigned order is
// time order over the whole range. A key is read as eleven digits of six bits. Relative to the wheel's
// position `now`, a later key belongs to the level of the highest digit in which the two differ, and in that
// level to the slot that this digit names:
//
//   now   .. 03 17 | 22 | 05 09           level 2, slot 40: every key that starts .. 03 17 | 40
//   key   .. 03 17 | 40 | 11 63
//
// Two consequences carry the design. All keys of a level come before all keys of the next, and lower
// slots before higher ones, so the earliest bucket is two bit scans away. And a key's place depends on `key`
// and `now` only; moving `now` forward changes no place until `now` reaches the start of a bucket.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace horae::detail {

using wheel_key = std::uint64_t;

inline constexpr unsigned digit_bits = 6;
inline constexpr unsigned slot_count = 1u << digit_bits;
inline constexpr unsigned level_count = (64 + digit_bits - 1) / digit_bits;
inline constexpr unsigned bucket_count = level_count * slot_count;

// The key of INT64_MAX: held, never due.
inline constexpr wheel_key never_key = std::numeric_limits<wheel_key>::max();

constexpr wheel_key key_of(std::int64_t time_ns) noexcept {
    return static_cast<wheel_key>(time_ns) ^ (wheel_key{1} << 63);
}
constexpr std::int64_t time_of(wheel_key key) noexcept {
    return static_cast<std::int64_t>(key ^ (wheel_key{1} << 63));
}

// The level of `key` seen from `now`. Equal keys are of level 0.
constexpr unsigned level_of(wheel_key key, wheel_key now) noexcept {
    const auto highest_bit = static_cast<unsigned>(63 - std::countl_zero((key ^ now) | 1));
    return highest_bit * 43 >> 8; // = highest_bit / 6 for 0..63
}

constexpr unsigned slot_of(wheel_key key, unsigned level) noexcept {
    return static_cast<unsigned>(key >> (level * digit_bits)) & (slot_count - 1);
}

// The bits of a key below those that name its slot at `level`.
constexpr wheel_key offset_mask(unsigned level) noexcept {
    return (wheel_key{1} << (level * digit_bits)) - 1;
}

// The first key of a bucket seen from `now`.
constexpr wheel_key bucket_start(unsigned level, unsigned slot, wheel_key now) noexcept {
    const unsigned shift = level * digit_bits;
    const wheel_key above =
        shift + digit_bits >= 64 ? 0 : now >> (shift + digit_bits) << (shift + digit_bits);
    return above | wheel_key{slot} << shift;
}

// Slack lets a timer rest at the roundest moment it may fire at: of the moments in
// [deadline, deadline + 2^bits - 1] exactly one is a multiple of 2^bits. Timers with slack meet there.
constexpr unsigned slack_bits_of(std::int64_t slack_ns) noexcept {
    if (slack_ns <= 0) {
        return 0;
    }
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(slack_ns) + 1) - 1);
    return bits < 62 ? bits : 62;
}

// The moment at which a timer is due, its slack used up to the roundest one; never_key stays so, and nothing
// else becomes it.
constexpr wheel_key due_key(std::int64_t deadline_ns, unsigned slack_bits) noexcept {
    const wheel_key key = key_of(deadline_ns);
    if (slack_bits == 0 || key == never_key) {
        return key;
    }
    const wheel_key mask = (wheel_key{1} << slack_bits) - 1;
    return key > never_key - 1 - mask ? never_key - 1 : (key + mask) & ~mask;
}

// The coarsest level whose buckets span at most `resolution_ns`.
constexpr unsigned resolution_level(std::int64_t resolution_ns) noexcept {
    const auto bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(resolution_ns)) - 1);
    return bits / digit_bits;
}

} // namespace horae::detail
