// SPDX-License-Identifier: Apache-2.0
#include "clock.hpp"

#include <ctime>

#include <algorithm>
#include <cmath>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

bool defined_here(PyTypeObject* type, PyObject* name) {
    ref found(PyObject_GetAttr(as_object(type), name));
    ref ours(PyObject_GetAttr(as_object(&loop_type), name));
    return found.get() == ours.get();
}

virtual_clock_object* as_clock(PyObject* object) {
    return reinterpret_cast<virtual_clock_object*>(object);
}

PyObject* clock_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
    static const char* names[] = {"start", "auto_advance", nullptr};
    double start = 0;
    int auto_advance = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|d$p:VirtualClock", const_cast<char**>(names), &start,
                                     &auto_advance)) {
        return nullptr;
    }
    if (!std::isfinite(start)) {
        PyErr_SetString(PyExc_ValueError, "a virtual clock must start at a finite time");
        return nullptr;
    }
    PyObject* self = type->tp_alloc(type, 0);
    if (!self)
        return nullptr;
    as_clock(self)->now_ns = deadline_from(start);
    as_clock(self)->auto_advance = auto_advance != 0;
    as_clock(self)->loops = new std::vector<loop_state*>;
    return self;
}

void clock_dealloc(PyObject* self) {
    delete as_clock(self)->loops;
    Py_TYPE(self)->tp_free(self);
}

PyObject* clock_time(PyObject* self, PyObject*) {
    return PyFloat_FromDouble(to_seconds(as_clock(self)->now_ns));
}
PyObject* clock_time_ns(PyObject* self, PyObject*) {
    return PyLong_FromLongLong(as_clock(self)->now_ns);
}

bool move_to(virtual_clock_object* clock, std::int64_t target_ns) {
    if (target_ns < clock->now_ns) {
        PyErr_SetString(PyExc_ValueError, "a virtual clock does not go back");
        return false;
    }
    clock->now_ns = target_ns;
    for (loop_state* loop : *clock->loops)
        wake(*loop);
    return true;
}

bool finite_seconds(PyObject* argument, double& result) {
    result = PyFloat_AsDouble(argument);
    if (result == -1.0 && PyErr_Occurred())
        return false;
    if (std::isfinite(result))
        return true;
    PyErr_SetString(PyExc_ValueError, "a virtual clock moves by a finite time");
    return false;
}

PyObject* clock_advance(PyObject* self, PyObject* argument) {
    double seconds = 0;
    if (!finite_seconds(argument, seconds))
        return nullptr;
    if (seconds < 0) {
        PyErr_SetString(PyExc_ValueError, "a virtual clock does not go back");
        return nullptr;
    }
    const std::int64_t step = deadline_from(seconds), now = as_clock(self)->now_ns;
    if (!move_to(as_clock(self), now > never_ns - 1 - step ? never_ns - 1 : now + step))
        return nullptr;
    Py_RETURN_NONE;
}

PyObject* clock_advance_to(PyObject* self, PyObject* argument) {
    double seconds = 0;
    if (!finite_seconds(argument, seconds) || !move_to(as_clock(self), deadline_from(seconds)))
        return nullptr;
    Py_RETURN_NONE;
}

PyObject* get_auto(PyObject* self, void*) {
    return PyBool_FromLong(as_clock(self)->auto_advance);
}

int set_auto(PyObject* self, PyObject* value, void*) {
    const int truth = value ? PyObject_IsTrue(value) : 0;
    if (truth < 0)
        return -1;
    as_clock(self)->auto_advance = truth != 0;
    for (loop_state* loop : *as_clock(self)->loops)
        wake(*loop);
    return 0;
}

PyObject* clock_repr(PyObject* self) {
    ref now(clock_time(self, nullptr));
    return now ? PyUnicode_FromFormat("<VirtualClock at %R%s>", now.get(),
                                      as_clock(self)->auto_advance ? ", auto-advance" : "")
               : nullptr;
}

PyMethodDef clock_methods[] = {
    {"time", clock_time, METH_NOARGS, "The virtual time in seconds, as loop.time() of a loop on this clock."},
    {"time_ns", clock_time_ns, METH_NOARGS, "The virtual time in nanoseconds."},
    {"advance", clock_advance, METH_O,
     "advance(seconds, /)\n--\n\nMove time forward; what becomes due fires in the next turn."},
    {"advance_to", clock_advance_to, METH_O, "advance_to(time, /)\n--\n\nMove time forward to `time`."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef clock_attributes[] = {
    {"auto_advance", get_auto, set_auto,
     "Whether time moves to the next timer when the loop has nothing else to do.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

PyTypeObject virtual_clock_type = [] {
    PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
    type.tp_name = "horae.VirtualClock";
    type.tp_doc = "VirtualClock(start=0.0, *, auto_advance=True)\n--\n\nTime for tests: a one-hour sleep "
                  "takes no time.";
    type.tp_basicsize = sizeof(virtual_clock_object);
    type.tp_flags = Py_TPFLAGS_DEFAULT;
    type.tp_new = clock_new;
    type.tp_dealloc = clock_dealloc;
    type.tp_repr = clock_repr;
    type.tp_methods = clock_methods;
    type.tp_getset = clock_attributes;
    return type;
}();

void attach_clock(virtual_clock_object* clock, loop_state* loop) {
    clock->loops->push_back(loop);
}
void detach_clock(virtual_clock_object* clock, loop_state* loop) {
    std::erase(*clock->loops, loop);
}

std::int64_t monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

const overrides& find_overrides(PyObject* self) {
    loop_state& state = state_of(self);
    PyTypeObject* type = Py_TYPE(self);
    overrides& known = state.overridden;
    // The version of a type changes with every assignment to the type or its bases; 0 is none.
    if (known.type_version == 0 || known.type_version != type->tp_version_tag) {
        known.call_at = !defined_here(type, interned.call_at);
        known.run_once = !defined_here(type, interned.run_once);
        known.time = state.time_assigned || !defined_here(type, interned.time);
        known.type_version = type->tp_version_tag;
        PyErr_Clear();
    }
    return known;
}

bool now_ns(PyObject* self, std::int64_t& result) {
    if (find_overrides(self).time) {
        ref time(PyObject_CallMethodNoArgs(self, interned.time));
        if (!time)
            return false;
        const double seconds = PyFloat_AsDouble(time.get());
        if (seconds == -1.0 && PyErr_Occurred())
            return false;
        // As deadlines are rounded, so that time() == when() is due.
        result = std::isnan(seconds) ? 0 : deadline_from(seconds);
        return true;
    }
    const loop_state& state = state_of(self);
    result = state.clock ? state.clock->now_ns : monotonic_ns();
    return true;
}

} // namespace horae::python
