// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory_resource>
#include <new>

namespace horae::testing {

// Counts what is allocated, and fails at the n-th allocation if asked to.
class counting_memory : public std::pmr::memory_resource {
public:
    std::size_t allocations() const noexcept { return allocations_; }
    std::size_t bytes() const noexcept { return bytes_; }
    void fail_at(std::size_t allocation) noexcept { fail_at_ = allocation; }

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        if (++allocations_ == fail_at_) {
            throw std::bad_alloc();
        }
        void* memory = std::pmr::new_delete_resource()->allocate(size, alignment);
        bytes_ += size;
        return memory;
    }
    void do_deallocate(void* memory, std::size_t size, std::size_t alignment) override {
        bytes_ -= size;
        std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
    }
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    std::size_t allocations_ = 0;
    std::size_t bytes_ = 0;
    std::size_t fail_at_ = 0;
};

} // namespace horae::testing
