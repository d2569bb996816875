// SPDX-License-Identifier: Apache-2.0
//
// VirtualClock: time that moves when told, or by itself to the next timer when the loop has nothing to do.
#pragma once

#include <cstdint>
#include <vector>

#include "py.hpp"

namespace horae::python {

struct loop_state;

struct virtual_clock_object {
    PyObject_HEAD std::int64_t now_ns;
    bool auto_advance;
    std::vector<loop_state*>* loops; // borrowed: to wake them when time is moved from elsewhere
};

extern PyTypeObject virtual_clock_type;

void attach_clock(virtual_clock_object* clock, loop_state* loop);
void detach_clock(virtual_clock_object* clock, loop_state* loop);

} // namespace horae::python
