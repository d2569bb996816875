// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace horae {

// Names one life of a worker: the place in the runtime (8 bits) and how often that place was filled. An id of
// a removed worker names nobody ever after.
struct worker_id {
    std::uint32_t value = ~std::uint32_t{0};

    std::uint32_t index() const noexcept { return value & 0xffU; }
    explicit operator bool() const noexcept { return value != ~std::uint32_t{0}; }
    friend bool operator==(worker_id, worker_id) = default;
};

} // namespace horae
