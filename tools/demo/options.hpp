// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace demo {

struct options {
    std::uint32_t timers = 1'000'000;
    std::uint32_t seconds = 5;
    std::uint64_t seed = 1;
    bool help = false;
};

extern const char* const usage;

// Throws std::invalid_argument with a sentence for the user.
options parse_options(int argc, const char* const* argv);

} // namespace demo
