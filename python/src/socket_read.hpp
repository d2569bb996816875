// SPDX-License-Identifier: Apache-2.0
//
// Reading for asyncio's socket transports without their Python code in between.
//
// asyncio's transport registers its method _read_ready. Where that is the unmodified method of a plain
// socket's transport, the loop receives by itself and calls protocol.data_received(). All that is not plain
// data (end of file, errors, a buffered protocol, a transport that was closed) is left to the method.
#pragma once

#include "py.hpp"

namespace horae::python {

// Whether `callback` is such a method.
bool is_socket_read(PyObject* callback);

// Calls `callback`, or does what it would do. As every call: null with an exception set, or a new reference.
PyObject* socket_read(PyObject* callback, int fd);

} // namespace horae::python
