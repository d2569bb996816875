// SPDX-License-Identifier: Apache-2.0
//
// libevent: timer events on its min-heap, plus its queue for common timeouts where the workload re-arms to
// one fixed duration, which is what that queue is for. Resolution 1 us: deadlines are rounded up.
//
// libevent reads the clock itself and has no call for 'expire what is due', so this binary stands between it
// and the C library: clock_gettime answers with the benchmark's clock, and epoll_wait returns at once without
// a system call. event_base_loop(EVLOOP_NONBLOCK) then costs little more than its timer work; both favour
// libevent. At its best: events live in storage the user allocated up front and are assigned once, no
// locking.
#include "chain.hpp"
#include "pool.hpp"

#include <dlfcn.h>
#include <event2/event.h>
#include <event2/event_struct.h>
#include <sys/epoll.h>

namespace {

bool fake = false;
timespec fake_now{};

using clock_function = int(clockid_t, timespec*);
using epoll_function = int(int, epoll_event*, int, int);

struct rival {
    struct node {
        event timer{};
        bench::payload value{};
    };
    using handle = node*;

    static bench::rival_info info() {
        return {.name = "libevent",
                .version = event_get_version(),
                .language = "C",
                .resolution = "1 us",
                .handle_bytes = 0,
                .next_deadline = false,
                .next_why = "has no call that tells the next deadline"};
    }

    rival(std::size_t capacity, std::int64_t start_ns)
        : base_(start_base(start_ns)),
          nodes_(capacity, [this](node& n) { event_assign(&n.timer, base_, -1, 0, &expired, &n); }) {
        const timeval thirty_seconds{30, 0};
        common_ = event_base_init_common_timeout(base_, &thirty_seconds);
        self = this;
    }

    handle schedule(std::int64_t deadline_ns, bench::payload p) {
        node* n = nodes_.take(p);
        add(n, deadline_ns);
        return n;
    }
    bool cancel(handle n) {
        const bool was_pending = (n->timer.ev_evcallback.evcb_flags & EVLIST_TIMEOUT) != 0;
        event_del(&n->timer);
        nodes_.give(n);
        return was_pending;
    }
    handle rearm(handle n, std::int64_t deadline_ns) {
        add(n, deadline_ns); // of a pending event: moves it
        return n;
    }
    template <class F>
    void advance(std::int64_t now_ns, F&& on_fire) {
        context_ = &on_fire;
        fire_ = [](void* context, bench::payload const& p) {
            (*static_cast<std::remove_reference_t<F>*>(context))(p);
        };
        set_clock(now_ns);
        event_base_loop(base_, EVLOOP_NONBLOCK);
    }

    event_base* start_base(std::int64_t start_ns) {
        fake = true;
        set_clock(start_ns);
        return event_base_new();
    }
    void set_clock(std::int64_t now_ns) {
        now_ns_ = now_ns;
        fake_now = {now_ns / bench::second, now_ns % bench::second};
    }
    void add(node* n, std::int64_t deadline_ns) {
        const std::int64_t delay = deadline_ns - now_ns_;
        if (delay == 30 * bench::second) {
            event_add(&n->timer, common_);
            return;
        }
        const std::int64_t delay_us = (delay + bench::us - 1) / bench::us;
        const timeval relative{delay_us / 1'000'000, delay_us % 1'000'000};
        event_add(&n->timer, &relative);
    }
    static void expired(evutil_socket_t, short, void* context) {
        auto* n = static_cast<node*>(context);
        const bench::payload p = n->value;
        self->nodes_.give(n);
        self->fire_(self->context_, p);
    }

    static inline rival* self = nullptr;
    std::int64_t now_ns_ = 0;
    event_base* base_; // never freed: that would take every pending event out one by one
    timeval const* common_ = nullptr;
    bench::node_pool<node> nodes_;
    void* context_ = nullptr;
    void (*fire_)(void*, bench::payload const&) = nullptr;
};

HORAE_BENCH_RIVAL(rival)

} // namespace

extern "C" int clock_gettime(clockid_t id, timespec* out) noexcept {
    static auto* real = reinterpret_cast<clock_function*>(dlsym(RTLD_NEXT, "clock_gettime"));
    if (fake && (id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE)) {
        *out = fake_now;
        return 0;
    }
    return real(id, out);
}

extern "C" int epoll_wait(int fd, epoll_event* events, int count, int timeout) {
    static auto* real = reinterpret_cast<epoll_function*>(dlsym(RTLD_NEXT, "epoll_wait"));
    return fake ? 0 : real(fd, events, count, timeout);
}
