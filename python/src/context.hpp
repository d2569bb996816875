// SPDX-License-Identifier: Apache-2.0
//
// Contexts without a copy per handle.
//
// asyncio copies the current context for every call_soon and call_later: 72 bytes and a tracked object
// each. Copies differ only when a context variable was set in between, which is rare, so handles share
// one snapshot until then. A snapshot is never entered; each run enters a private copy of it, and that
// copy is used again when nobody changed or kept it. Seen from Python it is as if each handle had
// its own.
//
// Whether two contexts are equal is decided by the address of their immutable variable map. CPython has
// no API for that, so its place in the object is checked at import (`context_sharing_works`);
// if the check fails, every handle gets its own copy as in asyncio.
#pragma once

#include "py.hpp"

namespace horae::python {

bool context_sharing_works();

class context_cache {
public:
    // A new reference to a context equal to the current one; `shared` says that it must be entered
    // through `enter` only. Null with an exception set on failure.
    PyObject* capture(bool& shared);

    // A context equal to `snapshot` for the caller alone. Give it back with `give_back`.
    PyObject* borrow(PyObject* snapshot);
    void give_back(PyObject* context, PyObject* snapshot);

    int traverse(visitproc visit, void* arg);
    void clear();

private:
    ref snapshot_; // keeps the map alive, so its address cannot be used again for another
    ref spare_;
};

} // namespace horae::python
