// SPDX-License-Identifier: Apache-2.0
//
// The slot word with a worker that suspends and runs the task, two wakers with the same ticket, and a
// canceller: at most one thread owns the frame, the task runs at most once more, no waker's data is missed,
// nothing is lost.
#include "support/relacy_atomics.hpp"

#include <horae/exec/slot_word.hpp>

namespace {

using namespace horae;
using word_type = basic_slot_word<model::relacy_atomics>;

// A queue with one place: an entry in it twice would be an error.
struct one_place {
    model::relacy_atomics::atomic<int> full;
    void push() { model::require(full.exchange(1, std::memory_order_relaxed) == 0); }
    bool pop() { return full.exchange(0, std::memory_order_relaxed) == 1; }
};

struct fixture {
    word_type word;
    one_place queue;
    model::watched<int> frame; // touched by owners only: a second owner is a race
    bool ended = false;

    void start() {
        frame.write(1);
        word.spawn();
        model::require(word.start() == start_result::run);
    }
    void end() {
        frame.write(frame.read() + 1);
        model::require(!ended);
        ended = true;
        word.finish();
    }
};

// Worker 0 suspends; 1 and 2 wake with the ticket; then 0 takes from the queue until the task ran once more.
struct two_wakers : rl::test_suite<two_wakers, 3>, fixture {
    std::uint32_t generation = 0, epoch = 0;
    bool told[2] = {};

    void before() {
        start();
        generation = word.own_generation();
        epoch = word.own_epoch();
    }
    void thread(unsigned index) {
        if (index != 0) {
            const wake_result result = word.wake(generation, epoch);
            told[index - 1] = result != wake_result::stale;
            if (result == wake_result::scheduled)
                queue.push();
            return;
        }
        frame.write(2);
        if (word.suspend(false) == suspend_result::requeue)
            queue.push();
        while (!queue.pop())
            model::pause();
        model::require(word.start() == start_result::run);
        model::require(frame.read() == 2);
        model::require(word.wake(generation, epoch) == wake_result::stale);
    }
    void after() {
        model::require(told[0] || told[1]);
        model::require(!queue.pop());
    }
};

// The second waker's data: the task, once started, must see the data of every waker that was not told
// 'stale'.
struct second_wake_publishes : rl::test_suite<second_wake_publishes, 3>, fixture {
    model::relacy_atomics::atomic<int> data[2];
    model::relacy_atomics::atomic<int> accepted[2];
    std::uint32_t generation = 0, epoch = 0;

    void before() {
        start();
        generation = word.own_generation();
        epoch = word.own_epoch();
    }
    void thread(unsigned index) {
        if (index != 0) {
            data[index - 1].store(1, std::memory_order_relaxed);
            const wake_result result = word.wake(generation, epoch);
            if (result == wake_result::scheduled)
                queue.push();
            if (result != wake_result::stale)
                accepted[index - 1].store(1, std::memory_order_relaxed);
            return;
        }
        if (word.suspend(false) == suspend_result::requeue)
            queue.push();
        while (!queue.pop())
            model::pause();
        word.start();
        // A relaxed read, so that only the word's edges count. What was not seen now must find a stale
        // ticket: the waker then knows that it must look for the next suspension.
        seen[0] = data[0].load(std::memory_order_relaxed);
        seen[1] = data[1].load(std::memory_order_relaxed);
    }
    void after() {
        for (int i = 0; i < 2; ++i)
            model::require(seen[i] == 1 || accepted[i].load(std::memory_order_relaxed) == 0);
    }
    int seen[2] = {};
};

// Worker 0 suspends and later runs; 1 wakes; 2 cancels where it stands. The task ends once, in one way.
struct cancel_against_wake : rl::test_suite<cancel_against_wake, 3>, fixture {
    std::uint32_t generation = 0, epoch = 0;
    model::relacy_atomics::atomic<int> over;

    void before() {
        start();
        generation = word.own_generation();
        epoch = word.own_epoch();
    }
    void finish_here() {
        end();
        over.store(1, std::memory_order_release);
    }
    void thread(unsigned index) {
        if (index == 1) {
            if (word.wake(generation, epoch) == wake_result::scheduled)
                queue.push();
            return;
        }
        if (index == 2) {
            if (word.cancel(generation, true) == cancel_result::destroy)
                finish_here();
            return;
        }
        frame.write(2);
        const suspend_result result = word.suspend(false);
        if (result == suspend_result::destroy) {
            finish_here();
            return;
        }
        if (result == suspend_result::requeue)
            queue.push();
        while (over.load(std::memory_order_acquire) == 0) {
            if (!queue.pop()) {
                model::pause();
                continue;
            }
            word.start(); // run to its end, or destroy: both end it
            finish_here();
        }
    }
    void after() { model::require(ended); }
};

// A shielded suspension: 1 is the last child and wakes, 2 cancels and propagates. The frame is not destroyed
// before the wake, and the cancellation is not forgotten once it was accepted.
struct shielded_cancel : rl::test_suite<shielded_cancel, 3>, fixture {
    std::uint32_t generation = 0, epoch = 0;
    model::relacy_atomics::atomic<int> child_over;
    bool propagated = false, ran = false;

    void before() {
        start();
        generation = word.own_generation();
        epoch = word.own_epoch();
    }
    void thread(unsigned index) {
        if (index == 1) {
            child_over.store(1, std::memory_order_relaxed);
            if (word.wake(generation, epoch) == wake_result::scheduled)
                queue.push();
            return;
        }
        if (index == 2) {
            const cancel_result result = word.cancel(generation, true);
            model::require(result != cancel_result::destroy);
            if (result == cancel_result::propagate) {
                propagated = true;
                model::require(frame.read() == 2); // the group is in the frame
                if (word.unclaim())
                    queue.push();
            }
            return;
        }
        frame.write(2);
        switch (word.suspend(true)) {
        case suspend_result::propagate:
            if (word.unclaim())
                queue.push();
            break;
        case suspend_result::requeue:
            queue.push();
            break;
        case suspend_result::destroy:
            model::require(child_over.load(std::memory_order_relaxed) == 1);
            end();
            return;
        case suspend_result::suspended:
            break;
        }
        while (!queue.pop())
            model::pause();
        ran = word.start() == start_result::run;
        model::require(child_over.load(std::memory_order_relaxed) == 1);
        end();
    }
    void after() {
        model::require(ended);
        // A cancellation accepted before the task was started again is not forgotten.
        model::require(!(ran && propagated));
    }
};

// A slot is released and used again while a waker and a canceller still hold the old identity.
struct stale_ticket : rl::test_suite<stale_ticket, 3>, fixture {
    std::uint32_t generation = 0, epoch = 0;
    bool cancelled = false, woken = false;

    void before() {
        start();
        generation = word.own_generation();
        epoch = word.own_epoch();
    }
    void thread(unsigned index) {
        if (index == 1) {
            woken = word.wake(generation, epoch) == wake_result::scheduled;
        } else if (index == 2) {
            cancelled = word.cancel(generation, true) == cancel_result::destroy;
        } else {
            word.finish();
            word.release();
            word.spawn();
            word.start();
            word.suspend(false); // the second task rests here: nobody holds a ticket for it
            const auto now = word.load(std::memory_order_relaxed);
            model::require(now.state == slot_state::idle && now.generation == generation + 1);
        }
    }
    void after() {
        model::require(!woken && !cancelled);
        model::require(word.load(std::memory_order_relaxed).state == slot_state::idle);
    }
};

} // namespace

int main(int argc, char** argv) {
    return model::run<two_wakers, second_wake_publishes, cancel_against_wake, shielded_cancel, stale_ticket>(
        argc, argv, {.preemptions = 3});
}
