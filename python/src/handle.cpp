// SPDX-License-Identifier: Apache-2.0
#include "handle.hpp"

#include <structmember.h>

#include <array>
#include <cstddef>

#include "loop.hpp"

namespace horae::python {
namespace {

// Freed handles of one type, to be used again without a trip through the allocator.
class free_list {
public:
    PyObject* take() { return count_ ? kept_[--count_] : nullptr; }
    bool give(PyObject* object) {
        if (count_ == kept_.size())
            return false;
        kept_[count_++] = object;
        return true;
    }

private:
    std::array<PyObject*, 1024> kept_;
    std::size_t count_ = 0;
};

free_list free_handles, free_timers;

free_list& free_list_of(PyTypeObject* type) {
    return type == &handle_type ? free_handles : free_timers;
}

void dealloc(PyObject* self) {
    handle_object* handle = as_handle(self);
    if (handle->weak_references)
        PyObject_ClearWeakRefs(self);
    release_contents(handle);
    if (!free_list_of(Py_TYPE(self)).give(self))
        PyObject_Free(self);
}

// The context the handle runs in, as an object of its own: what others see they may also enter.
PyObject* own_context(handle_object* handle) {
    if (!handle->context)
        return Py_None;
    if (handle->context_shared) {
        PyObject* copy = PyContext_Copy(handle->context);
        if (!copy)
            return nullptr;
        Py_SETREF(handle->context, copy);
        handle->context_shared = false;
    }
    return handle->context;
}

PyObject* get_context(PyObject* self, void*) {
    return Py_XNewRef(own_context(as_handle(self)));
}
PyObject* context_method(PyObject* self, PyObject*) {
    return get_context(self, nullptr);
}

PyObject* get_callback(PyObject* self, void*) {
    PyObject* callback = as_handle(self)->callback;
    return Py_NewRef(callback ? callback : Py_None);
}

PyObject* get_args(PyObject* self, void*) {
    return arguments_tuple(as_handle(self));
}

PyObject* get_loop(PyObject* self, void*) {
    PyObject* loop = as_object(as_handle(self)->loop);
    return Py_NewRef(loop ? loop : Py_None);
}

PyObject* get_cancelled(PyObject* self, void*) {
    return PyBool_FromLong(as_handle(self)->cancelled);
}
PyObject* cancelled(PyObject* self, PyObject*) {
    return get_cancelled(self, nullptr);
}
PyObject* get_none(PyObject*, void*) {
    Py_RETURN_NONE;
}

// asyncio.Handle or asyncio.TimerHandle: isinstance() believes it, as it does for mocks and proxies.
PyObject* get_class(PyObject* self, void*) {
    return Py_NewRef(is_timer_handle(self) ? interned.timer_handle_class : interned.handle_class);
}

PyObject* get_scheduled(PyObject* self, void*) {
    return PyBool_FromLong(as_handle(self)->where == place::timers);
}
PyObject* get_when(PyObject* self, void*) {
    return PyFloat_FromDouble(as_timer(self)->when);
}
PyObject* when(PyObject* self, PyObject*) {
    return get_when(self, nullptr);
}

PyObject* cancel(PyObject* self, PyObject*) {
    cancel_handle(as_handle(self));
    Py_RETURN_NONE;
}

PyObject* run(PyObject* self, PyObject*) {
    handle_object* handle = as_handle(self);
    if (!handle->loop || !handle->callback) {
        PyErr_SetString(PyExc_RuntimeError, "this handle has run, was cancelled, or its loop was closed");
        return nullptr;
    }
    ref keep_loop = ref::share(as_object(handle->loop));
    if (!run_handle(as_loop(keep_loop.get()), handle))
        return nullptr;
    Py_RETURN_NONE;
}

PyObject* repr(PyObject* self) {
    return PyObject_CallMethod(interned.handle_class, "__repr__", "O", self);
}

PyObject* repr_info(PyObject* self, PyObject*) {
    return PyObject_CallMethod(get_class(self, nullptr), "_repr_info", "O", self);
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
    // asyncio's own comparison, so that the two kinds also compare with each other.
    static const char* const methods[] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};
    return PyObject_CallMethod(interned.timer_handle_class, methods[operation], "OO", self, other);
}

Py_hash_t hash(PyObject* self) {
    ref number(get_when(self, nullptr));
    return number ? PyObject_Hash(number.get()) : -1;
}

PyGetSetDef handle_attributes[] = {
    {"_callback", get_callback, nullptr, nullptr, nullptr},
    {"_args", get_args, nullptr, nullptr, nullptr},
    {"_context", get_context, nullptr, nullptr, nullptr},
    {"_loop", get_loop, nullptr, nullptr, nullptr},
    {"_cancelled", get_cancelled, nullptr, nullptr, nullptr},
    {"_repr", get_none, nullptr, nullptr, nullptr},
    {"_source_traceback", get_none, nullptr, nullptr, nullptr},
    {"__class__", get_class, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyGetSetDef timer_attributes[] = {
    {"_when", get_when, nullptr, nullptr, nullptr},
    {"_scheduled", get_scheduled, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef handle_methods[] = {
    {"cancel", cancel, METH_NOARGS, "Cancel the callback and let go of it, its arguments and its context."},
    {"cancelled", cancelled, METH_NOARGS, "Whether cancel() was called."},
    {"get_context", context_method, METH_NOARGS, "The contextvars.Context the callback runs in."},
    {"_run", run, METH_NOARGS, nullptr},
    {"_repr_info", repr_info, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef timer_methods[] = {
    {"when", when, METH_NOARGS, "When the callback is due, in the seconds of loop.time()."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace

PyTypeObject handle_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject timer_handle_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

bool ready_handle_types() {
    handle_type.tp_name = "horae.Handle";
    handle_type.tp_doc = "A callback that will run; returned by call_soon().";
    handle_type.tp_basicsize = sizeof(handle_object);
    handle_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION;
    handle_type.tp_weaklistoffset = offsetof(handle_object, weak_references);
    handle_type.tp_dealloc = dealloc;
    handle_type.tp_repr = repr;
    handle_type.tp_methods = handle_methods;
    handle_type.tp_getset = handle_attributes;
    if (PyType_Ready(&handle_type) < 0)
        return false;
    handle_type.tp_flags &= ~static_cast<unsigned long>(Py_TPFLAGS_BASETYPE);

    timer_handle_type.tp_name = "horae.TimerHandle";
    timer_handle_type.tp_doc =
        "A callback that will run at a given time; returned by call_later() and call_at().";
    timer_handle_type.tp_basicsize = sizeof(timer_handle_object);
    timer_handle_type.tp_base = &handle_type;
    timer_handle_type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
    timer_handle_type.tp_dealloc = dealloc;
    timer_handle_type.tp_richcompare = compare;
    timer_handle_type.tp_hash = hash;
    timer_handle_type.tp_methods = timer_methods;
    timer_handle_type.tp_getset = timer_attributes;
    return PyType_Ready(&timer_handle_type) == 0;
}

handle_object* new_handle(PyTypeObject* type, loop_object* loop, PyObject* callback,
                          PyObject* const* arguments, Py_ssize_t count, PyObject* context,
                          bool context_shared) {
    ref owned_context(context);
    ref owned_arguments;
    auto form = argument_form::none;
    if (count == 1) {
        form = argument_form::one;
        owned_arguments = ref::share(arguments[0]);
    } else if (count > 1) {
        form = argument_form::tuple;
        owned_arguments = ref(PyTuple_New(count));
        if (!owned_arguments)
            return nullptr;
        for (Py_ssize_t i = 0; i < count; ++i) {
            PyTuple_SET_ITEM(owned_arguments.get(), i, Py_NewRef(arguments[i]));
        }
    }
    PyObject* object = free_list_of(type).take();
    if (object) {
        PyObject_Init(object, type);
    } else {
        object = _PyObject_New(type);
        if (!object)
            return nullptr;
    }
    handle_object* handle = as_handle(object);
    handle->loop = loop;
    handle->callback = Py_NewRef(callback);
    handle->arguments = owned_arguments.release();
    handle->context = owned_context.release();
    handle->weak_references = nullptr;
    handle->index = 0;
    handle->where = place::nowhere;
    handle->form = form;
    handle->cancelled = false;
    handle->context_shared = context_shared;
    return handle;
}

void release_contents(handle_object* handle) {
    ref callback(std::exchange(handle->callback, nullptr));
    ref arguments(std::exchange(handle->arguments, nullptr));
    ref context(std::exchange(handle->context, nullptr));
    handle->form = argument_form::none;
    handle->context_shared = false;
}

void detach(handle_object* handle) {
    handle->loop = nullptr;
    handle->where = place::nowhere;
    release_contents(handle);
}

int visit_contents(handle_object* handle, visitproc visit, void* arg) {
    Py_VISIT(handle->callback);
    Py_VISIT(handle->arguments);
    Py_VISIT(handle->context);
    return 0;
}

PyObject* arguments_tuple(handle_object* handle) {
    if (!handle->callback)
        Py_RETURN_NONE;
    switch (handle->form) {
    case argument_form::none:
    case argument_form::socket_read:
        return PyTuple_New(0);
    case argument_form::one:
        return PyTuple_Pack(1, handle->arguments);
    case argument_form::tuple:
        break;
    }
    return Py_NewRef(handle->arguments);
}

bool cancel_handle(handle_object* handle) {
    if (handle->cancelled)
        return false;
    handle->cancelled = true;
    ref from_wheel;
    if (handle->where == place::timers) {
        loop_state& state = *handle->loop->state;
        from_wheel = ref(state.timers.remove({as_timer(as_object(handle))->id, handle->index}));
        ++state.metrics.cancelled;
        handle->loop = nullptr;
        handle->where = place::nowhere;
    }
    release_contents(handle);
    return true;
}

} // namespace horae::python
