// SPDX-License-Identifier: Apache-2.0
//
// Boost.Asio's timer queue: the very class steady_timer sits on (a binary heap that knows each timer's
// place), driven directly with a clock of ours. Going through steady_timer and io_context would add a mutex,
// the scheduler's queue and a handler allocation per wait; leaving them out favours Asio. At its best: timer
// and operation live in storage the user allocated up front; a re-arm is cancel_timer plus enqueue_timer,
// which is what expires_at plus async_wait come to.
#include "chain.hpp"
#include "pool.hpp"

#include <boost/asio/detail/timer_queue.hpp>
#include <boost/version.hpp>

namespace {

namespace asio = boost::asio::detail;

struct manual_clock {
    using time_type = std::int64_t;
    using duration_type = std::int64_t;
    struct posix_duration {
        std::int64_t ns;
        std::int64_t ticks() const { return ns; }
        std::int64_t total_milliseconds() const { return ns / bench::ms; }
        std::int64_t total_microseconds() const { return ns / bench::us; }
    };
    static inline time_type current = 0;
    static time_type now() { return current; }
    static bool less_than(time_type a, time_type b) { return a < b; }
    static duration_type subtract(time_type a, time_type b) { return a - b; }
    static posix_duration to_posix_duration(duration_type d) { return {d}; }
};

struct node;

struct operation : asio::wait_op {
    operation() : wait_op(&complete_or_destroy) {}
    static void complete_or_destroy(void*, asio::operation*, boost::system::error_code const&, std::size_t) {}
    node* owner = nullptr;
};

struct node {
    asio::timer_queue<manual_clock>::per_timer_data timer;
    operation wait;
    bench::payload value{};
};

struct rival {
    using handle = node*;

    static bench::rival_info info() {
        return {.name = "Boost.Asio",
                .version = BOOST_LIB_VERSION,
                .language = "C++",
                .resolution = "1 ns",
                .handle_bytes = 0,
                .next_deadline = true};
    }

    rival(std::size_t capacity, std::int64_t start_ns)
        : nodes_(capacity, [](node& n) { n.wait.owner = &n; }) {
        manual_clock::current = start_ns;
    }

    handle schedule(std::int64_t deadline_ns, bench::payload p) {
        node* n = nodes_.take(p);
        queue_.enqueue_timer(deadline_ns, n->timer, &n->wait);
        return n;
    }
    bool cancel(handle n) {
        asio::op_queue<asio::operation> aborted;
        const bool was_pending = queue_.cancel_timer(n->timer, aborted) == 1;
        aborted.pop();
        nodes_.give(n);
        return was_pending;
    }
    handle rearm(handle n, std::int64_t deadline_ns) {
        asio::op_queue<asio::operation> aborted;
        queue_.cancel_timer(n->timer, aborted);
        aborted.pop();
        queue_.enqueue_timer(deadline_ns, n->timer, &n->wait);
        return n;
    }
    template <class F>
    void advance(std::int64_t now_ns, F&& on_fire) {
        manual_clock::current = now_ns;
        asio::op_queue<asio::operation> ready;
        queue_.get_ready_timers(ready);
        while (asio::operation* op = ready.front()) {
            ready.pop();
            node* n = static_cast<operation*>(op)->owner;
            const bench::payload p = n->value;
            nodes_.give(n);
            on_fire(p);
        }
    }
    std::int64_t next_deadline() {
        return manual_clock::current + queue_.wait_duration_usec(LONG_MAX) * bench::us;
    }

    bench::node_pool<node> nodes_;
    asio::timer_queue<manual_clock> queue_;
};

HORAE_BENCH_RIVAL(rival)

} // namespace
