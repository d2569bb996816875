// SPDX-License-Identifier: Apache-2.0
//
// The FIFO of handles that run in the next turn: a ring of owned references.
#pragma once

#include <cstddef>
#include <memory>

#include "py.hpp"

namespace horae::python {

class ready_queue {
public:
    std::size_t size() const { return tail_ - head_; }
    bool empty() const { return tail_ == head_; }
    PyObject* operator[](std::size_t i) const { return ring_[(head_ + i) & mask_]; }

    // Takes over one reference. Throws std::bad_alloc with nothing changed and nothing taken.
    void push(PyObject* owned) {
        if (tail_ - head_ == capacity_)
            grow();
        ring_[tail_++ & mask_] = owned;
    }

    // Hands over the oldest reference; the queue must not be empty.
    PyObject* pop() { return ring_[head_++ & mask_]; }

    // After a burst: an empty queue gives a large ring back.
    void shrink() {
        if (empty() && capacity_ > largest_kept)
            *this = ready_queue();
    }

private:
    static constexpr std::size_t largest_kept = 1 << 16;

    void grow() {
        const std::size_t capacity = capacity_ ? capacity_ * 2 : 64;
        auto ring = std::make_unique<PyObject*[]>(capacity);
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i)
            ring[i] = (*this)[i];
        ring_ = std::move(ring);
        capacity_ = capacity;
        mask_ = capacity - 1;
        head_ = 0;
        tail_ = count;
    }

    std::unique_ptr<PyObject*[]> ring_;
    std::size_t capacity_ = 0, mask_ = 0;
    std::size_t head_ = 0, tail_ = 0;
};

} // namespace horae::python
