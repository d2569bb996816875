// SPDX-License-Identifier: Apache-2.0
//
// Memory that we keep for reuse is poisoned under ASan, so that a use after free is found in spite of it.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define HORAE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HORAE_ASAN 1
#endif
#endif
#ifndef HORAE_ASAN
#define HORAE_ASAN 0
#endif

#if HORAE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace horae::detail {

#if HORAE_ASAN
inline void poison(void* memory, std::size_t bytes) noexcept {
    __asan_poison_memory_region(memory, bytes);
}
inline void unpoison(void* memory, std::size_t bytes) noexcept {
    __asan_unpoison_memory_region(memory, bytes);
}
#else
inline void poison(void*, std::size_t) noexcept {}
inline void unpoison(void*, std::size_t) noexcept {}
#endif

} // namespace horae::detail
