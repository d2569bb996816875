// SPDX-License-Identifier: Apache-2.0
//
// Where coroutine frames come from: a cache per thread, with free lists by size class. A frame freed on
// another thread goes back to the cache it came from, through that cache's stack of remote frees.
//
// Memory is taken from the system in aligned spans of one size class each; the head of the span names its
// cache, so a frame carries no header. Warm allocation and freeing on one thread is a few plain instructions.
// When a thread ends, its cache is put on a shelf and the next thread goes on with it: spans are never given
// back, so a late remote free always finds its cache.
//
//   remote_ | block* newest |    writers: any thread R pushes, the owner O takes all
// HB-F1  R: free() release-CAS -> O: acquire-exchange. What R did with the frame is done before O reuses it.
// As in
//        inbox.hpp nobody pops one block, so there is no ABA. Model: tests/model/coro/remote_free_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace horae {

// Memory for a frame of that many bytes. Throws std::bad_alloc.
void* allocate_frame(std::size_t bytes);
void free_frame(void* frame, std::size_t bytes) noexcept;

struct frame_cache_stats {
    std::uint64_t spans = 0;        // ever taken from the system by this thread's cache
    std::uint64_t remote_frees = 0; // blocks that came back from other threads
};
frame_cache_stats this_thread_frame_cache() noexcept;

// For tests: the n-th next allocation on this thread fails (0: none does).
void fail_frame_allocation_after(std::uint64_t n) noexcept;

namespace detail {

template <class Atomics = std_atomics>
struct free_block {
    typename Atomics::template plain<free_block*> next{};
};

// The stack of remote frees.
template <class Atomics = std_atomics>
class basic_remote_frees {
public:
    using block = free_block<Atomics>;

    void push(block& item) noexcept {
        block* seen = head_.load(std::memory_order_relaxed); // only a guess for the CAS
        do {
            item.next.write(seen);
        } while (!head_.compare_exchange_weak(seen, &item, std::memory_order_release, // HB-F1
                                              std::memory_order_relaxed));
    }

    block* take_all() noexcept {
        if (head_.load(std::memory_order_relaxed) == nullptr) // saves the exchange; a late block waits
            return nullptr;
        return head_.exchange(nullptr, std::memory_order_acquire); // HB-F1
    }

private:
    typename Atomics::template atomic<block*> head_{nullptr};
};

} // namespace detail
} // namespace horae
