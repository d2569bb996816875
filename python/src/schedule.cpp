// SPDX-License-Identifier: Apache-2.0
//
// call_soon, call_soon_threadsafe, call_later, call_at: the paths every await goes through.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmath>
#include <new>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

// The arguments of call_x(positional..., callback, *args, context=None), `leading` of them before callback.
struct call_arguments {
    PyObject* leading = nullptr;
    PyObject* callback = nullptr;
    PyObject* const* rest = nullptr;
    Py_ssize_t rest_count = 0;
    PyObject* context = nullptr; // borrowed; null: a copy of the current one
};

bool same(PyObject* name, PyObject* other) {
    return name == other || PyUnicode_Compare(name, other) == 0;
}

bool parse(call_arguments& result, const char* function, PyObject* leading_name, PyObject* const* args,
           Py_ssize_t count, PyObject* kwnames) {
    Py_ssize_t next = 0;
    if (leading_name && next < count)
        result.leading = args[next++];
    if (next < count)
        result.callback = args[next++];
    result.rest = args + next;
    result.rest_count = count - next;
    for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i) {
        PyObject* name = PyTuple_GET_ITEM(kwnames, i);
        PyObject* value = args[count + i];
        if (same(name, interned.context)) {
            result.context = Py_IsNone(value) ? nullptr : value;
            continue;
        }
        PyObject** target = nullptr;
        if (same(name, interned.callback))
            target = &result.callback;
        if (leading_name && same(name, leading_name))
            target = &result.leading;
        if (!target) {
            PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, name);
            return false;
        }
        if (*target) {
            PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", function, name);
            return false;
        }
        *target = value;
    }
    PyObject* missing = leading_name && !result.leading ? leading_name
                        : !result.callback              ? interned.callback
                                                        : nullptr;
    if (missing) {
        PyErr_Format(PyExc_TypeError, "%s() missing a required positional argument: '%U'", function, missing);
        return false;
    }
    return true;
}

ref rest_tuple(const call_arguments& arguments) {
    ref tuple(PyTuple_New(arguments.rest_count));
    for (Py_ssize_t i = 0; tuple && i < arguments.rest_count; ++i) {
        PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(arguments.rest[i]));
    }
    return tuple;
}

// In debug mode asyncio's own handles are used: they carry the traceback of where they were created.
PyObject* debug_call_soon(PyObject* self, const call_arguments& arguments, const char* function) {
    ref rest = rest_tuple(arguments);
    ref name(PyUnicode_FromString(function));
    if (!rest || !name)
        return nullptr;
    return PyObject_CallFunctionObjArgs(interned.debug_call_soon, self, name.get(), arguments.callback,
                                        rest.get(), arguments.context ? arguments.context : Py_None, nullptr);
}

handle_object* handle_for(PyTypeObject* type, PyObject* self, const call_arguments& arguments) {
    bool shared = false;
    PyObject* context =
        arguments.context ? Py_NewRef(arguments.context) : state_of(self).contexts.capture(shared);
    if (!context)
        return nullptr;
    return new_handle(type, as_loop(self), arguments.callback, arguments.rest, arguments.rest_count, context,
                      shared);
}

PyObject* schedule_soon(PyObject* self, const call_arguments& arguments) {
    ref handle(as_object(handle_for(&handle_type, self, arguments)));
    if (!handle || !push_ready(state_of(self), handle.get()))
        return nullptr;
    as_handle(handle.get())->where = place::ready;
    return handle.release();
}

PyObject* call_soon(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
    call_arguments arguments;
    if (!parse(arguments, "call_soon", nullptr, args, count, kwnames))
        return nullptr;
    loop_state& state = state_of(self);
    if (!check_open(state))
        return nullptr;
    if (state.debug)
        return debug_call_soon(self, arguments, "call_soon");
    return schedule_soon(self, arguments);
}

PyObject* call_soon_threadsafe(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
    call_arguments arguments;
    if (!parse(arguments, "call_soon_threadsafe", nullptr, args, count, kwnames))
        return nullptr;
    loop_state& state = state_of(self);
    if (!check_open(state))
        return nullptr;
    ref handle(state.debug ? debug_call_soon(self, arguments, "call_soon_threadsafe")
                           : schedule_soon(self, arguments));
    if (!handle)
        return nullptr;
    if (!state.foreign_selector) {
        wake(state);
    } else if (ref written(PyObject_CallMethodNoArgs(self, interned.write_to_self)); !written) {
        return nullptr;
    }
    return handle.release();
}

PyObject* schedule_at(PyObject* self, double when, PyObject* when_object, const call_arguments& arguments) {
    loop_state& state = state_of(self);
    if (!check_open(state))
        return nullptr;
    if (std::isnan(when)) {
        PyErr_SetString(PyExc_ValueError, "the time of a timer must not be NaN");
        return nullptr;
    }
    if (state.debug) {
        ref rest = rest_tuple(arguments);
        ref number(when_object ? Py_NewRef(when_object) : PyFloat_FromDouble(when));
        if (!rest || !number)
            return nullptr;
        return PyObject_CallFunctionObjArgs(interned.debug_call_at, self, number.get(), arguments.callback,
                                            rest.get(), arguments.context ? arguments.context : Py_None,
                                            nullptr);
    }
    ref timer(as_object(handle_for(&timer_handle_type, self, arguments)));
    if (!timer)
        return nullptr;
    as_timer(timer.get())->when = when;
    if (!arm_timer(self, as_timer(timer.get())))
        return nullptr;
    return timer.release();
}

// self.call_at(when, ...), for a subclass that has its own.
PyObject* delegate_call_at(PyObject* self, PyObject* when, const call_arguments& arguments) {
    ref function(PyObject_GetAttr(self, interned.call_at));
    ref positional(PyTuple_New(arguments.rest_count + 2));
    ref keywords(PyDict_New());
    if (!function || !positional || !keywords)
        return nullptr;
    PyTuple_SET_ITEM(positional.get(), 0, Py_NewRef(when));
    PyTuple_SET_ITEM(positional.get(), 1, Py_NewRef(arguments.callback));
    for (Py_ssize_t i = 0; i < arguments.rest_count; ++i) {
        PyTuple_SET_ITEM(positional.get(), i + 2, Py_NewRef(arguments.rest[i]));
    }
    PyObject* context = arguments.context ? arguments.context : Py_None;
    if (PyDict_SetItem(keywords.get(), interned.context, context) < 0)
        return nullptr;
    return PyObject_Call(function.get(), positional.get(), keywords.get());
}

PyObject* call_at(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
    call_arguments arguments;
    if (!parse(arguments, "call_at", interned.when, args, count, kwnames))
        return nullptr;
    if (Py_IsNone(arguments.leading)) {
        PyErr_SetString(PyExc_TypeError, "when cannot be None");
        return nullptr;
    }
    const double when = PyFloat_AsDouble(arguments.leading);
    if (when == -1.0 && PyErr_Occurred())
        return nullptr;
    return schedule_at(self, when, arguments.leading, arguments);
}

PyObject* call_later(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* kwnames) {
    call_arguments arguments;
    if (!parse(arguments, "call_later", interned.delay, args, count, kwnames))
        return nullptr;
    PyObject* delay = arguments.leading;
    if (Py_IsNone(delay)) {
        PyErr_SetString(PyExc_TypeError, "delay must not be None");
        return nullptr;
    }
    const overrides& overridden = find_overrides(self);
    if (PyFloat_CheckExact(delay) && !overridden.time && !overridden.call_at) {
        std::int64_t now = 0;
        if (!now_ns(self, now))
            return nullptr;
        return schedule_at(self, to_seconds(now) + PyFloat_AS_DOUBLE(delay), nullptr, arguments);
    }
    // Whatever can be added to loop.time(), and whatever error that gives.
    const bool call_at_overridden = overridden.call_at;
    ref now(PyObject_CallMethodNoArgs(self, interned.time));
    if (!now)
        return nullptr;
    ref when(PyNumber_Add(now.get(), delay));
    if (!when)
        return nullptr;
    if (call_at_overridden)
        return delegate_call_at(self, when.get(), arguments);
    const double seconds = PyFloat_AsDouble(when.get());
    if (seconds == -1.0 && PyErr_Occurred())
        return nullptr;
    return schedule_at(self, seconds, when.get(), arguments);
}

} // namespace

bool check_open(const loop_state& state) {
    if (!state.closed)
        return true;
    PyErr_SetString(PyExc_RuntimeError, "Event loop is closed");
    return false;
}

bool push_ready(loop_state& state, PyObject* handle) {
    try {
        state.ready.push(handle);
        Py_INCREF(handle);
        return true;
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
        return false;
    }
}

bool arm_timer(PyObject* self, timer_handle_object* timer) {
    loop_state& state = state_of(self);
    try {
        if (state.timers.size() == 0) {
            // An empty wheel was not told the time for a while; entries are placed by their distance from it.
            std::int64_t now = 0;
            if (!now_ns(self, now))
                return false;
            state.timers.synchronise(now);
        }
        const timer_set::entry entry = state.timers.add(deadline_from(timer->when), as_object(timer));
        Py_INCREF(as_object(timer));
        timer->id = entry.id;
        timer->base.index = entry.index;
        timer->base.where = place::timers;
        return true;
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
        return false;
    }
}

void wake(loop_state& state) {
    if (!state.sleeping)
        return;
    state.sleeping = false;
    ++state.metrics.wakes;
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(state.event_fd, &one, sizeof one);
}

PyMethodDef schedule_methods[] = {
    {"call_soon", method(call_soon), METH_FASTCALL | METH_KEYWORDS,
     "call_soon(callback, *args, context=None)\n--\n\nRun the callback in the next turn of the loop."},
    {"call_soon_threadsafe", method(call_soon_threadsafe), METH_FASTCALL | METH_KEYWORDS,
     "call_soon_threadsafe(callback, *args, context=None)\n--\n\nLike call_soon(), from any thread."},
    {"call_later", method(call_later), METH_FASTCALL | METH_KEYWORDS,
     "call_later(delay, callback, *args, context=None)\n--\n\nRun the callback `delay` seconds from now, "
     "never earlier."},
    {"call_at", method(call_at), METH_FASTCALL | METH_KEYWORDS,
     "call_at(when, callback, *args, context=None)\n--\n\nRun the callback when loop.time() >= when."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace horae::python
