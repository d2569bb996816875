// SPDX-License-Identifier: Apache-2.0
//
// The clock seam: every reading of time in Horae goes through a clock_source. Times are signed 64-bit
// nanoseconds since the epoch of that clock; never_ns means 'no deadline'.
//
// A real clock advances by itself, and a thread can sleep on it: its readings are CLOCK_MONOTONIC times. A
// virtual one stands still between calls that move it, so a thread that waits for a virtual deadline
// sleeps without one, and whoever moves the clock must wake it: moved() does, for each subscriber.
#pragma once

#include <cstdint>
#include <limits>

namespace horae {

inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

// Told after a virtual clock was moved. Called on the mover's thread, with no lock of ours held.
class clock_listener {
public:
    virtual void clock_moved() noexcept = 0;

protected:
    ~clock_listener() = default;
};

class clock_source {
public:
    clock_source() = default;
    clock_source(const clock_source&) = delete;
    clock_source& operator=(const clock_source&) = delete;
    virtual ~clock_source() = default;

    // Any thread. Never goes back for one caller.
    virtual std::int64_t now_ns() const noexcept = 0;

    // True: readings are CLOCK_MONOTONIC and a futex can wait for them.
    virtual bool is_real() const noexcept = 0;

    // A runtime subscribes for as long as it lives; only virtual clocks have use for it.
    virtual void subscribe(clock_listener&) {}
    virtual void unsubscribe(clock_listener&) noexcept {}

    // Every worker of a runtime is idle and the earliest deadline among them is `next_ns` (never_ns: none). A
    // virtual clock may jump there. Called by the last worker on its way to sleep.
    virtual void all_idle(std::int64_t /*next_ns*/) noexcept {}
};

// CLOCK_MONOTONIC, the default of every runtime.
clock_source& monotonic_clock() noexcept;

} // namespace horae
