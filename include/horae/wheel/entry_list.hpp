// SPDX-License-Identifier: Apache-2.0
//
// Lists of wheel entries in chunks of four cache lines, first in, first out.
//
// An entry is a reminder to look at a timer, not the timer: 12 bytes that stream through the cache while a
// bucket is cascaded or drained. It is stale when the timer's tag has moved on.
#pragma once

#include <horae/wheel/geometry.hpp>
#include <horae/wheel/segmented_pool.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace horae::detail {

struct wheel_entry {
    std::uint32_t key_low; // of the key; the bucket tells the rest where its span is at most 2^32 ns
    std::uint32_t index;
    std::uint32_t tag;
};

struct entry_chunk {
    static constexpr std::uint32_t capacity = 20;

    entry_chunk* next;
    std::uint32_t used;  // of a list's last chunk, the list knows better
    std::uint32_t index; // in the pool
    std::array<wheel_entry, capacity> entries;

    std::uint32_t next_free() const noexcept { return used; }
    void set_next_free(std::uint32_t offset) noexcept { used = offset; }
    void begin(std::uint32_t) noexcept {}
    std::uint32_t wear() const noexcept { return 0; }
};
static_assert(sizeof(entry_chunk) == 256);

// Hands out chunks. Released ones are kept on a list of their own, so that a whole entry_list is released
// in one step, and go back to their segments only when memory is to be given back.
template <class Allocator>
class chunk_pool {
public:
    explicit chunk_pool(const Allocator& allocator) : slots_(allocator, 1) {}

    std::size_t capacity() const noexcept { return slots_.capacity(); }
    std::size_t bytes() const noexcept { return slots_.bytes(); }

    // Makes sure that the pool has `count` chunks in all, in use or not.
    void ensure_capacity(std::size_t count) {
        if (count > slots_.capacity()) {
            slots_.ensure_available(count - slots_.used());
        }
    }

    // Precondition: fewer than capacity() chunks are in use.
    entry_chunk* acquire() noexcept {
        if (spare_) {
            return std::exchange(spare_, spare_->next);
        }
        const std::uint32_t index = slots_.acquire();
        entry_chunk* chunk = &slots_[index];
        chunk->index = index;
        return chunk;
    }

    void release(entry_chunk* chunk) noexcept {
        chunk->next = spare_;
        spare_ = chunk;
    }

    // Releases the ring of chunks that ends in `last`.
    void release_ring(entry_chunk* last) noexcept {
        entry_chunk* first = last->next;
        last->next = spare_;
        spare_ = first;
    }

    // A bounded step of giving memory back while more than `keep` chunks are allocated.
    void give_back(std::size_t keep, std::size_t steps) noexcept {
        if (slots_.capacity() <= keep) {
            return;
        }
        for (; spare_ && steps > 0; --steps) {
            const std::uint32_t index = spare_->index;
            spare_ = spare_->next;
            slots_.release(index);
        }
        slots_.give_back_one();
    }

private:
    segmented_pool<entry_chunk, 5, Allocator> slots_;
    entry_chunk* spare_ = nullptr;
};

// The list: a ring of chunks, known by its last one.
class entry_list {
public:
    std::uint32_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }

    template <class Pool>
    void append(wheel_entry entry, Pool& pool) noexcept {
        if (needs_chunk()) {
            extend(pool.acquire());
        }
        append_to_chunk_if(true, entry);
    }

    // append() in two halves, for those who have something to do when a chunk is full, or the first one
    // missing.
    bool needs_chunk() const noexcept { return last_used_ == entry_chunk::capacity; }
    void extend(entry_chunk* chunk) noexcept {
        if (last_) {
            last_->used = last_used_;
            chunk->next = last_->next;
            last_->next = chunk;
        } else {
            chunk->next = chunk;
        }
        last_ = chunk;
        last_used_ = 0;
    }
    void append_to_chunk_if(bool really, wheel_entry entry) noexcept {
        last_->entries[last_used_] = entry;
        last_used_ += really ? 1u : 0u;
        count_ += really ? 1u : 0u;
    }

    // Appends all of `other`, which ends up empty.
    void append(entry_list& other) noexcept {
        if (other.empty()) {
            return;
        }
        if (last_) {
            last_->used = last_used_;
            std::swap(last_->next, other.last_->next);
        }
        last_ = other.last_;
        last_used_ = other.last_used_;
        count_ += other.count_;
        other = entry_list{};
    }

    // Empties the list, calling visit(std::span<wheel_entry>) for each chunk in order. A chunk is released
    // when its visit is over. `visit` may append to other lists of the same pool.
    template <class Pool, class Visit>
    void drain(Pool& pool, Visit&& visit) noexcept {
        const entry_list taken = std::exchange(*this, entry_list{});
        if (!taken.last_) {
            return;
        }
        entry_chunk* chunk = taken.last_->next;
        for (;;) {
            entry_chunk* const next = chunk->next;
            const bool is_last = chunk == taken.last_;
            __builtin_prefetch(next);
            visit(std::span(chunk->entries.data(), is_last ? taken.last_used_ : chunk->used));
            pool.release(chunk);
            if (is_last) {
                return;
            }
            chunk = next;
        }
    }

    // Takes any one entry. Precondition: not empty.
    template <class Pool>
    wheel_entry pop_any(Pool& pool) noexcept {
        entry_chunk* const first = last_->next;
        std::uint32_t& used = first == last_ ? last_used_ : first->used;
        const wheel_entry entry = first->entries[--used];
        --count_;
        if (used == 0) {
            unlink(pool, nullptr, first);
        }
        return entry;
    }

    // Drops everything in one step.
    template <class Pool>
    void clear(Pool& pool) noexcept {
        if (last_) {
            pool.release_ring(last_);
        }
        *this = entry_list{};
    }

    // Takes the first chunk's entries: visit(std::span<wheel_entry>), then releases it.
    template <class Pool, class Visit>
    void drain_first_chunk(Pool& pool, Visit&& visit) noexcept {
        entry_chunk* const chunk = last_->next;
        const bool only = chunk == last_;
        const std::uint32_t used = only ? last_used_ : chunk->used;
        visit(std::span(chunk->entries.data(), used));
        count_ -= used;
        if (only) {
            *this = entry_list{};
        } else {
            last_->next = chunk->next;
        }
        pool.release(chunk);
    }

    struct compaction {
        std::uint32_t examined;
        bool finished; // the whole list has been through
    };

    // One step of compaction in order: examines the chunk after `done` (the first, when null) and fills up
    // `done` with what keep(span) leaves of its entries, which it moves to the span's front and counts. Moves
    // `done` on. Precondition: not empty.
    template <class Pool, class Keep>
    compaction compact_step(Pool& pool, entry_chunk*& done, Keep&& keep) noexcept {
        entry_chunk* const chunk = done ? done->next : last_->next;
        const bool is_last = chunk == last_;
        const std::uint32_t used = is_last ? last_used_ : chunk->used;
        const std::uint32_t kept = keep(std::span(chunk->entries.data(), used));
        std::uint32_t from = 0;
        while (done && from < kept && done->used < entry_chunk::capacity) {
            done->entries[done->used++] = chunk->entries[from++];
        }
        const std::uint32_t left = kept - from;
        std::copy(chunk->entries.begin() + from, chunk->entries.begin() + kept, chunk->entries.begin());
        count_ -= used - kept;
        if (left > 0) {
            chunk->used = left;
            if (is_last) {
                last_used_ = left;
            }
            done = chunk;
        } else {
            unlink(pool, done, chunk);
        }
        if (is_last) {
            done = nullptr;
        }
        return {used, is_last};
    }

private:
    // `before` is the chunk before `chunk`, or null when `chunk` is the first.
    template <class Pool>
    void unlink(Pool& pool, entry_chunk* before, entry_chunk* chunk) noexcept {
        if (count_ == 0) {
            *this = entry_list{};
        } else if (chunk == last_) {
            before->next = chunk->next;
            last_ = before;
            last_used_ = before->used;
        } else {
            (before ? before : last_)->next = chunk->next;
        }
        pool.release(chunk);
    }

    entry_chunk* last_ = nullptr;
    std::uint32_t last_used_ = entry_chunk::capacity; // so that an empty list asks for a chunk
    std::uint32_t count_ = 0;
};

} // namespace horae::detail
