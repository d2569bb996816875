// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace horae {

struct wheel_options {
    // The time at which the wheel starts. Any value; usually the clock's reading at construction.
    std::int64_t start_ns = 0;

    // How fine time is sorted by bucket; within that, entries are sorted one by one. It moves no timer: what
    // fires is decided by exact nanoseconds whatever the value. Coarser means fewer cascades and larger
    // sorts. Any positive value; in force is the greatest power of 64 that is not above it
    // (`resolution_ns()`).
    std::int64_t resolution_ns = 1'000'000;

    // Room for this many timers is allocated at construction and kept.
    std::size_t reserve = 0;

    // A cancelled timer leaves a 12-byte entry behind in its bucket until the bucket is opened or scrubbed,
    // or nothing else is left in it. The wheel tolerates garbage_floor of them, and garbage_per_slot for each
    // timer that it has memory for; beyond that every cancel scrubs a few entries.
    std::size_t garbage_floor = 1024;
    double garbage_per_slot = 1.0;

    // Upper bound on the entries that one advance() examines only to collect garbage.
    std::size_t scrub_budget = 256;
};

struct wheel_stats {
    std::size_t pending = 0;        // armed timers
    std::uint64_t fired = 0;        // callbacks called
    std::uint64_t cancelled = 0;    // cancel() == true
    std::size_t stale = 0;          // entries of cancelled or re-armed timers that are not collected yet
    std::uint64_t scrubbed = 0;     // entries examined by garbage collection alone
    std::uint64_t cascaded = 0;     // entries moved to a finer level
    std::uint64_t clock_backs = 0;  // advance() calls whose time was before an earlier one
    std::size_t retired = 0;        // places whose generations are used up
    std::size_t bytes = 0;          // all memory, the wheel object included
    std::int64_t resolution_ns = 0; // the resolution in force
};

} // namespace horae
