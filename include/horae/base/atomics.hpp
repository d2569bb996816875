// SPDX-License-Identifier: Apache-2.0
//
// The atomics facade. Every lock-free class of ours takes it as a template parameter, so that the same
// source runs on the hardware (std_atomics) and inside a model checker (tests/model/relacy_atomics.hpp).
// `plain` marks data that is not atomic but crosses threads under the protocol being checked: a checker
// reports a race on it, the hardware build pays nothing for it.
#pragma once

#include <atomic>

namespace horae {

struct std_atomics {
    template <class T>
    using atomic = std::atomic<T>;

    template <class T>
    struct plain {
        T read() const noexcept { return value; }
        void write(T next) noexcept { value = next; }
        T value{};
    };
};

} // namespace horae
