// SPDX-License-Identifier: Apache-2.0
//
// Running one handle: its context, its callback, and where an exception goes.
#include "handle.hpp"
#include "loop.hpp"
#include "socket_read.hpp"

namespace horae::python {
namespace {

// What a handle runs with, kept apart from it: the callback may cancel its own handle.
struct invocation {
    ref callback, arguments, context;
    argument_form form;
    int fd;
    bool shared;

    explicit invocation(handle_object* handle)
        : callback(ref::share(handle->callback)),
          arguments(ref::share(handle->arguments)),
          context(ref::share(handle->context)),
          form(handle->form),
          fd(static_cast<int>(handle->index)),
          shared(handle->context_shared) {}

    PyObject* call() const {
        switch (form) {
        case argument_form::none:
            return PyObject_CallNoArgs(callback.get());
        case argument_form::one: {
            PyObject* stack[2] = {nullptr, arguments.get()};
            return PyObject_Vectorcall(callback.get(), stack + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                       nullptr);
        }
        case argument_form::socket_read:
            return python::socket_read(callback.get(), fd);
        case argument_form::tuple:
            break;
        }
        return PyObject_Vectorcall(callback.get(), PySequence_Fast_ITEMS(arguments.get()),
                                   static_cast<std::size_t>(PyTuple_GET_SIZE(arguments.get())), nullptr);
    }

    ref tuple() const {
        switch (form) {
        case argument_form::none:
        case argument_form::socket_read:
            return ref(PyTuple_New(0));
        case argument_form::one:
            return ref(PyTuple_Pack(1, arguments.get()));
        case argument_form::tuple:
            break;
        }
        return ref::share(arguments.get());
    }
};

// asyncio's rule: SystemExit and KeyboardInterrupt end the run, all others go to the exception handler.
bool report_exception(loop_object* loop, handle_object* handle, const invocation& what) {
    if (PyErr_ExceptionMatches(PyExc_SystemExit) || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        return false;
    saved_exception exception;
    ref arguments = what.tuple();
    if (!arguments)
        return false;
    ref result(PyObject_CallFunctionObjArgs(interned.report, as_object(loop), as_object(handle),
                                            what.callback.get(), arguments.get(), exception.value(),
                                            nullptr));
    return static_cast<bool>(result);
}

} // namespace

bool run_handle(loop_object* loop, handle_object* handle) {
    context_cache& contexts = loop->state->contexts;
    const invocation what(handle);
    ref entered(what.shared ? contexts.borrow(what.context.get()) : Py_NewRef(what.context.get()));
    if (!entered)
        return false;
    ref result;
    if (PyContext_Enter(entered.get()) == 0) {
        result = ref(what.call());
        if (PyContext_Exit(entered.get()) < 0)
            return false;
    }
    if (result) {
        result.reset();
        if (what.shared)
            contexts.give_back(entered.release(), what.context.get());
        return true;
    }
    if (what.shared && handle->context_shared) {
        // The exception handler sees the context as the callback left it.
        Py_SETREF(handle->context, entered.release());
        handle->context_shared = false;
    }
    return report_exception(loop, handle, what);
}

} // namespace horae::python
