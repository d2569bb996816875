// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <horae/base/clock.hpp>
#include <horae/exec/driver.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace horae {

struct runtime_options {
    // Worker threads at the start. 0: one per core the process may use.
    std::uint32_t workers = 0;
    // No threads at all: tasks run inside block_on, on its caller.
    bool current_thread = false;
    // How many tasks can be alive at once. Costs address space (64 bytes each) until they are really used.
    std::uint32_t slot_capacity = std::uint32_t{1} << 20U;
    // Threads that spawn_blocking may use at most. They are started when needed.
    std::uint32_t blocking_threads = 64;
    // What each worker drives, in this order.
    std::vector<driver_factory> drivers{};
    // Null: the monotonic clock. Must outlive the runtime.
    clock_source* clock = nullptr;
    // For the choice of whom to steal from. The same seed makes a simulation repeat itself.
    std::uint64_t seed = 1;
    // Thread names are this, a dash and the worker's index; the kernel shows 15 characters.
    std::string thread_name = "horae";
    // Bind worker i to the i-th core the process may use. Helps on a machine of one's own, hurts on a shared
    // one.
    bool pin = false;
    // Gets the exceptions that leave a task nobody awaits. Empty: print to stderr and go on.
    std::function<void(std::exception_ptr)> on_unhandled_exception{};
};

enum class spawn_error : std::uint8_t {
    none,
    no_capacity, // slot_capacity tasks are alive
    shut_down,   // the runtime takes no more tasks
    forked,      // this process is a fork of the one that made the runtime: its workers are not here
};

const char* describe(spawn_error error) noexcept;

} // namespace horae
