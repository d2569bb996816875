// SPDX-License-Identifier: Apache-2.0
//
// The type LoopCore: life and death of a loop's native state, and the attributes asyncio's code reads.
#include <new>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
    ref self(type->tp_alloc(type, 0));
    if (!self)
        return nullptr;
    as_loop(self.get())->state = new (std::nothrow) loop_state;
    if (!as_loop(self.get())->state)
        return PyErr_NoMemory();
    loop_state& state = state_of(self.get());
    state.fork_generation = fork_generation();
    if (!open_poller(state))
        return nullptr;
    return self.release();
}

void drop_ready(loop_state& state) {
    while (!state.ready.empty()) {
        ref handle(state.ready.pop());
        if (is_our_handle(handle.get()) && as_handle(handle.get())->where == place::ready) {
            detach(as_handle(handle.get()));
        }
    }
}

void drop_timers(loop_state& state) {
    state.foreign_timers.clear();
    for (PyObject* owned : state.timers.drain()) {
        ref handle(owned);
        if (is_timer_handle(owned))
            detach(as_handle(owned));
    }
}

int clear(PyObject* self) {
    loop_state* state = as_loop(self)->state;
    if (!state)
        return 0;
    drop_ready(*state);
    drop_timers(*state);
    drop_watches(*state);
    state->contexts.clear();
    Py_CLEAR(state->thread_id);
    return 0;
}

void dealloc(PyObject* self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    if (loop_state* state = as_loop(self)->state) {
        close_poller(*state);
        if (state->clock) {
            detach_clock(state->clock, state);
            Py_DECREF(as_object(state->clock));
        }
        delete state;
    }
    Py_TYPE(self)->tp_free(self);
}

int visit_watched(const loop_state& state, visitproc visit, void* arg) {
    for (const watched_fd& entry : state.watched) {
        Py_VISIT(entry.file);
        for (PyObject* handle : {entry.reader, entry.writer}) {
            if (handle) {
                if (int result = visit_contents(as_handle(handle), visit, arg))
                    return result;
            }
        }
    }
    return 0;
}

// Handles of ours are not tracked, so what they own is visited here, once for each handle. One that watches a
// descriptor may stand in the ready queue besides; it is visited as the watcher.
int traverse(PyObject* self, visitproc visit, void* arg) {
    loop_state* state = as_loop(self)->state;
    if (!state)
        return 0;
    int result = 0;
    const auto visit_one = [&](PyObject* object) {
        if (result)
            return;
        if (!is_our_handle(object)) {
            result = visit(object, arg);
        } else if (as_handle(object)->where != place::watch) {
            result = visit_contents(as_handle(object), visit, arg);
        }
    };
    for (std::size_t i = 0; i < state->ready.size(); ++i)
        visit_one(state->ready[i]);
    state->timers.for_each(visit_one);
    if (result)
        return result;
    if (int failed = visit_watched(*state, visit, arg))
        return failed;
    Py_VISIT(state->thread_id);
    return state->contexts.traverse(visit, arg);
}

// loop.time = function on an instance: the clock is no longer ours.
int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
    const int result = PyObject_GenericSetAttr(self, name, value);
    if (result == 0 && PyUnicode_Check(name) && PyUnicode_Compare(name, interned.time) == 0) {
        state_of(self).time_assigned = value != nullptr;
        state_of(self).overridden.type_version = 0;
    }
    return result;
}

template <bool loop_state::* Flag>
PyObject* get_flag(PyObject* self, void*) {
    return PyBool_FromLong(state_of(self).*Flag);
}

template <bool loop_state::* Flag>
int set_flag(PyObject* self, PyObject* value, void*) {
    const int truth = value ? PyObject_IsTrue(value) : 0;
    if (truth < 0)
        return -1;
    state_of(self).*Flag = truth != 0;
    return 0;
}

PyObject* get_thread_id(PyObject* self, void*) {
    PyObject* id = state_of(self).thread_id;
    return Py_NewRef(id ? id : Py_None);
}

int set_thread_id(PyObject* self, PyObject* value, void*) {
    Py_XSETREF(state_of(self).thread_id, value && !Py_IsNone(value) ? Py_NewRef(value) : nullptr);
    return 0;
}

PyObject* get_slack(PyObject* self, void*) {
    return PyFloat_FromDouble(to_seconds(state_of(self).slack_ns));
}

int set_slack(PyObject* self, PyObject* value, void*) {
    const double seconds = value ? PyFloat_AsDouble(value) : 0.0;
    if (seconds == -1.0 && PyErr_Occurred())
        return -1;
    if (!(seconds >= 0 && seconds <= 3600)) {
        PyErr_Format(PyExc_ValueError, "timer_slack must be between 0 and 3600 seconds, not %R", value);
        return -1;
    }
    state_of(self).slack_ns = deadline_from(seconds);
    return 0;
}

PyGetSetDef attributes[] = {
    {"_debug", get_flag<&loop_state::debug>, set_flag<&loop_state::debug>, nullptr, nullptr},
    {"_stopping", get_flag<&loop_state::stopping>, set_flag<&loop_state::stopping>, nullptr, nullptr},
    {"_closed", get_flag<&loop_state::closed>, set_flag<&loop_state::closed>, nullptr, nullptr},
    {"_foreign_selector", get_flag<&loop_state::foreign_selector>, set_flag<&loop_state::foreign_selector>,
     nullptr, nullptr},
    {"measure_callbacks", get_flag<&loop_state::measure_callbacks>, set_flag<&loop_state::measure_callbacks>,
     "Whether each callback is timed, for 'longest_callback' in metrics(); costs two clock reads each.",
     nullptr},
    {"_thread_id", get_thread_id, set_thread_id, nullptr, nullptr},
    {"timer_slack", get_slack, set_slack,
     "Seconds by which a timer may be late so that, when there are many, timers share wake-ups; 0: none.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

} // namespace

void drop_scheduled(loop_state& state) {
    drop_timers(state);
}
void drop_queued(loop_state& state) {
    drop_ready(state);
}

PyTypeObject loop_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool ready_loop_type(PyMethodDef* methods) {
    loop_type.tp_name = "horae._core.LoopCore";
    loop_type.tp_doc = "The native half of horae.EventLoop.";
    loop_type.tp_basicsize = sizeof(loop_object);
    loop_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
    loop_type.tp_new = create;
    loop_type.tp_dealloc = dealloc;
    loop_type.tp_traverse = traverse;
    loop_type.tp_clear = clear;
    loop_type.tp_setattro = set_attribute;
    loop_type.tp_methods = methods;
    loop_type.tp_getset = attributes;
    return PyType_Ready(&loop_type) == 0;
}

} // namespace horae::python
