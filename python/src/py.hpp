// SPDX-License-Identifier: Apache-2.0
//
// The smallest layer over the CPython API that makes ownership visible: `ref` owns one reference.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <utility>

namespace horae::python {

class ref {
public:
    ref() = default;
    explicit ref(PyObject* owned) : object_(owned) {}
    static ref share(PyObject* borrowed) { return ref(Py_XNewRef(borrowed)); }
    ref(ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    ref& operator=(ref&& other) noexcept {
        // The old object goes last: its destructor may run Python code that looks at us.
        PyObject* old = std::exchange(object_, std::exchange(other.object_, nullptr));
        Py_XDECREF(old);
        return *this;
    }
    ref(const ref&) = delete;
    ref& operator=(const ref&) = delete;
    ~ref() { Py_XDECREF(object_); }

    PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    void reset() { *this = ref(); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_ = nullptr;
};

// The exception in flight, set aside so that other Python code can run, and put back if wanted.
class saved_exception {
public:
    saved_exception() {
#if PY_VERSION_HEX >= 0x030C0000
        value_ = ref(PyErr_GetRaisedException());
#else
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        PyErr_NormalizeException(&type, &value, &traceback);
        if (traceback)
            PyException_SetTraceback(value, traceback);
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        value_ = ref(value);
#endif
    }
    PyObject* value() const { return value_.get(); }
    void restore() {
        PyObject* value = value_.release();
#if PY_VERSION_HEX >= 0x030C0000
        PyErr_SetRaisedException(value);
#else
        PyErr_Restore(Py_NewRef(as_type(value)), value, PyException_GetTraceback(value));
#endif
    }

private:
    static PyObject* as_type(PyObject* value) { return reinterpret_cast<PyObject*>(Py_TYPE(value)); }
    ref value_;
};

template <class Function>
PyCFunction method(Function* function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

template <class T>
PyObject* as_object(T* pointer) {
    return reinterpret_cast<PyObject*>(pointer);
}

} // namespace horae::python
