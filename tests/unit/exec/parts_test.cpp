// SPDX-License-Identifier: Apache-2.0
//
// The parts by themselves: slot word, ring, signal map, striped counter, frame cache, arena.
#include "support/counting_new.hpp"

#include <horae/base/striped_counter.hpp>
#include <horae/coro/frame_cache.hpp>
#include <horae/exec/ready_ring.hpp>
#include <horae/exec/signal_map.hpp>
#include <horae/exec/slot_arena.hpp>
#include <horae/exec/slot_word.hpp>
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace {

using namespace horae;

TEST(slot_word, a_used_up_generation_is_the_last) {
    basic_slot_word<> word;
    word.set_generation_for_test(basic_slot_word<>::last_generation - 1);
    word.spawn();
    word.start();
    word.finish();
    EXPECT_TRUE(word.release());
    word.spawn();
    word.start();
    word.finish();
    EXPECT_FALSE(word.release());
}

// Tiny counters: what an epoch that wraps means, with two bits of it.
TEST(slot_word, an_epoch_of_two_bits_wraps_after_four_suspensions) {
    basic_slot_word<std_atomics, 2> word;
    word.spawn();
    word.start();
    const auto first = word.own_epoch();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(word.suspend(false), suspend_result::suspended);
        EXPECT_EQ(word.wake(word.own_generation(), word.own_epoch()), wake_result::scheduled);
        word.start();
        EXPECT_EQ(word.wake(word.own_generation(), first), wake_result::stale);
    }
    word.suspend(false);
    word.wake(word.own_generation(), word.own_epoch());
    word.start();
    EXPECT_EQ(word.own_epoch(), first) << "the fourth repeats the first: hence 28 bits";
}

TEST(slot_word, a_revoked_ticket_is_void) {
    basic_slot_word<> word;
    word.spawn();
    word.start();
    const auto epoch = word.own_epoch();
    EXPECT_EQ(word.wake(0, epoch), wake_result::notified);
    word.revoke();
    EXPECT_EQ(word.wake(0, epoch), wake_result::stale);
    EXPECT_EQ(word.suspend(false), suspend_result::suspended) << "the notice is gone with the ticket";
}

// Regression 16: indices of eight bits, many times around.
TEST(ring, tiny_indices_wrap) {
    basic_ready_ring<std_atomics, 4, std::uint8_t> ring;
    std::uint32_t next_in = 0;
    std::uint32_t next_out = 0;
    for (int i = 0; i < 5000; ++i) {
        while (ring.push(next_in))
            ++next_in;
        std::array<std::uint32_t, 4> loot{};
        const std::size_t got = ring.steal(loot);
        for (std::size_t k = 0; k < got; ++k)
            EXPECT_EQ(loot[k], next_out++);
        std::uint32_t out = 0;
        if (ring.pop(out)) {
            EXPECT_EQ(out, next_out++);
        }
    }
}

TEST(ring, owner_and_thieves_take_each_entry_once) {
    basic_ready_ring<std_atomics, 8> ring;
    constexpr std::uint32_t count = 200'000;
    std::vector<std::atomic<int>> taken(count);
    std::atomic<bool> over{false};
    std::vector<std::thread> thieves;
    for (int i = 0; i < 2; ++i) {
        thieves.emplace_back([&] {
            std::array<std::uint32_t, 4> loot{};
            while (!over) {
                const std::size_t got = ring.steal(loot);
                for (std::size_t k = 0; k < got; ++k)
                    ++taken[loot[k]];
            }
        });
    }
    std::uint32_t out = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        while (!ring.push(i)) {
            if (ring.pop(out))
                ++taken[out];
        }
    }
    while (ring.pop(out))
        ++taken[out];
    over = true;
    for (auto& each : thieves)
        each.join();
    for (auto& each : taken)
        ASSERT_EQ(each, 1);
}

TEST(signal_map, every_mark_is_acquired_once_and_from_anywhere) {
    signal_map map(10'000);
    std::set<std::uint32_t> marked;
    for (std::uint32_t i = 0; i < 10'000; i += 37) {
        map.mark(i);
        marked.insert(i);
    }
    for (std::uint32_t start = 0; !marked.empty(); start += 1000) {
        const auto got = map.acquire(10'000, start % 10'000);
        ASSERT_NE(got.bits, 0U);
        for (std::uint64_t bits = got.bits; bits != 0; bits &= bits - 1)
            EXPECT_EQ(marked.erase(got.first + static_cast<std::uint32_t>(std::countr_zero(bits))), 1U);
    }
    EXPECT_TRUE(map.maybe_empty(10'000));
}

// Acceptance 18.
TEST(striped_counter, stripes_are_a_power_of_two_and_sums_exact) {
    striped_counter counter(5);
    EXPECT_EQ(counter.stripes(), 8U);
    std::vector<std::thread> adders;
    for (std::size_t i = 0; i < 4; ++i) {
        adders.emplace_back([&counter, i] {
            for (int k = 0; k < 100'000; ++k)
                counter.add(i * 3, k % 2 == 0 ? 3 : -1);
        });
    }
    for (auto& each : adders)
        each.join();
    EXPECT_EQ(counter.sum(), 4 * 100'000);
}

TEST(frame_cache, sizes_do_not_overlap_and_come_back) {
    for (std::size_t bytes :
         {1U, 31U, 32U, 33U, 1024U, 1025U, 1280U, 1281U, 2048U, 5000U, 16384U, 16385U, 100000U}) {
        auto* a = static_cast<unsigned char*>(allocate_frame(bytes));
        auto* b = static_cast<unsigned char*>(allocate_frame(bytes));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 16, 0U);
        std::fill(a, a + bytes, std::uint8_t{1});
        std::fill(b, b + bytes, std::uint8_t{2});
        EXPECT_EQ(a[bytes - 1], 1);
        free_frame(a, bytes);
        if (bytes <= 16384) {
            EXPECT_EQ(allocate_frame(bytes), a) << "the last one freed is the next one used";
            free_frame(a, bytes);
        }
        free_frame(b, bytes);
    }
}

TEST(frame_cache, frames_freed_elsewhere_return_to_their_owner) {
    constexpr std::size_t bytes = 992; // a class nobody else uses
    std::vector<void*> frames;
    for (int i = 0; i < 100; ++i)
        frames.push_back(allocate_frame(bytes));
    std::thread([&] {
        for (void* each : frames)
            free_frame(each, bytes);
    }).join();
    const auto spans = this_thread_frame_cache().spans;
    std::set<void*> again;
    for (int i = 0; i < 100; ++i)
        again.insert(allocate_frame(bytes));
    EXPECT_EQ(again.size(), 100U);
    EXPECT_EQ(this_thread_frame_cache().spans, spans) << "no new memory was needed";
    for (void* each : again)
        free_frame(each, bytes);
}

task<int> leaf() {
    co_await yield();
    co_return 1;
}

// Warm spawn, await, yield, join and cancel touch the heap no more.
TEST(allocation, a_warm_runtime_does_not_allocate) {
    runtime rt({.workers = 1});
    rt.block_on([]() -> task<> {
        std::uint64_t before = 0;
        for (int i = 0; i < 20'000; ++i) {
            if (i == 1000)
                before = horae_test::heap_allocations();
            auto child = spawn(leaf());
            static_cast<void>(co_await child);
            static_cast<void>(co_await leaf());
            static_cast<void>(co_await when_all(leaf(), leaf()));
            auto doomed = spawn(leaf());
            doomed.cancel();
        }
        EXPECT_EQ(horae_test::heap_allocations(), before);
    }());
}

// Each allocation of a frame fails once: the program gets bad_alloc and nothing leaks or hangs.
TEST(allocation, every_frame_allocation_may_fail) {
    runtime rt({.current_thread = true});
    int failures = 0;
    for (std::uint64_t n = 1; n < 60; ++n) {
        try {
            auto program = []() -> task<int> {
                auto [a, b] = co_await when_all(leaf(), leaf());
                auto child = spawn(leaf());
                const int c = co_await child;
                co_await with_scope([](scope& s) -> task<> {
                    s.spawn(leaf());
                    co_await leaf();
                });
                co_return a + b + c;
            };
            fail_frame_allocation_after(n);
            EXPECT_EQ(rt.block_on(program()), 3);
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        fail_frame_allocation_after(0);
    }
    EXPECT_EQ(failures, 7) << "the program has seven frames";
    EXPECT_EQ(rt.block_on(leaf()), 1);
    rt.shutdown(std::chrono::hours(1));
    EXPECT_EQ(rt.metrics().live(), 0U);
}

task<> count_up(std::atomic<int>& n) {
    ++n;
    co_return;
}

// Spawn and complete at full occupancy: a slot is released after its last state transition.
TEST(arena, full_occupancy) {
    runtime rt({.workers = 2, .slot_capacity = 64});
    std::atomic<int> ran{0};
    rt.block_on([](std::atomic<int>& n) -> task<> {
        for (int i = 0; i < 20'000; ++i) {
            auto handle = co_await spawn_wait(count_up(n));
            handle.detach();
        }
    }(ran));
    rt.shutdown(std::chrono::hours(1));
    EXPECT_EQ(ran, 20'000);
}

} // namespace
