// SPDX-License-Identifier: Apache-2.0
//
// One turn of the loop: wait or look for I/O, move due timers to the ready queue, run what was ready.
// In asyncio's order: what was ready before, then I/O, then timers; what a callback adds runs in the next
// turn.
#include <sys/prctl.h>

#include <algorithm>
#include <new>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

// While callbacks keep the loop busy, I/O is looked at this often, not in every turn: a look costs as much as
// several callbacks. The first turn of a run always looks, so that stop()-and-run-again sees every event.
constexpr std::int64_t poll_interval_ns = 20'000;

// Where the next sleep ends. Timers that come close after one another share a wake-up: when there are many,
// the loop wakes for them at most once per slack. With up to two timers per slack each has its own wake-up,
// from five on the slack is used in full; it bounds how late a timer can be for that reason.
std::int64_t wake_time(const loop_state& state, std::int64_t deadline_ns) {
    const double crowd = state.timer_rate * static_cast<double>(state.slack_ns);
    const double share = std::clamp((crowd - 2.0) / 3.0, 0.0, 1.0);
    const auto pause = static_cast<std::int64_t>(share * static_cast<double>(state.slack_ns));
    const std::int64_t latest = deadline_ns > never_ns - pause ? never_ns : deadline_ns + pause;
    return std::clamp(std::min(state.last_timer_wake_ns, never_ns - pause) + pause, deadline_ns, latest);
}

// Timers per nanosecond, over about the last 20 ms.
void count_rate(loop_state& state, std::int64_t now, std::size_t fired) {
    const auto passed =
        static_cast<double>(std::max<std::int64_t>(difference(now, state.last_timer_wake_ns), 1));
    const double weight = passed / (passed + 20e6);
    state.timer_rate += (static_cast<double>(fired) / passed - state.timer_rate) * weight;
    state.last_timer_wake_ns = now;
}

void end_turn(loop_state& state, std::int64_t now) {
    const std::int64_t took = now - state.turn_began_ns;
    state.metrics.busy_ns += took;
    state.metrics.longest_turn_ns = std::max(state.metrics.longest_turn_ns, took);
    state.turn_began_ns = now;
}

// Waits in virtual time: looks for I/O, and if there is none, lets the clock jump to the next timer.
bool wait_virtually(PyObject* self, std::int64_t deadline_ns) {
    loop_state& state = state_of(self);
    if (!state.clock->auto_advance || state.outside_work)
        return poll(self, -1);
    if (!poll(self, 0))
        return false;
    if (state.ready.empty())
        state.clock->now_ns = std::max(state.clock->now_ns, deadline_ns);
    return true;
}

// Nothing is ready: sleeps until a timer is due, a descriptor is ready or another thread has something.
bool wait_for_work(PyObject* self) {
    loop_state& state = state_of(self);
    const std::optional<std::int64_t> deadline = state.timers.next_deadline();
    const bool overridden = find_overrides(self).time;
    std::int64_t now = 0;
    if (deadline) {
        if (!now_ns(self, now))
            return false;
        if (*deadline <= now)
            return poll(self, 0);
        if (state.clock && !overridden)
            return wait_virtually(self, *deadline);
    }
    end_turn(state, monotonic_ns());
    const std::int64_t began = state.turn_began_ns;
    ++state.metrics.sleeps;
    const bool succeeded = poll(self, deadline ? difference(wake_time(state, *deadline), now) : -1);
    state.turn_began_ns = state.last_poll_ns = monotonic_ns();
    state.metrics.idle_ns += state.last_poll_ns - began;
    return succeeded;
}

bool look_for_work(PyObject* self, bool first) {
    loop_state& state = state_of(self);
    if (state.ready.empty() && !state.stopping)
        return wait_for_work(self);
    const std::int64_t now = monotonic_ns();
    end_turn(state, now);
    if (!first && now - state.last_poll_ns < poll_interval_ns)
        return true;
    state.last_poll_ns = now;
    return poll(self, 0);
}

bool fire_timers(PyObject* self) {
    loop_state& state = state_of(self);
    if (state.timers.size() == 0)
        return true;
    std::int64_t now = 0;
    if (!now_ns(self, now))
        return false;
    try {
        const std::size_t fired = state.timers.advance(now, [&](std::int64_t deadline_ns, PyObject* owned) {
            state.metrics.count_fired(difference(now, deadline_ns));
            if (is_timer_handle(owned)) {
                as_handle(owned)->where = place::ready;
            } else {
                state.foreign_timers.erase(owned);
            }
            state.ready.push(owned);
        });
        if (fired)
            count_rate(state, now, fired);
        return true;
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
        return false;
    }
}

// A handle of asyncio's own: made in debug mode, for signals, or by somebody's subclass.
bool run_foreign(PyObject* self, PyObject* handle) {
    if (state_of(self).debug) {
        ref result(PyObject_CallFunctionObjArgs(interned.debug_run, self, handle, nullptr));
        return static_cast<bool>(result);
    }
    ref cancelled(PyObject_GetAttr(handle, interned.cancelled));
    const int truth = cancelled ? PyObject_IsTrue(cancelled.get()) : -1;
    if (truth != 0)
        return truth > 0;
    ref result(PyObject_CallMethodNoArgs(handle, interned.run));
    return static_cast<bool>(result);
}

bool run_timed(PyObject* self, PyObject* handle) {
    loop_state& state = state_of(self);
    const auto run = [&] {
        return !state.debug && is_our_handle(handle) ? run_handle(as_loop(self), as_handle(handle))
                                                     : run_foreign(self, handle);
    };
    ++state.metrics.callbacks;
    if (!state.measure_callbacks)
        return run();
    const std::int64_t began = monotonic_ns();
    const bool succeeded = run();
    state.metrics.longest_callback_ns = std::max(state.metrics.longest_callback_ns, monotonic_ns() - began);
    return succeeded;
}

bool run_next(PyObject* self) {
    ref owned(state_of(self).ready.pop());
    if (!is_our_handle(owned.get()))
        return run_timed(self, owned.get());
    handle_object* handle = as_handle(owned.get());
    if (!handle->callback) { // cancelled
        if (handle->where != place::watch)
            detach(handle);
        return true;
    }
    const bool succeeded = run_timed(self, owned.get());
    if (handle->where == place::watch)
        return succeeded;
    if (succeeded) {
        detach(handle);
    } else {
        saved_exception exception;
        detach(handle);
        exception.restore();
    }
    return succeeded;
}

bool turn(PyObject* self, bool first) {
    loop_state& state = state_of(self);
    ++state.metrics.turns;
    if (!look_for_work(self, first) || !fire_timers(self))
        return false;
    // A callback may run the loop itself (nest_asyncio does) or empty the queue.
    for (std::size_t left = state.ready.size(); left > 0 && !state.ready.empty(); --left) {
        if (!run_next(self))
            return false;
    }
    state.ready.shrink();
    // Callbacks that are all native never reach the interpreter's own check.
    return PyErr_CheckSignals() == 0;
}

// Timers of this thread end when they should: the kernel may otherwise add 50 us.
class exact_sleep {
public:
    exact_sleep() : before_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1); }
    ~exact_sleep() { prctl(PR_SET_TIMERSLACK, before_ > 0 ? before_ : 0); }
    exact_sleep(const exact_sleep&) = delete;
    exact_sleep& operator=(const exact_sleep&) = delete;

private:
    int before_;
};

} // namespace

// asyncio's run_forever() calls this until stopping is set. Unless a subclass has its own _run_once() and so
// expects one turn, all turns of the run are made here.
PyObject* run_once(PyObject* self, PyObject*) {
    loop_state& state = state_of(self);
    if (state.fork_generation != fork_generation() && !reopen_after_fork(self))
        return nullptr;
    const bool one_turn = find_overrides(self).run_once;
    const exact_sleep sleep;
    state.turn_began_ns = state.last_poll_ns = monotonic_ns();
    bool first = true;
    do {
        if (state.closed) {
            PyErr_SetString(PyExc_RuntimeError, "Event loop is closed");
            return nullptr;
        }
        if (!turn(self, first))
            return nullptr;
        first = false;
    } while (!state.stopping && !one_turn);
    Py_RETURN_NONE;
}

} // namespace horae::python
