// SPDX-License-Identifier: Apache-2.0
//
// How often this process is a fork of a fork: a runtime remembers the number it was made under, and a
// different one later means that its threads stayed behind in the parent.
#pragma once

#include <cstdint>

namespace horae {

std::uint32_t fork_generation() noexcept;

} // namespace horae
