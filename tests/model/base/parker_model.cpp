// SPDX-License-Identifier: Apache-2.0
//
// Two wakers publish something each and unpark; the sleeper parks until it has seen both. A lost token is a
// sleep without end, which the checker reports as a deadlock; a token taken without what it publishes shows
// as a sleep without end as well.
#include "support/relacy_atomics.hpp"

#include <horae/base/parker.hpp>

namespace {

// A futex of the model: the comparison and falling asleep are one step, as in the kernel.
struct model_wait {
    static inline rl::mutex* mutex;
    static inline rl::condition_variable* changed;

    template <class Word>
    static bool wait(Word& word, std::uint32_t expected, std::int64_t) {
        mutex->lock($);
        if (word.load(std::memory_order_relaxed) == expected)
            changed->wait(*mutex, $);
        mutex->unlock($);
        return false;
    }
    template <class Word>
    static void wake_one(Word&) {
        mutex->lock($);
        changed->notify_one($);
        mutex->unlock($);
    }
};

struct two_wakers : rl::test_suite<two_wakers, 3> {
    rl::mutex mutex;
    rl::condition_variable changed;
    horae::basic_parker<model::relacy_atomics, model_wait> parker;
    model::relacy_atomics::atomic<int> published[2];

    void before() {
        model_wait::mutex = &mutex;
        model_wait::changed = &changed;
    }

    void thread(unsigned index) {
        if (index < 2) {
            published[index].store(1, std::memory_order_relaxed);
            parker.unpark();
            return;
        }
        // relaxed: only the token's own edge may bring them here.
        while (published[0].load(std::memory_order_relaxed) + published[1].load(std::memory_order_relaxed) !=
               2)
            parker.park();
    }
};

} // namespace

int main(int argc, char** argv) {
    return model::run<two_wakers>(argc, argv, {.random = 300'000});
}
