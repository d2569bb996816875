// SPDX-License-Identifier: Apache-2.0
#include <horae/horae.hpp>

#define HORAE_TEXT_OF(x) #x
#define HORAE_TEXT(x) HORAE_TEXT_OF(x)

namespace horae {

const char* version() noexcept {
    return HORAE_TEXT(HORAE_VERSION_MAJOR) "." HORAE_TEXT(HORAE_VERSION_MINOR) "." HORAE_TEXT(
        HORAE_VERSION_PATCH);
}

} // namespace horae
