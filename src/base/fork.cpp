// SPDX-License-Identifier: Apache-2.0
#include <horae/base/fork.hpp>

#include <atomic>
#include <pthread.h>

namespace horae {
namespace {

std::atomic<std::uint32_t> generation{0};

} // namespace

std::uint32_t fork_generation() noexcept {
    // A failed registration (out of memory) leaves fork undetected, nothing worse.
    static const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
    static_cast<void>(registered);
    return generation.load(std::memory_order_relaxed); // the child starts with one thread: nothing to order
}

} // namespace horae
