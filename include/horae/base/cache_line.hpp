// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace horae {

// Fixed, not std::hardware_destructive_interference_size: that one may differ between translation units
// and would then change the layout of public types.
inline constexpr std::size_t cache_line_bytes = 64;

// Two lines, because the hardware prefetcher of current x86 fetches lines in pairs.
inline constexpr std::size_t false_sharing_bytes = 128;

} // namespace horae
