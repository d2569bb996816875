// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace horae_test {

// Allocations by operator new in this program so far. Needs support/counting_new.cpp in the test's sources.
std::uint64_t heap_allocations() noexcept;

} // namespace horae_test
