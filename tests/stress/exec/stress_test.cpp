// SPDX-License-Identifier: Apache-2.0
//
// Native threads, random moments. HORAE_STRESS=n multiplies the rounds (the soak uses it).
#include <horae/base/random.hpp>
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

using namespace std::chrono_literals;
using horae::runtime;
using horae::task;
using horae::wake_ticket;

int rounds(int base) {
    const char* text = std::getenv("HORAE_STRESS");
    return base * (text != nullptr ? std::atoi(text) : 1);
}

struct ledger {
    std::atomic<int> opened{0};
    std::atomic<int> closed{0};
};

// In the frame of a task that has started; closed when the frame goes, whichever way.
struct entry {
    explicit entry(ledger& of) : home(&of) { ++of.opened; }
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;
    ~entry() { ++home->closed; }
    ledger* home;
};

task<> family(ledger& book, std::uint64_t seed, int depth) {
    const entry mine(book);
    horae::random_source random(seed);
    switch (depth == 0 ? 0 : random.below(6)) {
    case 0:
        for (std::uint32_t i = random.below(4); i != 0; --i)
            co_await horae::yield();
        break;
    case 1:
        co_await horae::when_all(family(book, random.next(), depth - 1),
                                 family(book, random.next(), depth - 1));
        break;
    case 2:
        co_await horae::when_any(family(book, random.next(), depth - 1),
                                 family(book, random.next(), depth - 1));
        break;
    case 3: {
        auto child = horae::spawn(family(book, random.next(), depth - 1));
        if (random.below(2) == 0)
            child.cancel();
        try {
            co_await child;
        } catch (const horae::task_cancelled&) {
        }
        break;
    }
    case 4:
        horae::spawn(family(book, random.next(), depth - 1)).detach();
        break;
    default:
        co_await horae::with_scope([&book, seed, depth](horae::scope& s) -> task<> {
            for (std::uint64_t i = 0; i < 3; ++i)
                s.spawn(family(book, seed + i, depth - 1));
            co_return;
        });
        break;
    }
}

TEST(stress, families_of_tasks_all_end) {
    ledger book;
    runtime rt({.workers = 4});
    for (int i = 0; i < rounds(300); ++i)
        rt.spawn(family(book, static_cast<std::uint64_t>(i), 5)).detach();
    rt.shutdown(1h);
    EXPECT_EQ(book.opened, book.closed);
    EXPECT_EQ(rt.metrics().live(), 0U);
}

TEST(stress, cancel_from_everywhere) {
    ledger book;
    runtime rt({.workers = 3});
    for (int i = 0; i < rounds(300); ++i) {
        auto handle = rt.spawn(family(book, static_cast<std::uint64_t>(i), 4));
        const horae::task_ref ref = handle.ref();
        auto helper = rt.spawn([](horae::task_ref r) -> task<> {
            horae::cancel(r);
            co_return;
        }(ref));
        handle.cancel();
        helper.detach();
        handle.detach();
    }
    rt.shutdown(1h);
    EXPECT_EQ(book.opened, book.closed);
}

TEST(stress, workers_come_and_go_under_load) {
    ledger book;
    runtime rt({.workers = 2});
    std::atomic<bool> over{false};
    std::thread load([&] {
        for (std::uint64_t i = 0; !over; ++i) {
            if (rt.metrics().live() < 200)
                rt.spawn(family(book, i, 3)).detach();
            else
                std::this_thread::yield();
        }
    });
    for (int i = 0; i < rounds(300); ++i) {
        rt.add_worker();
        const auto ids = rt.workers();
        rt.remove_worker(ids.at(static_cast<std::size_t>(i) % ids.size()));
        while (rt.metrics().workers > 8)
            std::this_thread::yield();
    }
    over = true;
    load.join();
    rt.shutdown(1h);
    EXPECT_EQ(book.opened, book.closed);
    EXPECT_EQ(rt.metrics().spawned, rt.metrics().completed + rt.metrics().cancelled);
}

TEST(stress, shutdown_at_random_moments) {
    horae::random_source random(3);
    for (int i = 0; i < rounds(300); ++i) {
        ledger book;
        {
            runtime rt({.workers = 1 + random.below(3), .slot_capacity = 5000});
            for (std::uint32_t k = random.below(20); k != 0; --k)
                rt.spawn(family(book, random.next(), 3)).detach();
            for (std::uint32_t k = random.below(50); k != 0; --k)
                std::this_thread::yield();
            if (random.below(2) == 0)
                rt.shutdown(0s);
        }
        ASSERT_EQ(book.opened, book.closed) << "round " << i;
    }
}

// A foreign waker against the end of the runtime: the waker's last touch is before the end.
TEST(stress, foreign_wakes_against_the_end_of_the_runtime) {
    for (int i = 0; i < rounds(300); ++i) {
        std::atomic<bool> armed{false};
        wake_ticket ticket;
        std::thread waker;
        {
            runtime rt({.workers = 1, .slot_capacity = 100});
            rt.spawn([](wake_ticket& t, std::atomic<bool>& a) -> task<> {
                  co_await horae::suspend_with([&](wake_ticket mine) {
                      t = mine;
                      a = true;
                  });
              }(ticket, armed))
                .detach();
            while (!armed)
                std::this_thread::yield();
            waker = std::thread([&] { horae::wake(ticket); });
        }
        waker.join();
        EXPECT_FALSE(horae::wake(ticket));
    }
}

} // namespace
