// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

namespace horae::python {
namespace {

// The head of CPython's context object, the same from 3.11 on.
struct context_head {
    PyObject_HEAD PyObject* previous;
    PyObject* variables;
};

PyObject* variables_of(PyObject* context) {
    return reinterpret_cast<context_head*>(context)->variables;
}

bool set_in(PyObject* context, PyObject* variable) {
    if (PyContext_Enter(context) < 0)
        return false;
    ref token(PyContextVar_Set(variable, Py_None));
    return PyContext_Exit(context) == 0 && token;
}

bool probe() {
    if (PyContext_Type.tp_basicsize < static_cast<Py_ssize_t>(sizeof(context_head)))
        return false;
    ref context(PyContext_New());
    ref variable(PyContextVar_New("horae.probe", nullptr));
    if (!context || !variable || !set_in(context.get(), variable.get()))
        return false;
    ref copy(PyContext_Copy(context.get()));
    if (!copy)
        return false;
    PyObject* before = variables_of(copy.get());
    const bool same = before != nullptr && variables_of(context.get()) == before;
    ref second(PyContextVar_New("horae.probe2", nullptr));
    if (!second || !set_in(context.get(), second.get()))
        return false;
    return same && variables_of(context.get()) != before && variables_of(copy.get()) == before;
}

} // namespace

bool context_sharing_works() {
    static const bool works = [] {
#if PY_VERSION_HEX < 0x030F0000
        const bool result = probe();
        PyErr_Clear();
        return result;
#else
        return false;
#endif
    }();
    return works;
}

PyObject* context_cache::capture(bool& shared) {
    shared = context_sharing_works();
    if (!shared)
        return PyContext_CopyCurrent();
    PyObject* current = PyThreadState_Get()->context;
    if (current && snapshot_ && variables_of(current) == variables_of(snapshot_.get())) {
        return Py_NewRef(snapshot_.get());
    }
    ref copy(PyContext_CopyCurrent());
    if (copy)
        snapshot_ = ref::share(copy.get());
    return copy.release();
}

PyObject* context_cache::borrow(PyObject* snapshot) {
    if (spare_ && variables_of(spare_.get()) == variables_of(snapshot))
        return spare_.release();
    return PyContext_Copy(snapshot);
}

void context_cache::give_back(PyObject* context, PyObject* snapshot) {
    // Another owner, or another map: what the callback did must stay with it.
    if (!spare_ && Py_REFCNT(context) == 1 && variables_of(context) == variables_of(snapshot)) {
        spare_ = ref(context);
    } else {
        Py_DECREF(context);
    }
}

int context_cache::traverse(visitproc visit, void* arg) {
    Py_VISIT(snapshot_.get());
    Py_VISIT(spare_.get());
    return 0;
}

void context_cache::clear() {
    snapshot_.reset();
    spare_.reset();
}

} // namespace horae::python
