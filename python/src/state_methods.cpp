// SPDX-License-Identifier: Apache-2.0
//
// The small methods: time and state, and the doors through which asyncio's Python code reaches the queues.
#include <new>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

PyObject* time(PyObject* self, PyObject*) {
    const loop_state& state = state_of(self);
    return PyFloat_FromDouble(to_seconds(state.clock ? state.clock->now_ns : monotonic_ns()));
}

PyObject* get_debug(PyObject* self, PyObject*) {
    return PyBool_FromLong(state_of(self).debug);
}
PyObject* is_closed(PyObject* self, PyObject*) {
    return PyBool_FromLong(state_of(self).closed);
}
PyObject* is_running(PyObject* self, PyObject*) {
    return PyBool_FromLong(state_of(self).thread_id != nullptr);
}

PyObject* stop(PyObject* self, PyObject*) {
    state_of(self).stopping = true;
    Py_RETURN_NONE;
}

PyObject* check_closed(PyObject* self, PyObject*) {
    if (!check_open(state_of(self)))
        return nullptr;
    Py_RETURN_NONE;
}

PyObject* add_callback(PyObject* self, PyObject* handle) {
    if (is_our_handle(handle) && as_handle(handle)->where != place::watch) {
        PyErr_SetString(PyExc_RuntimeError, "this handle is in the hands of its loop already");
        return nullptr;
    }
    if (!push_ready(state_of(self), handle))
        return nullptr;
    Py_RETURN_NONE;
}

PyObject* add_callback_signalsafe(PyObject* self, PyObject* handle) {
    ref added(add_callback(self, handle));
    if (!added)
        return nullptr;
    wake(state_of(self));
    return added.release();
}

// A TimerHandle of asyncio's own, as debug mode makes them.
PyObject* schedule_foreign(PyObject* self, PyObject* handle) {
    ref number(PyObject_GetAttrString(handle, "_when"));
    if (!number)
        return nullptr;
    const double when = PyFloat_AsDouble(number.get());
    if (when == -1.0 && PyErr_Occurred())
        return nullptr;
    loop_state& state = state_of(self);
    std::int64_t now = 0;
    if (state.timers.size() == 0 && !now_ns(self, now))
        return nullptr;
    try {
        if (state.timers.size() == 0)
            state.timers.synchronise(now);
        timer_set::entry& entry = state.foreign_timers[handle];
        entry = state.timers.add(deadline_from(when), handle);
        Py_INCREF(handle);
        Py_RETURN_NONE;
    } catch (const std::bad_alloc&) {
        return PyErr_NoMemory();
    }
}

// Called by asyncio's TimerHandle.cancel().
PyObject* timer_handle_cancelled(PyObject* self, PyObject* handle) {
    loop_state& state = state_of(self);
    const auto found = state.foreign_timers.find(handle);
    if (found == state.foreign_timers.end())
        Py_RETURN_NONE;
    ref owned(state.timers.remove(found->second));
    state.foreign_timers.erase(found);
    ++state.metrics.cancelled;
    Py_RETURN_NONE;
}

PyObject* ready_list(PyObject* self, PyObject*) {
    const ready_queue& ready = state_of(self).ready;
    ref list(PyList_New(static_cast<Py_ssize_t>(ready.size())));
    for (std::size_t i = 0; list && i < ready.size(); ++i) {
        PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Py_NewRef(ready[i]));
    }
    return list.release();
}

PyObject* scheduled_list(PyObject* self, PyObject*) {
    ref list(PyList_New(0));
    if (!list)
        return nullptr;
    bool failed = false;
    state_of(self).timers.for_each([&](PyObject* handle) {
        if (!failed)
            failed = PyList_Append(list.get(), handle) < 0;
    });
    return failed ? nullptr : list.release();
}

PyObject* clear_ready(PyObject* self, PyObject*) {
    drop_queued(state_of(self));
    Py_RETURN_NONE;
}

PyObject* clear_scheduled(PyObject* self, PyObject*) {
    drop_scheduled(state_of(self));
    Py_RETURN_NONE;
}

PyObject* close_native(PyObject* self, PyObject*) {
    loop_state& state = state_of(self);
    close_poller(state);
    drop_watches(state);
    state.contexts.clear();
    Py_RETURN_NONE;
}

PyObject* set_clock(PyObject* self, PyObject* clock) {
    loop_state& state = state_of(self);
    if (!PyObject_TypeCheck(clock, &virtual_clock_type)) {
        PyErr_Format(PyExc_TypeError, "clock must be a horae.VirtualClock, not %.100s",
                     Py_TYPE(clock)->tp_name);
        return nullptr;
    }
    if (state.clock || state.timers.size()) {
        PyErr_SetString(PyExc_RuntimeError, "the clock of a loop is set once, before anything is scheduled");
        return nullptr;
    }
    state.clock = reinterpret_cast<virtual_clock_object*>(Py_NewRef(clock));
    attach_clock(state.clock, &state);
    Py_RETURN_NONE;
}

PyObject* outside_work(PyObject* self, PyObject* change) {
    const long step = PyLong_AsLong(change);
    if (step == -1 && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return nullptr;
    state_of(self).outside_work += static_cast<unsigned>(step);
    Py_RETURN_NONE;
}

} // namespace

PyMethodDef state_methods[] = {
    {"time", time, METH_NOARGS,
     "time()\n--\n\nThe loop's clock in seconds: CLOCK_MONOTONIC, or its virtual clock."},
    {"get_debug", get_debug, METH_NOARGS, "get_debug()\n--\n\nWhether debug mode is on."},
    {"is_closed", is_closed, METH_NOARGS, "is_closed()\n--\n\nWhether the loop was closed."},
    {"is_running", is_running, METH_NOARGS, "is_running()\n--\n\nWhether the loop is running."},
    {"stop", stop, METH_NOARGS, "stop()\n--\n\nEnd the run after this turn."},
    {"_check_closed", check_closed, METH_NOARGS, nullptr},
    {"_run_once", run_once, METH_NOARGS, nullptr},
    {"_add_callback", add_callback, METH_O, nullptr},
    {"_add_callback_signalsafe", add_callback_signalsafe, METH_O, nullptr},
    {"_schedule_foreign", schedule_foreign, METH_O, nullptr},
    {"_timer_handle_cancelled", timer_handle_cancelled, METH_O, nullptr},
    {"_ready_list", ready_list, METH_NOARGS, nullptr},
    {"_scheduled_list", scheduled_list, METH_NOARGS, nullptr},
    {"_clear_ready", clear_ready, METH_NOARGS, nullptr},
    {"_clear_scheduled", clear_scheduled, METH_NOARGS, nullptr},
    {"_close_native", close_native, METH_NOARGS, nullptr},
    {"_set_clock", set_clock, METH_O, nullptr},
    {"_outside_work", outside_work, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace horae::python
