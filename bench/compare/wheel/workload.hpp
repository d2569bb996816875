// SPDX-License-Identifier: Apache-2.0
//
// The one interface behind which every rival stands, and the random numbers they all share.
//
// A rival is a class with
//     using handle = ...;                       // what its user keeps; value-initialised = none; converts to
//     bool static rival_info info(); rival(std::size_t capacity, std::int64_t start_ns);  // may reserve room
//     for `capacity` timers handle schedule(std::int64_t deadline_ns, payload); bool cancel(handle); // of a
//     pending timer handle rearm(handle, std::int64_t deadline_ns);      // of a pending timer template
//     <class F> void advance(std::int64_t now_ns, F&& on_fire);   // on_fire(payload const&) std::int64_t
//     next_deadline();             // only when info().next_deadline
// and one line HORAE_BENCH_RIVAL(rival) in its own file. The workloads (chain.hpp) are templates, so each
// rival is compiled together with them and pays no call that its own library does not make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::int64_t us = 1'000;
inline constexpr std::int64_t ms = 1'000 * us;
inline constexpr std::int64_t second = 1'000 * ms;
inline constexpr std::int64_t start_ns = 3'600 * second; // whole milliseconds: the coarse rivals lose nothing
inline constexpr std::int64_t ten_years = 3'652 * 86'400 * second;

// What every timer carries: 16 bytes.
struct payload {
    std::int64_t deadline_ns;
    std::uint64_t tag; // index of the timer in the harness
};

struct rival_info {
    const char* name;
    std::string version;
    const char* language;
    const char* resolution;
    std::size_t handle_bytes;  // what the user keeps beside the structure, not part of bytes per timer
    bool next_deadline;        // can be asked for the next deadline
    const char* next_why = ""; // reason when it cannot
};

// The same generator in C++ and Rust, so all rivals see the same deadlines.
struct splitmix64 {
    std::uint64_t state;
    std::uint64_t next() {
        std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

// One measured cell of one round.
struct row {
    std::string workload;
    std::uint64_t operations = 0;
    double nanoseconds = 0;
    std::string facts; // further JSON members, each with a leading comma
    std::string not_available;
};

struct settings {
    std::size_t size = 1000;
    std::uint64_t round = 0;
    double budget_seconds = 1.0; // a cell stops after this much measured time, having done fewer operations
    std::uint64_t max_operations = 1'000'000; // of re-arm and churn
    std::string only;
};

struct rival_entry {
    rival_info (*info)();
    std::vector<row> (*run)(settings const&);
};

std::vector<rival_entry>& rivals();

struct registration {
    explicit registration(rival_entry entry) { rivals().push_back(entry); }
};

} // namespace bench

// Needs chain.hpp.
#define HORAE_BENCH_RIVAL(type)                                                                              \
    static const bench::registration registered{                                                             \
        {&type::info, [](bench::settings const& s) { return bench::chain<type>(s).run(); }}};
