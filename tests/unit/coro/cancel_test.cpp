// SPDX-License-Identifier: Apache-2.0
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

using horae::runtime;
using horae::task;
using horae::wake_ticket;

// Counts the frames that hold it.
struct tracked {
    explicit tracked(std::atomic<int>& count) : count_(&count) { ++*count_; }
    tracked(const tracked&) = delete;
    tracked& operator=(const tracked&) = delete;
    ~tracked() { --*count_; }
    std::atomic<int>* count_;
};

task<> wait_for_ever(std::atomic<int>& alive, std::atomic<int>& started) {
    const tracked here(alive);
    ++started;
    co_await horae::suspend_with([](wake_ticket) {});
}

task<> nested(int depth, std::atomic<int>& alive, std::atomic<int>& started) {
    const tracked here(alive);
    if (depth == 0)
        co_await wait_for_ever(alive, started);
    else
        co_await nested(depth - 1, alive, started);
}

// Lets the others of this worker run until the condition holds.
template <class F>
task<> until(F condition) {
    while (!condition())
        co_await horae::yield();
}

TEST(cancel, a_suspended_task_is_gone_when_cancel_returns) {
    runtime rt({.workers = 1});
    std::atomic<int> alive{0};
    std::atomic<int> started{0};
    rt.block_on([](auto& a, auto& s) -> task<> {
        auto handle = horae::spawn(nested(100, a, s));
        co_await until([&] { return s == 1; });
        EXPECT_EQ(a, 102);
        EXPECT_TRUE(handle.cancel());
        EXPECT_EQ(a, 0);
        EXPECT_TRUE(handle.done());
        EXPECT_TRUE(handle.cancelled());
        EXPECT_FALSE(handle.cancel());
        EXPECT_THROW(co_await handle, horae::task_cancelled);
    }(alive, started));
    EXPECT_EQ(rt.metrics().cancelled, 1U);
}

TEST(cancel, frames_are_destroyed_from_the_inside_out) {
    runtime rt({.workers = 1});
    std::string order;
    struct mark {
        std::string* out;
        char c;
        ~mark() { *out += c; }
    };
    rt.block_on([](std::string& out) -> task<> {
        auto inner = [](std::string& o) -> task<> {
            const mark m{&o, 'i'};
            co_await horae::suspend_with([](wake_ticket) {});
        };
        auto outer = [](std::string& o, auto in) -> task<> {
            const mark m{&o, 'o'};
            co_await in(o);
        };
        auto handle = horae::spawn(outer(out, inner));
        co_await horae::yield();
        co_await horae::yield();
        handle.cancel();
        co_return;
    }(order));
    EXPECT_EQ(order, "io");
}

TEST(cancel, from_a_foreign_thread) {
    runtime rt({.workers = 2});
    std::atomic<int> alive{0};
    std::atomic<int> started{0};
    auto handle = rt.spawn(nested(3, alive, started));
    while (started == 0)
        std::this_thread::yield();
    handle.cancel();
    EXPECT_THROW(handle.wait(), horae::task_cancelled);
    EXPECT_EQ(alive, 0);
}

TEST(cancel, of_a_running_task_takes_effect_at_its_next_suspension) {
    runtime rt({.workers = 1});
    std::atomic<int> alive{0};
    bool after = false;
    rt.block_on([](auto& a, bool& reached) -> task<> {
        horae::join_handle<void> handle;
        handle = horae::spawn([](auto& h, auto& count, bool& r) -> task<> {
            const tracked here(count);
            EXPECT_TRUE(h.cancel());
            EXPECT_EQ(count, 1);
            co_await horae::yield();
            r = true;
        }(handle, a, reached));
        EXPECT_THROW(co_await handle, horae::task_cancelled);
    }(alive, after));
    EXPECT_FALSE(after);
    EXPECT_EQ(alive, 0);
}

TEST(cancel, of_a_task_that_never_started) {
    runtime rt({.workers = 1});
    std::atomic<int> alive{0};
    std::atomic<int> started{0};
    rt.block_on([](auto& a, auto& s) -> task<> {
        auto handle = horae::spawn(wait_for_ever(a, s));
        EXPECT_TRUE(handle.cancel());
        EXPECT_THROW(co_await handle, horae::task_cancelled);
        EXPECT_EQ(s, 0);
    }(alive, started));
}

TEST(cancel, an_awaiter_of_a_join_can_be_cancelled_and_the_task_goes_on) {
    runtime rt({.workers = 1});
    bool finished = false;
    rt.block_on([](bool& done) -> task<> {
        wake_ticket key;
        auto work = horae::spawn([](wake_ticket& k, bool& d) -> task<> {
            co_await horae::suspend_with([&](wake_ticket t) { k = t; });
            d = true;
        }(key, done));
        auto joiner = horae::spawn([](auto h) -> task<> { co_await h; }(std::move(work)));
        co_await until([&] { return key.slot != nullptr; });
        for (int i = 0; i < 4; ++i)
            co_await horae::yield();
        joiner.cancel();
        EXPECT_TRUE(horae::wake(key));
        co_await until([&] { return done; });
    }(finished));
    EXPECT_TRUE(finished);
}

TEST(cancel, stale_tickets_do_nothing) {
    runtime rt({.workers = 1});
    rt.block_on([]() -> task<> {
        wake_ticket first;
        int resumed = 0;
        auto work = horae::spawn([](wake_ticket& f, int& n) -> task<> {
            co_await horae::suspend_with([&](wake_ticket t) { f = t; });
            ++n;
            co_await horae::suspend_with([](wake_ticket) {});
            ++n;
        }(first, resumed));
        co_await until([&] { return first.slot != nullptr; });
        EXPECT_TRUE(horae::wake(first));
        co_await until([&] { return resumed == 1; });
        EXPECT_FALSE(horae::wake(first)) << "the second suspension must not see the first one's ticket";
        for (int i = 0; i < 4; ++i)
            co_await horae::yield();
        EXPECT_EQ(resumed, 1);
        work.cancel();
        EXPECT_FALSE(horae::wake(first));
    }());
}

} // namespace
