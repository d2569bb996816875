// SPDX-License-Identifier: Apache-2.0
#include <horae/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace horae::detail {

void assertion_failed(const char* sentence, const char* file, int line) noexcept {
    std::fprintf(stderr, "horae: %s (%s:%d)\n", sentence, file, line);
    std::abort();
}

} // namespace horae::detail
