// SPDX-License-Identifier: Apache-2.0
//
// What the executor knows of a coroutine: the base of every task promise. The frames of one task form a chain
// from the innermost that is suspended up to the root, which lives in the slot.
#pragma once

#include <coroutine>
#include <exception>

namespace horae {

struct task_slot;

struct resumable {
    std::coroutine_handle<> self;
    resumable* parent = nullptr; // who awaits this one; null at the root
    task_slot* slot = nullptr;   // set when it is first awaited or spawned
    resumable** owner = nullptr; // the pointer whose destructor would destroy this frame; null at the root
    std::exception_ptr error;
};

namespace detail {

// Destroys a suspended chain from the inside out, in a loop: depth costs no stack. Each owner is emptied
// first, so that the frame above does not destroy it again.
inline void destroy_chain(resumable* innermost) noexcept {
    while (innermost != nullptr) {
        resumable* up = innermost->parent;
        if (innermost->owner != nullptr)
            *innermost->owner = nullptr;
        innermost->self.destroy();
        innermost = up;
    }
}

} // namespace detail
} // namespace horae
