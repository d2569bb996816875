// SPDX-License-Identifier: Apache-2.0
#include "metrics.hpp"

#include <cmath>

#include "loop.hpp"
#include "seconds.hpp"

namespace horae::python {
namespace {

bool put(PyObject* dict, const char* name, PyObject* owned) {
    ref value(owned);
    return value && PyDict_SetItemString(dict, name, value.get()) == 0;
}

// {upper bound in seconds: count}, empty buckets left out.
PyObject* histogram(const loop_metrics& metrics) {
    ref dict(PyDict_New());
    for (std::size_t i = 0; dict && i < metrics.lateness.size(); ++i) {
        if (metrics.lateness[i] == 0)
            continue;
        ref bound(PyFloat_FromDouble(std::ldexp(1e-9, static_cast<int>(i))));
        ref count(PyLong_FromUnsignedLongLong(metrics.lateness[i]));
        if (!bound || !count || PyDict_SetItem(dict.get(), bound.get(), count.get()) < 0)
            return nullptr;
    }
    return dict.release();
}

PyObject* metrics(PyObject* self, PyObject*) {
    const loop_state& state = state_of(self);
    const loop_metrics& m = state.metrics;
    const wheel_stats wheel = state.timers.wheel().stats();
    ref dict(PyDict_New());
    const auto count = [](auto value) { return PyLong_FromUnsignedLongLong(value); };
    const auto seconds = [](std::int64_t ns) { return PyFloat_FromDouble(to_seconds(ns)); };
    if (!dict || !put(dict.get(), "pending", count(state.timers.size())) ||
        !put(dict.get(), "ready", count(state.ready.size())) || !put(dict.get(), "fired", count(m.fired)) ||
        !put(dict.get(), "cancelled", count(m.cancelled)) ||
        !put(dict.get(), "callbacks", count(m.callbacks)) || !put(dict.get(), "turns", count(m.turns)) ||
        !put(dict.get(), "polls", count(m.polls)) || !put(dict.get(), "sleeps", count(m.sleeps)) ||
        !put(dict.get(), "wakes", count(m.wakes)) || !put(dict.get(), "busy", seconds(m.busy_ns)) ||
        !put(dict.get(), "idle", seconds(m.idle_ns)) ||
        !put(dict.get(), "longest_turn", seconds(m.longest_turn_ns)) ||
        !put(dict.get(), "longest_callback",
             state.measure_callbacks ? seconds(m.longest_callback_ns) : Py_NewRef(Py_None)) ||
        !put(dict.get(), "worst_lateness", seconds(m.worst_lateness_ns)) ||
        !put(dict.get(), "lateness", histogram(m)) || !put(dict.get(), "wheel_bytes", count(wheel.bytes)) ||
        !put(dict.get(), "wheel_stale", count(wheel.stale))) {
        return nullptr;
    }
    return dict.release();
}

} // namespace

PyMethodDef metrics_methods[] = {
    {"metrics", metrics, METH_NOARGS,
     "metrics()\n--\n\nCounters and times since the loop was made, as a dict; times in seconds.\n"
     "'lateness' maps an upper bound to the number of timers that were late by up to that."},
    {nullptr, nullptr, 0, nullptr},
};

} // namespace horae::python
