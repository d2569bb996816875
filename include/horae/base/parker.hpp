// SPDX-License-Identifier: Apache-2.0
//
// A one-token parking place for one thread. unpark() leaves a token; park() takes it, sleeping until there is
// one or the deadline has come. A token left before park() makes it return at once, so no wake-up is
// lost; two tokens are one.
//
//   token_ | empty 0 | parked 1 | token 2 |    writers: the parking thread P, any waker U
//     empty --park[P]--> parked --unpark[U]--> token --park[P]--> empty
//     empty --unpark[U]--> token                parked --deadline[P]--> empty  (P and U race; exchange
//     decides)
//
// HB-P1  U: unpark() release-exchange -> P: park() acquire. Publishes what U did before.
// No lost wake-up: P sleeps only while token_ == parked, and the kernel compares that value under the
// futex's lock; U changes the value first and then wakes. Signals (EINTR) and spurious returns go back to
// sleep with the same absolute deadline. Model: tests/model/base/parker_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>
#include <horae/base/clock.hpp>

#include <cstdint>

namespace horae {

// Sleeping on a 32-bit word, as the kernel offers it. Replaced in models.
struct futex_wait {
    // Sleeps while word == expected, until the absolute CLOCK_MONOTONIC time (never_ns: without one). May
    // return early for any reason. True: the deadline has passed.
    static bool wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                     std::int64_t until_ns) noexcept;
    static void wake_one(std::atomic<std::uint32_t>& word) noexcept;
};

template <class Atomics = std_atomics, class Wait = futex_wait>
class basic_parker {
public:
    // True: a token was taken. False: the deadline passed without one.
    bool park(std::int64_t until_ns = never_ns) noexcept {
        std::uint32_t seen = empty;
        // relaxed: parked publishes nothing, and a token is taken with the exchange below.
        if (token_.compare_exchange_strong(seen, parked, std::memory_order_relaxed,
                                           std::memory_order_relaxed)) {
            while (!Wait::wait(token_, parked, until_ns)) {
                if (token_.load(std::memory_order_relaxed) == token)
                    break;
            }
        }
        // An exchange, not a store: a second U may have added its token since we saw the first. Both are
        // taken as one, so what both published must be visible (HB-P1): a store would read neither.
        return token_.exchange(empty, std::memory_order_acquire) == token;
    }

    // Any thread. True: the thread was asleep or on its way to, and was woken.
    bool unpark() noexcept {
        if (token_.exchange(token, std::memory_order_acq_rel) != parked) // HB-P1
            return false;
        Wait::wake_one(token_);
        return true;
    }

private:
    enum : std::uint32_t { empty, parked, token };
    typename Atomics::template atomic<std::uint32_t> token_{empty};
};

using parker = basic_parker<>;

} // namespace horae
