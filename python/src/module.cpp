// SPDX-License-Identifier: Apache-2.0
//
// The module horae._core.
#include <horae/version.hpp>
#include <string>

#include "loop.hpp"

namespace horae::python {

names interned;

namespace {

bool intern_names() {
    const struct {
        PyObject*& target;
        const char* text;
    } all[] = {{interned.context, "context"},
               {interned.callback, "callback"},
               {interned.delay, "delay"},
               {interned.when, "when"},
               {interned.time, "time"},
               {interned.call_at, "call_at"},
               {interned.run_once, "_run_once"},
               {interned.run, "_run"},
               {interned.cancelled, "_cancelled"},
               {interned.fileno, "fileno"},
               {interned.write_to_self, "_write_to_self"},
               {interned.read_ready_cb, "_read_ready_cb"},
               {interned.conn_lost, "_conn_lost"},
               {interned.protocol, "_protocol"},
               {interned.data_received, "data_received"}};
    for (const auto& name : all) {
        name.target = PyUnicode_InternFromString(name.text);
        if (!name.target)
            return false;
    }
    return true;
}

// The parts that are written in Python, handed over by horae/_support.py before the first loop is made.
PyObject* set_support(PyObject*, PyObject* namespace_) {
    const struct {
        PyObject*& target;
        const char* text;
    } all[] = {{interned.debug_call_soon, "debug_call_soon"},
               {interned.debug_call_at, "debug_call_at"},
               {interned.debug_run, "debug_run"},
               {interned.report, "report"},
               {interned.foreign_poll, "foreign_poll"},
               {interned.foreign_watch, "foreign_watch"},
               {interned.reopen, "reopen"},
               {interned.handle_class, "handle_class"},
               {interned.timer_handle_class, "timer_handle_class"},
               {interned.read_ready_method, "read_ready_method"},
               {interned.data_received_method, "data_received_method"},
               {interned.socket_class, "socket_class"}};
    for (const auto& name : all) {
        PyObject* value = PyObject_GetAttrString(namespace_, name.text);
        if (!value)
            return nullptr;
        Py_XSETREF(name.target, value);
    }
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_support", set_support, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// Types, free lists and names are the process's: made once, however often the module is imported.
bool prepare() {
    static bool prepared = false;
    if (prepared)
        return true;
    static PyMethodDef loop_methods[96];
    std::size_t count = 0;
    for (PyMethodDef* group :
         {schedule_methods, bulk_methods, watch_methods, state_methods, metrics_methods}) {
        for (; group->ml_name; ++group)
            loop_methods[count++] = *group;
    }
    if (!intern_names() || !ready_handle_types() || !ready_loop_type(loop_methods) ||
        PyType_Ready(&virtual_clock_type) < 0) {
        return false;
    }
    install_fork_hook();
    prepared = true;
    return true;
}

int fill(PyObject* module) {
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "horae can be imported in the main interpreter only");
        return -1;
    }
    if (!prepare())
        return -1;
    const std::string version = std::to_string(HORAE_VERSION_MAJOR) + "." +
                                std::to_string(HORAE_VERSION_MINOR) + "." +
                                std::to_string(HORAE_VERSION_PATCH);
    const bool added =
        PyModule_AddObjectRef(module, "LoopCore", as_object(&loop_type)) == 0 &&
        PyModule_AddObjectRef(module, "Handle", as_object(&handle_type)) == 0 &&
        PyModule_AddObjectRef(module, "TimerHandle", as_object(&timer_handle_type)) == 0 &&
        PyModule_AddObjectRef(module, "VirtualClock", as_object(&virtual_clock_type)) == 0 &&
        PyModule_AddObjectRef(module, "shares_contexts", context_sharing_works() ? Py_True : Py_False) == 0 &&
        PyModule_AddStringConstant(module, "version", version.c_str()) == 0;
    return added ? 0 : -1;
}

PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(fill)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "horae._core",
                          "The native half of horae.",
                          0,
                          functions,
                          slots,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace
} // namespace horae::python

PyMODINIT_FUNC PyInit__core() {
    return PyModuleDef_Init(&horae::python::definition);
}
