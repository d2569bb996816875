// SPDX-License-Identifier: Apache-2.0
#include <horae/exec/worker.hpp>

namespace horae {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local worker* current = nullptr;

} // namespace

// noinline and the empty asm: each call computes the address anew. Compilers have kept a thread-local's
// address across co_await, and used another thread's variable afterwards.
[[gnu::noinline]] worker* current_worker() noexcept {
    asm volatile("");
    return current;
}

[[gnu::noinline]] current_worker_scope::current_worker_scope(worker* self) noexcept : before_(current) {
    asm volatile("");
    current = self;
}

[[gnu::noinline]] current_worker_scope::~current_worker_scope() {
    asm volatile("");
    current = before_;
}

} // namespace horae
