// SPDX-License-Identifier: Apache-2.0
#include "counting_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count{0};

} // namespace

std::uint64_t horae_test::heap_allocations() noexcept {
    return count;
}

// The sanitizers have an operator new of their own; under them the count stays zero.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HORAE_TEST_COUNTS 0
#endif
#endif
#ifndef HORAE_TEST_COUNTS
void* operator new(std::size_t bytes) {
    ++count;
    if (void* memory = std::malloc(bytes); memory != nullptr)
        return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
#endif
