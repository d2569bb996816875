// SPDX-License-Identifier: Apache-2.0
//
// A worker's own queue of ready slots: bounded, first in first out, pushed by its owner, taken by the owner
// and by thieves. It never grows; what does not fit goes to the signal map.
//
//   head_ | next to take |  writers: owner O, thief T, by CAS         tail_ | next to fill |  writer: O
//
// Indices are 64-bit and never repeat, so a CAS on head_ that succeeds proves that nobody took anything since
// it was read: no ABA, however long a thief sleeps. A thief copies entries first and then moves head_; an
// entry below tail_ is overwritten only after head_ has passed it, so a successful CAS proves that the copies
// were good, a failed one throws them away.
//
// HB-R1  O: push() release-store of tail_ -> T: steal() acquire-load. Publishes the entries.
// HB-R2  T: steal() release-CAS of head_ -> O: push() acquire-load: the copies were read before the owner
// reuses
//        the places.
// push, pop and steal are wait-free but for lost races. Model: tests/model/exec/ring_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>
#include <horae/base/cache_line.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace horae {

template <class Atomics = std_atomics, std::size_t Capacity = 256, class Index = std::uint64_t>
class basic_ready_ring {
    static_assert((Capacity & (Capacity - 1)) == 0, "the capacity is a power of two");

public:
    static constexpr std::size_t capacity = Capacity;

    // O. False: full. With seq_cst it is the store of the pair D1 (idle_set.hpp): notify afterwards. With
    // release the owner promises to look at the ring again soon by itself.
    bool push(std::uint32_t slot, std::memory_order order = std::memory_order_release) noexcept {
        const Index tail = tail_.load(std::memory_order_relaxed);                         // own value
        if (static_cast<Index>(tail - head_.load(std::memory_order_acquire)) >= Capacity) // HB-R2
            return false;
        at(tail).store(slot, std::memory_order_relaxed);  // published by tail_
        tail_.store(static_cast<Index>(tail + 1), order); // HB-R1
        return true;
    }

    // O. False: empty.
    bool pop(std::uint32_t& slot) noexcept {
        Index head = head_.load(std::memory_order_relaxed);       // a guess; the CAS decides
        const Index tail = tail_.load(std::memory_order_relaxed); // own value
        while (head != tail) {
            slot = at(head).load(std::memory_order_relaxed); // own store
            // relaxed: the owner wrote the entry itself and gives nothing away.
            if (head_.compare_exchange_weak(head, static_cast<Index>(head + 1), std::memory_order_relaxed,
                                            std::memory_order_relaxed))
                return true;
        }
        return false;
    }

    // T. Takes half of what is there, at most Max; returns how many.
    template <std::size_t Max>
    std::size_t steal(std::array<std::uint32_t, Max>& into) noexcept {
        Index head = head_.load(std::memory_order_acquire);
        for (;;) {
            const Index tail = tail_.load(std::memory_order_acquire); // HB-R1
            const auto there = static_cast<Index>(tail - head);
            if (there == 0 || there > Capacity) // above: head_ moved on since we read it, and tail_ too
                return 0;
            std::size_t n = (static_cast<std::size_t>(there) + 1) / 2;
            n = n > Max ? Max : n;
            for (std::size_t i = 0; i < n; ++i)
                into[i] =
                    at(static_cast<Index>(head + i)).load(std::memory_order_relaxed); // checked by the CAS
            // acq_rel: HB-R2, and HB-R1 for the next round on failure.
            if (head_.compare_exchange_weak(head, static_cast<Index>(head + n), std::memory_order_acq_rel,
                                            std::memory_order_acquire))
                return n;
        }
    }

    // Any thread; a hint for all but the parking check (seq_cst: idle_set D1).
    std::size_t size() const noexcept {
        const Index head = head_.load(std::memory_order_seq_cst);
        const auto there = static_cast<Index>(tail_.load(std::memory_order_seq_cst) - head);
        return there > Capacity ? Capacity : there;
    }

    // O: what is free.
    std::size_t room() const noexcept { return Capacity - size(); }

private:
    typename Atomics::template atomic<std::uint32_t>& at(Index index) noexcept {
        return entries_[static_cast<std::size_t>(index) & (Capacity - 1)];
    }

    alignas(false_sharing_bytes) typename Atomics::template atomic<Index> head_{0};
    alignas(false_sharing_bytes) typename Atomics::template atomic<Index> tail_{0};
    std::array<typename Atomics::template atomic<std::uint32_t>, Capacity> entries_{};
};

using ready_ring = basic_ready_ring<>;

} // namespace horae
