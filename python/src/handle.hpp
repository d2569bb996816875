// SPDX-License-Identifier: Apache-2.0
//
// Handle and TimerHandle: what call_soon and call_later return.
//
// They are not tracked by the garbage collector, which halves the cost of registering a timer. That is
// safe because a handle owns other objects only while the loop holds the handle: running it, cancelling
// it and closing the loop all drop callback, arguments and context. While the loop holds it, the
// loop's own tp_traverse visits what the handle owns, each handle once, so a cycle through a pending
// handle is a cycle through the loop, and is found. A handle does not own its loop.
//
//   fresh --call_soon--> ready --run--> done          place: who holds the handle
//   fresh --call_later-> timers --due--> ready
//   fresh --add_reader-> watch --remove--> done       (runs any number of times)
//   any --cancel--> cancelled; in `ready` it stays as a husk that the turn skips
#pragma once

#include <cstdint>
#include <horae/wheel.hpp>

#include "py.hpp"

namespace horae::python {

struct loop_object;

enum class place : std::uint8_t { nowhere, ready, timers, watch };
enum class argument_form : std::uint8_t { none, one, tuple, socket_read };

struct handle_object {
    PyObject_HEAD loop_object* loop; // borrowed; null when place is nowhere
    PyObject* callback;              // null once run, cancelled or dropped
    PyObject* arguments;             // nothing, the only argument itself, or a tuple: see form
    PyObject* context;               // when context_shared: a snapshot that must never be entered
    PyObject* weak_references;
    std::uint32_t index; // where the loop's timer_set keeps it; the descriptor of a socket_read
    place where;
    argument_form form;
    bool cancelled;
    bool context_shared;
};

struct timer_handle_object {
    handle_object base;
    double when;
    timer_id id;
};

extern PyTypeObject handle_type;
extern PyTypeObject timer_handle_type;

inline bool is_timer_handle(PyObject* object) {
    return Py_IS_TYPE(object, &timer_handle_type);
}
inline bool is_our_handle(PyObject* object) {
    return Py_IS_TYPE(object, &handle_type) || is_timer_handle(object);
}
inline handle_object* as_handle(PyObject* object) {
    return reinterpret_cast<handle_object*>(object);
}
inline timer_handle_object* as_timer(PyObject* object) {
    return reinterpret_cast<timer_handle_object*>(object);
}

// A fresh handle in place `nowhere`. Takes over `context`; null with an exception set on failure.
handle_object* new_handle(PyTypeObject* type, loop_object* loop, PyObject* callback,
                          PyObject* const* arguments, Py_ssize_t count, PyObject* context,
                          bool context_shared);

// Drops what the handle owns. May run arbitrary Python code, so callers finish their own work first.
void release_contents(handle_object* handle);

// The loop lets go of the handle: contents and loop are dropped; the reference stays the caller's.
void detach(handle_object* handle);

int visit_contents(handle_object* handle, visitproc visit, void* arg);

// Runs the callback in its context. Exceptions go to the loop's handler; false: SystemExit,
// KeyboardInterrupt or a failing handler, and the exception is set.
bool run_handle(loop_object* loop, handle_object* handle);

PyObject* arguments_tuple(handle_object* handle);
bool cancel_handle(handle_object* handle); // false when it was cancelled before
bool ready_handle_types();

} // namespace horae::python
