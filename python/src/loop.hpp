// SPDX-License-Identifier: Apache-2.0
//
// The native half of the event loop. `LoopCore` has no I/O objects of its own beyond epoll: the Python
// class `horae.EventLoop` derives from it and from asyncio.SelectorEventLoop, in this order, so that
// whatever is defined here takes the place of asyncio's and all the rest is asyncio's.
//
// All of it is guarded by the GIL. The loop's thread gives the GIL up only around epoll, and says so in
// `sleeping`; a thread that finds it set writes the eventfd once and clears it.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "clock.hpp"
#include "context.hpp"
#include "handle.hpp"
#include "metrics.hpp"
#include "py.hpp"
#include "ready_queue.hpp"
#include "timer_set.hpp"

namespace horae::python {

struct watched_fd {
    PyObject* reader = nullptr; // owned; a Handle of ours, or null
    PyObject* writer = nullptr;
    PyObject* file = nullptr; // owned; what the fd was registered as, for removal after it was closed
    std::uint32_t mask = 0;   // EPOLLIN | EPOLLOUT as epoll knows it
};

// Methods of asyncio that our fast paths bypass, and that a subclass may have overridden.
struct overrides {
    unsigned type_version = 0;
    bool time = false, call_at = false, run_once = false;
};

struct loop_state {
    ready_queue ready;
    timer_set timers;
    std::unordered_map<PyObject*, timer_set::entry> foreign_timers; // asyncio's own handles, in debug mode
    context_cache contexts;
    loop_metrics metrics;
    std::vector<watched_fd> watched;
    std::array<epoll_event, 256> events;
    int epoll_fd = -1;
    int event_fd = -1;
    unsigned fork_generation = 0;

    virtual_clock_object* clock = nullptr; // owned; null: the monotonic clock
    std::int64_t slack_ns = 0;
    std::int64_t last_timer_wake_ns = 0;
    double timer_rate = 0;
    std::int64_t last_poll_ns = 0;
    std::int64_t turn_began_ns = 0;
    unsigned outside_work = 0; // jobs in threads: virtual time stands still for them

    bool closed = true; // until asyncio's __init__ opens it
    bool stopping = false, debug = false;
    bool foreign_selector = false;
    bool measure_callbacks = false;
    bool sleeping = false;
    bool time_assigned = false; // loop.time = ... on the instance
    overrides overridden;
    PyObject* thread_id = nullptr; // owned
};

struct loop_object {
    PyObject_HEAD loop_state* state;
};

extern PyTypeObject loop_type;

inline loop_object* as_loop(PyObject* object) {
    return reinterpret_cast<loop_object*>(object);
}
inline loop_state& state_of(PyObject* object) {
    return *as_loop(object)->state;
}

// clock
std::int64_t monotonic_ns();
const overrides& find_overrides(PyObject* self);
bool now_ns(PyObject* self, std::int64_t& result); // false: an overridden time() raised

// scheduling (schedule.cpp, bulk.cpp); each takes over the reference
bool push_ready(loop_state& state, PyObject* owned);
bool arm_timer(PyObject* self, timer_handle_object* timer);
void wake(loop_state& state);
bool check_open(const loop_state& state);

// epoll (watch.cpp, poll.cpp)
bool open_poller(loop_state& state);
void close_poller(loop_state& state);
bool poll(PyObject* self, std::int64_t timeout_ns);               // negative: for ever
void remove_watch(loop_state& state, int fd, std::uint32_t mask); // EPOLLIN or EPOLLOUT, which is registered
void drop_watches(loop_state& state);

// fork (fork.cpp)
void install_fork_hook();
unsigned fork_generation();
bool reopen_after_fork(PyObject* self);

PyObject* run_once(PyObject* self, PyObject*);
void drop_queued(loop_state& state);
void drop_scheduled(loop_state& state);
bool ready_loop_type(PyMethodDef* methods);

extern PyMethodDef schedule_methods[], bulk_methods[], watch_methods[], state_methods[], metrics_methods[];

// Names and functions looked up once.
struct names {
    PyObject *context, *callback, *delay, *when, *time, *call_at, *run_once, *run, *cancelled, *fileno,
        *debug_call_soon, *debug_call_at, *debug_run, *report, *foreign_poll, *foreign_watch, *reopen,
        *write_to_self;
    PyObject *handle_class, *timer_handle_class; // asyncio's
    PyObject *read_ready_cb, *conn_lost, *protocol, *data_received;
    PyObject *read_ready_method, *data_received_method, *socket_class; // of asyncio's socket transport
};
extern names interned;

} // namespace horae::python
