// SPDX-License-Identifier: Apache-2.0
//
// Many timers in one call: one clock read, one context, one trip from Python.
#include <cmath>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

bool delay_of(PyObject* item, double& delay) {
    if (PyFloat_CheckExact(item)) {
        delay = PyFloat_AS_DOUBLE(item);
    } else {
        if (Py_IsNone(item)) {
            PyErr_SetString(PyExc_TypeError, "delay must not be None");
            return false;
        }
        delay = PyFloat_AsDouble(item);
        if (delay == -1.0 && PyErr_Occurred())
            return false;
    }
    if (!std::isnan(delay))
        return true;
    PyErr_SetString(PyExc_ValueError, "the time of a timer must not be NaN");
    return false;
}

void cancel_all(PyObject* list) {
    saved_exception exception;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        if (PyObject* item = PyList_GET_ITEM(list, i))
            cancel_handle(as_handle(item));
    }
    exception.restore();
}

struct bulk_request {
    PyObject *callback, *context;
    PyObject* const* rest;
    Py_ssize_t rest_count;
    double now;
};

PyObject* new_timer(PyObject* self, PyObject* item, const bulk_request& request) {
    double delay = 0;
    if (!delay_of(item, delay))
        return nullptr;
    bool shared = false;
    PyObject* context =
        request.context ? Py_NewRef(request.context) : state_of(self).contexts.capture(shared);
    if (!context)
        return nullptr;
    ref timer(as_object(new_handle(&timer_handle_type, as_loop(self), request.callback, request.rest,
                                   request.rest_count, context, shared)));
    if (!timer)
        return nullptr;
    as_timer(timer.get())->when = request.now + delay;
    return arm_timer(self, as_timer(timer.get())) ? timer.release() : nullptr;
}

// In debug mode, and where a subclass has its own call_at(), each goes its own way.
PyObject* one_by_one(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
    ref delays(PySequence_Fast(args[0], "delays must be iterable"));
    ref function(PyObject_GetAttrString(self, "call_later"));
    if (!delays || !function)
        return nullptr;
    ref result(PyList_New(0));
    std::vector<PyObject*> stack(args, args + count + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
    for (Py_ssize_t i = 0; result && i < PySequence_Fast_GET_SIZE(delays.get()); ++i) {
        stack[0] = PySequence_Fast_GET_ITEM(delays.get(), i);
        ref timer(
            PyObject_Vectorcall(function.get(), stack.data(), static_cast<std::size_t>(count), kwnames));
        if (!timer || PyList_Append(result.get(), timer.get()) < 0)
            return nullptr;
    }
    return result.release();
}

PyObject* call_later_many(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
    if (count < 2) {
        PyErr_SetString(PyExc_TypeError, "call_later_many() takes delays and a callback");
        return nullptr;
    }
    loop_state& state = state_of(self);
    if (!check_open(state))
        return nullptr;
    const overrides& overridden = find_overrides(self);
    if (state.debug || overridden.time || overridden.call_at)
        return one_by_one(self, args, count, kwnames);
    PyObject* context = nullptr;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i) {
        PyObject* name = PyTuple_GET_ITEM(kwnames, i);
        if (PyUnicode_Compare(name, interned.context) != 0) {
            PyErr_Format(PyExc_TypeError, "call_later_many() got an unexpected keyword argument '%U'", name);
            return nullptr;
        }
        if (!Py_IsNone(args[count + i]))
            context = args[count + i];
    }
    ref delays(PySequence_Fast(args[0], "delays must be iterable"));
    if (!delays)
        return nullptr;
    std::int64_t now = 0;
    if (!now_ns(self, now))
        return nullptr;
    const bulk_request request{args[1], context, args + 2, count - 2, to_seconds(now)};
    const Py_ssize_t total = PySequence_Fast_GET_SIZE(delays.get());
    ref result(PyList_New(total));
    for (Py_ssize_t i = 0; result && i < total; ++i) {
        PyObject* timer = new_timer(self, PySequence_Fast_GET_ITEM(delays.get(), i), request);
        if (!timer) {
            cancel_all(result.get()); // all or none
            return nullptr;
        }
        PyList_SET_ITEM(result.get(), i, timer);
    }
    return result.release();
}

PyObject* cancel_many(PyObject*, PyObject* handles) {
    ref items(PySequence_Fast(handles, "handles must be iterable"));
    if (!items)
        return nullptr;
    Py_ssize_t cancelled = 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
        PyObject* item = PySequence_Fast_GET_ITEM(items.get(), i);
        if (is_our_handle(item)) {
            ref keep = ref::share(item);
            const bool waiting = as_handle(item)->callback != nullptr;
            cancelled += cancel_handle(as_handle(item)) && waiting;
            continue;
        }
        ref before(PyObject_GetAttr(item, interned.cancelled));
        if (!before)
            return nullptr;
        ref done(PyObject_CallMethod(item, "cancel", nullptr));
        if (!done)
            return nullptr;
        cancelled += Py_IsFalse(before.get());
    }
    return PyLong_FromSsize_t(cancelled);
}

} // namespace

PyMethodDef bulk_methods[] = {
    {"call_later_many", method(call_later_many), METH_FASTCALL | METH_KEYWORDS,
     "call_later_many(delays, callback, *args, context=None)\n--\n\n"
     "call_later() for each of the delays, all from the same now. Returns the list of handles.\n"
     "If one delay is invalid, none is scheduled."},
    {"cancel_many", cancel_many, METH_O,
     "cancel_many(handles, /)\n--\n\nCancel all of them; returns how many were still waiting."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace horae::python
