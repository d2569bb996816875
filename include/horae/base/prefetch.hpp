// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace horae::detail {

// Asks for the cache line at `address` ahead of its use. Any address is fine, also an unmapped one.
inline void prefetch(const void* address) noexcept {
    __builtin_prefetch(address);
}

} // namespace horae::detail
