// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace horae {

std::uint32_t usable_cores() noexcept;

// Name, binding to the core-th usable core (negative: none), and exact timers for this thread. Failures are
// ignored: each of them only makes the thread less comfortable.
void set_up_worker_thread(const std::string& name, int core) noexcept;

} // namespace horae
