// SPDX-License-Identifier: Apache-2.0
//
// libuv: uv_timer_t, an intrusive binary heap of nodes. Resolution 1 ms: deadlines are rounded up, as its
// users must do to never be early. The static library is linked, so that expiry can be driven as the loop
// drives it, by uv__run_timers, after setting the loop's cached time. uv_run itself would add an epoll system
// call per step; leaving it out favours libuv. At its best: handles live in storage the user allocated up
// front and are initialised once.
#include "chain.hpp"
#include "pool.hpp"

#include <uv.h>

extern "C" void uv__run_timers(uv_loop_t* loop);
extern "C" int uv__next_timeout(uv_loop_t const* loop);

namespace {

struct rival {
    struct node {
        uv_timer_t timer{};
        bench::payload value{};
    };
    using handle = node*;

    static bench::rival_info info() {
        return {.name = "libuv",
                .version = uv_version_string(),
                .language = "C",
                .resolution = "1 ms",
                .handle_bytes = 0,
                .next_deadline = true};
    }

    rival(std::size_t capacity, std::int64_t start_ns)
        : started_(start_loop(start_ns)), nodes_(capacity, [this](node& n) {
              uv_timer_init(&loop_, &n.timer);
              n.timer.data = this;
          }) {}

    handle schedule(std::int64_t deadline_ns, bench::payload p) {
        node* n = nodes_.take(p);
        uv_timer_start(&n->timer, &expired, to_ms(deadline_ns) - loop_.time, 0);
        return n;
    }
    bool cancel(handle n) {
        const bool was_pending = uv_is_active(reinterpret_cast<uv_handle_t*>(&n->timer)) != 0;
        uv_timer_stop(&n->timer);
        nodes_.give(n);
        return was_pending;
    }
    handle rearm(handle n, std::int64_t deadline_ns) {
        uv_timer_start(&n->timer, &expired, to_ms(deadline_ns) - loop_.time, 0);
        return n;
    }
    template <class F>
    void advance(std::int64_t now_ns, F&& on_fire) {
        context_ = &on_fire;
        fire_ = [](void* context, bench::payload const& p) {
            (*static_cast<std::remove_reference_t<F>*>(context))(p);
        };
        loop_.time = static_cast<std::uint64_t>(now_ns / bench::ms);
        uv__run_timers(&loop_);
    }
    std::int64_t next_deadline() {
        return (static_cast<std::int64_t>(loop_.time) + uv__next_timeout(&loop_)) * bench::ms;
    }

    bool start_loop(std::int64_t start_ns) {
        const bool ok = uv_loop_init(&loop_) == 0;
        loop_.time = to_ms(start_ns);
        return ok;
    }
    static std::uint64_t to_ms(std::int64_t ns) {
        return static_cast<std::uint64_t>((ns + bench::ms - 1) / bench::ms);
    }
    static void expired(uv_timer_t* timer) {
        auto* self = static_cast<rival*>(timer->data);
        auto* n = reinterpret_cast<node*>(timer); // first member
        const bench::payload p = n->value;
        self->nodes_.give(n);
        self->fire_(self->context_, p);
    }

    uv_loop_t loop_{};
    bool started_; // the loop has to be ready before the nodes
    bench::node_pool<node> nodes_;
    void* context_ = nullptr;
    void (*fire_)(void*, bench::payload const&) = nullptr;
};

HORAE_BENCH_RIVAL(rival)

} // namespace
