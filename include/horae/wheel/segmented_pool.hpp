// SPDX-License-Identifier: Apache-2.0
//
// Slots of one type, addressed by a 32-bit index, in segments that never move. Each segment has its own free
// list, so that a segment whose slots are all free can be given back to the allocator.
//
// A slot type provides:  next_free(), set_next_free()   the link of a free slot
//                        begin(wear)                    called when its segment is allocated
//                        wear()                         what begin() is told when the memory comes back
// A segment whose wear has reached the limit is not allocated again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace horae::detail {

template <class Slot, unsigned SegmentBits, class Allocator>
class segmented_pool {
    static constexpr std::uint32_t none = 0xffff'ffff;
    static constexpr std::uint32_t segment_size = 1u << SegmentBits;
    static constexpr std::uint32_t offset_bits = segment_size - 1;
    static constexpr std::size_t max_segments = (std::size_t{1} << (32 - SegmentBits)) - 1;

    struct segment {
        std::uint32_t free_head = none; // most recently released slot
        std::uint32_t used = 0;
        std::uint32_t next_open = none; // list of segments that may have a free slot
        std::uint32_t wear = 0;
        bool open = false;
    };

    template <class T>
    using rebound = typename std::allocator_traits<Allocator>::template rebind_alloc<T>;
    using slot_traits = std::allocator_traits<rebound<Slot>>;

public:
    segmented_pool(const Allocator& allocator, std::uint32_t wear_limit)
        : allocator_(allocator),
          slots_(rebound<Slot*>(allocator)),
          segments_(rebound<segment>(allocator)),
          wear_limit_(wear_limit) {}
    segmented_pool(const segmented_pool&) = delete;
    segmented_pool& operator=(const segmented_pool&) = delete;
    ~segmented_pool() {
        for (Slot* slots : slots_) {
            if (slots) {
                slot_traits::deallocate(allocator_, slots, segment_size);
            }
        }
    }

    // Precondition: the index was handed out and is in use.
    Slot& operator[](std::uint32_t index) noexcept {
        return slots_[index >> SegmentBits][index & offset_bits];
    }

    // The slot of any number, or null if there is none.
    Slot* find(std::uint32_t index) noexcept {
        const std::size_t number = index >> SegmentBits;
        return number < slots_.size() && slots_[number] ? slots_[number] + (index & offset_bits) : nullptr;
    }

    // The slot of an index that was handed out once, or null if its segment was given back since.
    Slot* find_issued(std::uint32_t index) noexcept {
        Slot* slots = slots_[index >> SegmentBits];
        return slots ? slots + (index & offset_bits) : nullptr;
    }

    // Where the slot of an index is that was handed out once; an address to prefetch, not to read.
    const void* address_hint(std::uint32_t index) const noexcept {
        return slots_[index >> SegmentBits] + (index & offset_bits);
    }

    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t used() const noexcept { return capacity_ - available_; }
    std::size_t available() const noexcept { return available_; }
    std::size_t bytes() const noexcept {
        return capacity() * sizeof(Slot) + segments_.capacity() * sizeof(segment) +
               slots_.capacity() * sizeof(Slot*);
    }

    // Above every index that is or can be handed out once `count` slots are available.
    std::size_t index_limit(std::size_t count) const noexcept {
        const std::size_t missing = count > available_ ? count - available_ : 0;
        return (slots_.size() + (missing + segment_size - 1) / segment_size) * segment_size;
    }

    // Makes at least `count` slots available. May throw; what was in use is not touched.
    void ensure_available(std::size_t count) {
        while (available_ < count) {
            add_segment();
        }
    }

    // Precondition: available() > 0.
    std::uint32_t acquire() noexcept {
        segment* s = &segments_[open_head_];
        while (s->free_head == none) [[unlikely]] {
            s->open = false;
            open_head_ = s->next_open;
            s = &segments_[open_head_];
        }
        const std::uint32_t offset = s->free_head;
        s->free_head = slots_[open_head_][offset].next_free();
        ++s->used;
        --available_;
        return open_head_ << SegmentBits | offset;
    }

    void release(std::uint32_t index) noexcept {
        const std::uint32_t number = index >> SegmentBits;
        segment& s = segments_[number];
        slots_[number][index & offset_bits].set_next_free(s.free_head);
        s.free_head = index & offset_bits;
        --s.used;
        ++available_;
        if (!s.open) {
            open(number);
        }
    }

    // Looks at one segment, in turn, and gives it back if none of its slots is in use.
    void give_back_one() noexcept {
        if (slots_.empty()) {
            return;
        }
        give_back_cursor_ = give_back_cursor_ + 1 < slots_.size() ? give_back_cursor_ + 1 : 0;
        segment& s = segments_[give_back_cursor_];
        Slot*& slots = slots_[give_back_cursor_];
        if (!slots || s.used != 0) {
            return;
        }
        for (std::uint32_t offset = 0; offset < segment_size; ++offset) {
            s.wear = std::max(s.wear, slots[offset].wear());
        }
        slot_traits::deallocate(allocator_, slots, segment_size);
        slots = nullptr;
        s.free_head = none;
        capacity_ -= segment_size;
        available_ -= segment_size;
        ++vacant_;
    }

private:
    void open(std::uint32_t number) noexcept {
        segments_[number].open = true;
        segments_[number].next_open = open_head_;
        open_head_ = number;
    }

    void add_segment() {
        const std::uint32_t number = vacant_ > 0 ? vacant_segment() : new_segment();
        Slot* slots = slot_traits::allocate(allocator_, segment_size);
        segment& s = segments_[number];
        for (std::uint32_t offset = segment_size; offset-- > 0;) {
            ::new (static_cast<void*>(slots + offset)) Slot;
            slots[offset].begin(s.wear);
            slots[offset].set_next_free(s.free_head);
            s.free_head = offset;
        }
        slots_[number] = slots;
        capacity_ += segment_size;
        available_ += segment_size;
        --vacant_;
        if (!s.open) {
            open(number);
        }
    }

    // The number of a segment without memory that may have some again, or of a new one.
    std::uint32_t vacant_segment() {
        for (std::size_t number = 0; number < slots_.size(); ++number) {
            if (!slots_[number] && segments_[number].wear < wear_limit_) {
                return static_cast<std::uint32_t>(number);
            }
        }
        return new_segment();
    }

    std::uint32_t new_segment() {
        if (slots_.size() == max_segments) {
            throw std::length_error("timing_wheel: more than 4 billion timers");
        }
        segments_.reserve(slots_.size() + 1 > segments_.capacity() ? 2 * slots_.size() + 1 : 0);
        slots_.push_back(nullptr);
        segments_.emplace_back();
        ++vacant_;
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }

    rebound<Slot> allocator_;
    std::vector<Slot*, rebound<Slot*>> slots_; // null: given back
    std::vector<segment, rebound<segment>> segments_;
    std::size_t capacity_ = 0;
    std::size_t available_ = 0;
    std::size_t vacant_ = 0;
    std::size_t give_back_cursor_ = 0;
    std::uint32_t open_head_ = none;
    std::uint32_t wear_limit_;
};

} // namespace horae::detail
