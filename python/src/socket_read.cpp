// SPDX-License-Identifier: Apache-2.0
#include "socket_read.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "loop.hpp"

namespace horae::python {
namespace {

// As much as one call takes; more data means another event.
constexpr std::size_t receive_size = 64 * 1024;

bool is_method(PyObject* object, PyObject* function) {
    return object && PyMethod_Check(object) && PyMethod_GET_FUNCTION(object) == function;
}

// Data is what this transport waits for, and nothing ended it.
bool receives_plainly(PyObject* transport) {
    ref receive(PyObject_GetAttr(transport, interned.read_ready_cb));
    if (!is_method(receive.get(), interned.data_received_method))
        return false;
    ref lost(PyObject_GetAttr(transport, interned.conn_lost));
    return lost && PyObject_IsTrue(lost.get()) == 0;
}

// What asyncio's transport does when reading or a protocol fails.
PyObject* fail(PyObject* transport, const char* message) {
    if (PyErr_ExceptionMatches(PyExc_SystemExit) || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
        return nullptr;
    saved_exception exception;
    return PyObject_CallMethod(transport, "_fatal_error", "Os", exception.value(), message);
}

} // namespace

bool is_socket_read(PyObject* callback) {
    if (!is_method(callback, interned.read_ready_method))
        return false;
    ref socket(PyObject_GetAttrString(PyMethod_GET_SELF(callback), "_sock"));
    PyErr_Clear();
    return socket && as_object(Py_TYPE(socket.get())) == interned.socket_class;
}

PyObject* socket_read(PyObject* callback, int fd) {
    PyObject* transport = PyMethod_GET_SELF(callback);
    if (!receives_plainly(transport)) {
        PyErr_Clear();
        return PyObject_CallNoArgs(callback);
    }
    // One buffer for all: nothing runs between filling it and copying it out, and the GIL is held.
    static std::array<char, receive_size> buffer;
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got == 0)
        return PyObject_CallNoArgs(callback); // end of file, as often as one asks
    if (got < 0) {
        // Not left to the method: the socket tells an error once.
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
            Py_RETURN_NONE;
        PyErr_SetFromErrno(PyExc_OSError);
        return fail(transport, "Fatal read error on socket transport");
    }
    ref data(PyBytes_FromStringAndSize(buffer.data(), got));
    ref protocol(PyObject_GetAttr(transport, interned.protocol));
    if (!data || !protocol)
        return nullptr;
    PyObject* result = PyObject_CallMethodOneArg(protocol.get(), interned.data_received, data.get());
    return result ? result : fail(transport, "Fatal error: protocol.data_received() call failed.");
}

} // namespace horae::python
