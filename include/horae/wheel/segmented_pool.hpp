// SPDX-License-Identifier: Apache-2.0
//
// Slots of one type, addressed by a 32-bit index, in segments that never move. Each segment has its own free
// list, so that a segment whose slots are all free can be given back to the allocator.
//
// A slot type provides:  next_free(), set_next_free()   the link of a free slot
//                        begin(wear)                    called before the first use in a fresh segment
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
    static constexpr std::size_t max_segments = (std::size_t{1} << (32 - SegmentBits)) - 1;

    struct segment {
        Slot* slots = nullptr;          // null: given back
        std::uint32_t free_head = none; // most recently released slot
        std::uint32_t used = 0;
        std::uint32_t fresh = 0;        // slots from here on were never used
        std::uint32_t next_open = none; // list of segments that may have a free slot
        std::uint32_t wear = 0;
        bool open = false;
    };

    using slot_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<Slot>;
    using slot_traits = std::allocator_traits<slot_allocator>;
    using segment_allocator = typename std::allocator_traits<Allocator>::template rebind_alloc<segment>;

public:
    segmented_pool(const Allocator& allocator, std::uint32_t wear_limit)
        : allocator_(allocator), segments_(segment_allocator(allocator)), wear_limit_(wear_limit) {}
    segmented_pool(const segmented_pool&) = delete;
    segmented_pool& operator=(const segmented_pool&) = delete;
    ~segmented_pool() {
        for (segment& s : segments_) {
            if (s.slots) {
                slot_traits::deallocate(allocator_, s.slots, segment_size);
            }
        }
    }

    // Precondition: the index was handed out and its segment is mapped.
    Slot& operator[](std::uint32_t index) noexcept {
        return segments_[index >> SegmentBits].slots[index & (segment_size - 1)];
    }
    const Slot& operator[](std::uint32_t index) const noexcept {
        return segments_[index >> SegmentBits].slots[index & (segment_size - 1)];
    }

    // The slot, or null for an index that was never handed out or whose segment was given back.
    Slot* find(std::uint32_t index) noexcept {
        const std::size_t number = index >> SegmentBits;
        if (number >= segments_.size()) {
            return nullptr;
        }
        const segment& s = segments_[number];
        return s.slots && (index & (segment_size - 1)) < s.fresh ? s.slots + (index & (segment_size - 1))
                                                                 : nullptr;
    }

    // The slot of an index that was handed out once, or null when its segment was given back since.
    Slot* find_issued(std::uint32_t index) noexcept {
        Slot* slots = segments_[index >> SegmentBits].slots;
        return slots ? slots + (index & (segment_size - 1)) : nullptr;
    }

    const void* address_hint(std::uint32_t index) const noexcept {
        return segments_[index >> SegmentBits].slots + (index & (segment_size - 1));
    }

    std::size_t capacity() const noexcept { return mapped_ * segment_size; }
    std::size_t used() const noexcept { return used_; }
    std::size_t available() const noexcept { return capacity() - used_; }
    std::size_t bytes() const noexcept {
        return capacity() * sizeof(Slot) + segments_.capacity() * sizeof(segment);
    }

    // Makes at least `count` slots available; throws before anything changed that matters.
    void ensure_available(std::size_t count) {
        while (available() < count) {
            add_segment();
        }
    }

    // Precondition: available() > 0.
    std::uint32_t acquire() noexcept {
        for (;;) {
            const std::uint32_t number = open_head_;
            segment& s = segments_[number];
            const std::uint32_t first = number << SegmentBits;
            if (s.free_head != none) {
                const std::uint32_t offset = s.free_head;
                s.free_head = s.slots[offset].next_free();
                ++s.used;
                ++used_;
                return first | offset;
            }
            if (s.slots && s.fresh < segment_size) {
                const std::uint32_t offset = s.fresh++;
                ::new (static_cast<void*>(s.slots + offset)) Slot;
                s.slots[offset].begin(s.wear);
                ++s.used;
                ++used_;
                return first | offset;
            }
            s.open = false;
            open_head_ = s.next_open;
        }
    }

    void release(std::uint32_t index) noexcept {
        const std::uint32_t number = index >> SegmentBits;
        segment& s = segments_[number];
        const std::uint32_t offset = index & (segment_size - 1);
        s.slots[offset].set_next_free(s.free_head);
        s.free_head = offset;
        --s.used;
        --used_;
        if (!s.open) {
            open(s, number);
        }
    }

    // Looks at one segment, in turn, and gives it back if it is empty. True if it did.
    bool give_back_one() noexcept {
        if (segments_.empty()) {
            return false;
        }
        give_back_cursor_ = (give_back_cursor_ + 1) % segments_.size();
        segment& s = segments_[give_back_cursor_];
        if (!s.slots || s.used != 0) {
            return false;
        }
        for (std::uint32_t offset = 0; offset < s.fresh; ++offset) {
            s.wear = std::max(s.wear, s.slots[offset].wear());
        }
        slot_traits::deallocate(allocator_, s.slots, segment_size);
        s.slots = nullptr;
        s.free_head = none;
        s.fresh = segment_size;
        --mapped_;
        return true;
    }

private:
    void open(segment& s, std::uint32_t number) noexcept {
        s.open = true;
        s.next_open = open_head_;
        open_head_ = number;
    }

    void add_segment() {
        auto place = segments_.end();
        if (mapped_ != segments_.size()) {
            place = std::find_if(segments_.begin(), segments_.end(),
                                 [this](const segment& s) { return !s.slots && s.wear < wear_limit_; });
        }
        if (place == segments_.end()) {
            if (segments_.size() == max_segments) {
                throw std::length_error("timing_wheel: more than 4 billion timers");
            }
            segments_.emplace_back();
            place = segments_.end() - 1;
            place->fresh = segment_size;
        }
        place->slots = slot_traits::allocate(allocator_, segment_size);
        place->fresh = 0;
        ++mapped_;
        if (!place->open) {
            open(*place, static_cast<std::uint32_t>(place - segments_.begin()));
        }
    }

    slot_allocator allocator_;
    std::vector<segment, segment_allocator> segments_;
    std::size_t used_ = 0;
    std::size_t mapped_ = 0;
    std::size_t give_back_cursor_ = 0;
    std::uint32_t open_head_ = none;
    std::uint32_t wear_limit_;
};

} // namespace horae::detail
