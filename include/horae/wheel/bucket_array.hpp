// SPDX-License-Identifier: Apache-2.0
//
// The buckets of all levels, the wheel's position, and the chunks they share.
//
// Invariant: every entry in a bucket has a key after position(), and stands in the bucket that geometry.hpp
// names for that key and position.
//
// Advancing must not allocate, yet a cascade may spread one chunk over 64 buckets. So room is made when
// a timer is armed: n entries never need more than n / 20 chunks plus one for each bucket that can be in use.
#pragma once

#include <horae/wheel/entry_list.hpp>
#include <horae/wheel/geometry.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace horae::detail {

struct wheel_bucket {
    entry_list entries;
    wheel_key least = never_key; // no entry's key is before it
};

template <class Allocator>
class bucket_array {
    // For the chunk that a cascade is reading, the run, the one under compaction, and the sort's lists.
    static constexpr std::size_t spare_chunks = 24;

public:
    using pool = chunk_pool<Allocator>;

    bucket_array(wheel_key start, const Allocator& allocator) : pool_(allocator), position_(start) {}

    wheel_key position() const noexcept { return position_; }
    // Precondition: no occupied bucket starts at or before `key`, or its entries were taken out before.
    void set_position(wheel_key key) noexcept { position_ = key; }

    pool& chunks() noexcept { return pool_; }
    wheel_bucket& operator[](unsigned number) noexcept { return buckets_[number]; }
    std::size_t bytes() const noexcept { return pool_.bytes(); }

    unsigned level(wheel_key key) const noexcept { return level_of(key, position_); }

    // Makes sure that `entries` entries, on levels up to this one, can be held from now on however they move.
    void ensure_room(std::size_t entries, unsigned level) {
        if (entries > entry_capacity_ || level >= levels_in_use_) [[unlikely]] {
            grow(entries, std::max(level + 1, levels_in_use_));
        }
    }

    // Precondition: room was ensured; key is after the position, or at it while a bucket that starts there is
    // being cascaded.
    void append(wheel_key key, std::uint32_t index, std::uint32_t tag) noexcept {
        append(key, level(key), index, tag);
    }
    void append(wheel_key key, unsigned level, std::uint32_t index, std::uint32_t tag) noexcept {
        append_if(true, key, level, index, tag);
    }

    // append(), if `really`, without a branch on that.
    void append_if(bool really, wheel_key key, unsigned level, std::uint32_t index,
                   std::uint32_t tag) noexcept {
        const unsigned slot = slot_of(key, level);
        wheel_bucket& bucket = buckets_[level * slot_count + slot];
        if (bucket.entries.needs_chunk()) [[unlikely]] { // as an empty bucket does
            if (!really) {
                return;
            }
            bucket.entries.extend(pool_.acquire());
            slots_[level] |= std::uint64_t{1} << slot;
            levels_ |= 1u << level;
        }
        bucket.entries.append_to_chunk_if(really, {static_cast<std::uint32_t>(key), index, tag});
        bucket.least = std::min(bucket.least, really ? key : never_key);
    }

    bool empty() const noexcept { return levels_ == 0; }

    // The number of the earliest occupied bucket. Precondition: not empty.
    unsigned first() const noexcept {
        const auto lowest = static_cast<unsigned>(std::countr_zero(levels_));
        return lowest * slot_count + static_cast<unsigned>(std::countr_zero(slots_[lowest]));
    }

    // The first occupied bucket from `number` on, or bucket_count.
    unsigned occupied_from(unsigned number) const noexcept {
        while (number < bucket_count) {
            const std::uint64_t slots = slots_[number / slot_count] >> (number % slot_count);
            if (slots != 0) {
                return number + static_cast<unsigned>(std::countr_zero(slots));
            }
            number = (number / slot_count + 1) * slot_count;
        }
        return bucket_count;
    }

    wheel_key start_of(unsigned number) const noexcept {
        return bucket_start(number / slot_count, number % slot_count, position_);
    }

    // Empties a bucket and returns what was in it.
    wheel_bucket take(unsigned number) noexcept {
        mark_empty(number);
        return std::exchange(buckets_[number], wheel_bucket{});
    }

    // To be called when a bucket's entries were removed in place.
    void forget_if_empty(unsigned number) noexcept {
        if (buckets_[number].entries.empty()) {
            take(number);
        }
    }

    void give_back(std::size_t entries, std::size_t steps) noexcept {
        const std::size_t keep = chunks_for(entries, levels_in_use_);
        if (pool_.capacity() > keep) {
            pool_.give_back(keep, steps);
            entry_capacity_ = capacity_of(pool_.capacity(), levels_in_use_);
        }
    }

private:
    static std::size_t chunks_for(std::size_t entries, unsigned levels) noexcept {
        return entries / entry_chunk::capacity +
               std::min<std::size_t>(entries, std::size_t{levels} * slot_count) + spare_chunks;
    }

    // How many entries `chunks` chunks are enough for: the inverse of chunks_for().
    static std::size_t capacity_of(std::size_t chunks, unsigned levels) noexcept {
        constexpr std::size_t per_chunk = entry_chunk::capacity;
        const std::size_t buckets = std::size_t{levels} * slot_count;
        const std::size_t usable = std::max(chunks, spare_chunks) - spare_chunks;
        if (usable > buckets && (usable - buckets) * per_chunk >= buckets) {
            return (usable - buckets) * per_chunk;
        }
        return std::min(buckets, usable * per_chunk / (per_chunk + 1));
    }

    // As time goes by, deadlines of the same distance come to differ from it in ever higher digits. So that
    // this does not allocate one fine day, a wheel of some size gets room on every level at once.
    void grow(std::size_t entries, unsigned levels) {
        if (entries >= 8192) {
            levels = level_count;
        }
        pool_.ensure_capacity(chunks_for(entries, levels));
        levels_in_use_ = levels;
        entry_capacity_ = capacity_of(pool_.capacity(), levels);
    }

    void mark_empty(unsigned number) noexcept {
        std::uint64_t& slots = slots_[number / slot_count];
        slots &= ~(std::uint64_t{1} << (number % slot_count));
        if (slots == 0) {
            levels_ &= ~(1u << (number / slot_count));
        }
    }

    pool pool_;
    wheel_key position_;
    unsigned levels_ = 0; // a bit for each level with an occupied slot
    unsigned levels_in_use_ = 0;
    std::size_t entry_capacity_ = 0;
    std::array<std::uint64_t, level_count> slots_{}; // a bit for each occupied slot
    std::array<wheel_bucket, bucket_count> buckets_{};
};

} // namespace horae::detail
