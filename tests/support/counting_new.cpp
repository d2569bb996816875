// SPDX-License-Identifier: Apache-2.0
#include "counting_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count{0};

} // namespace

std::uint64_t horae_test::heap_allocations() noexcept { return count; }

void* operator new(std::size_t bytes) {
    ++count;
    if (void* memory = std::malloc(bytes); memory != nullptr)
        return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
