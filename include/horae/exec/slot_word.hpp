// SPDX-License-Identifier: Apache-2.0
//
// The slot word: the whole scheduling state of one task in 64 bits, so that one CAS proves identity and
// ownership at once. This class is the protocol alone: it moves no task and calls nobody. Each operation
// tells the caller what it now owns and must do.
//
//   word_ | generation:32 | epoch:28 | state:4 |
//   generation counts uses of the slot, epoch counts suspensions of this task. A wake ticket is
//   {slot, generation, epoch}.
//
//   Actors: S spawner, W the worker that runs the task, K a waker with a ticket, C a canceller.
//
//   free      --spawn[S]--> scheduled --start[W], epoch+1--> executing --finish[W]--> done
//   done      --release--> free, generation+1
//   executing --suspend[W]--> idle              executing --wake[K]--> notified
//   idle      --wake[K]--> scheduled            idle      --start_inline[K], epoch+1--> executing
//   notified  --suspend[W]--> scheduled
//   idle      --cancel[C]--> claimed (C destroys) or scheduled_cancel
//   executing, notified --cancel[C]--> executing_cancel --suspend[W]--> claimed (W destroys)
//   scheduled --cancel[C]--> scheduled_cancel --start[W]--> claimed (W destroys)
//   claimed   --finish--> done                  claimed   --wake[K]--> claimed_notified
//
//   A shielded suspension waits for children that may use this frame, so it can not be destroyed at once:
//   executing --suspend(shielded)[W]--> shielded --wake[K]--> scheduled
//   shielded  --cancel[C]--> claimed (C cancels the children) --unclaim--> shielded_cancel
//   shielded_cancel  --wake[K]--> scheduled_cancel      claimed_notified --unclaim--> scheduled_cancel
//   executing_cancel --suspend(shielded)[W]--> claimed, as above with W in place of C
//   executing_cancel --wake[K]--> notified_cancel --suspend(shielded)[W]--> claimed (W destroys: the
//                                                                           children ended)
//
// Who owns the frame and the plain fields of the slot: the one who moved the word to executing or claimed,
// until he moves it on. scheduled* is owned by exactly one queue entry.
//
// HB-1  W: suspend() release -> next W: start()/start_inline() acquire. Publishes the frame. wake() and
//       cancel() in between are read-modify-writes and continue the release sequence.
// HB-2  K: wake() release -> W: start() acquire, or suspend() acquire when notified. Publishes what K wrote
//       before. Holds for the second waker too: 'already scheduled' is a read-modify-write, never a mere load.
// HB-3  W: suspend() release -> C: cancel() acquire. The destroyer sees the frame.
// HB-4  finish() release -> whoever reads done with acquire.
// HB-5  release() release -> K: a stale ticket that still reads the old word can only fail its CAS.
//
// Lost wake-up: K finds the word of its epoch in executing -> notified, which suspend() must see, for it is a
// CAS on the same word; in idle or shielded -> K schedules; in any other state of that epoch the task is
// going to run or to die. ABA: generations do not repeat (a slot whose generation is used up is never used
// again); an epoch repeats after 2^28 suspensions, longer than any waker is in flight.
// Model: tests/model/exec/slot_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>

#include <cstdint>

namespace horae {

enum class slot_state : std::uint8_t {
    free,
    idle,
    shielded,
    shielded_cancel,
    scheduled,
    scheduled_cancel,
    executing,
    notified,
    executing_cancel,
    notified_cancel,
    claimed,
    claimed_notified,
    done,
};

// What a ticket's wake came to. Only `scheduled` gives the caller something to do: queue the slot.
enum class wake_result : std::uint8_t { scheduled, notified, already, stale };

enum class start_result : std::uint8_t { run, destroy };

// `requeue`: queue the slot. `destroy`: end the task. `propagate`: cancel the children, then unclaim().
enum class suspend_result : std::uint8_t { suspended, requeue, destroy, propagate };

// `destroy`: the caller owns the frame. `propagate`: the caller cancels the children, then unclaim().
// `schedule`: the caller queues the slot. `flagged`: the owner will see it. `too_late`: ended, or cancelled
// before.
enum class cancel_result : std::uint8_t { destroy, propagate, schedule, flagged, too_late };

template <class Atomics = std_atomics, unsigned EpochBits = 28>
class basic_slot_word {
    static_assert(EpochBits >= 1 && EpochBits <= 28, "the epoch has at most 28 bits");

public:
    static constexpr std::uint32_t epoch_mask = (std::uint32_t{1} << EpochBits) - 1;
    static constexpr std::uint32_t last_generation = 0xffffffffU;

    struct view {
        std::uint32_t generation;
        std::uint32_t epoch;
        slot_state state;
        friend bool operator==(const view&, const view&) = default;
    };

    view load(std::memory_order order = std::memory_order_acquire) const noexcept {
        return unpack(word_.load(order));
    }

    // W, while executing: only W changes generation and epoch then, so relaxed reads its own value.
    std::uint32_t own_generation() const noexcept { return load(std::memory_order_relaxed).generation; }
    std::uint32_t own_epoch() const noexcept { return load(std::memory_order_relaxed).epoch; }

    // S, owner of a free slot: publishes the fields it wrote (HB-1).
    void spawn() noexcept { move_to(slot_state::scheduled, std::memory_order_release); }

    // K: at most one of all tickets of one suspension is told `scheduled`.
    wake_result wake(std::uint32_t generation, std::uint32_t epoch) noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed); // a guess; the CAS decides
        for (;;) {
            const view now = unpack(seen);
            if (now.generation != generation || now.epoch != epoch || now.state == slot_state::free ||
                now.state == slot_state::done)
                return wake_result::stale;
            wake_result result = wake_result::already;
            const slot_state next = woken(now.state, result);
            // acq_rel: HB-2, and passes on HB-1. Also when nothing changes: see HB-2.
            if (word_.compare_exchange_weak(seen, pack({generation, epoch, next}), std::memory_order_acq_rel,
                                            std::memory_order_relaxed))
                return result;
        }
    }

    // K on a worker, instead of wake() and a queue. True: the caller runs the task now.
    bool start_inline(std::uint32_t generation, std::uint32_t epoch) noexcept {
        std::uint64_t seen = pack({generation, epoch, slot_state::idle});
        const std::uint64_t next = pack({generation, next_epoch(epoch), slot_state::executing});
        // acq_rel: HB-1, HB-2.
        if (word_.compare_exchange_strong(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed))
            return true;
        seen = pack({generation, epoch, slot_state::shielded});
        return word_.compare_exchange_strong(seen, next, std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
    }

    // W, having taken the slot from a queue.
    start_result start() noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed); // a guess; the CAS decides
        for (;;) {
            const view now = unpack(seen);
            const bool run = now.state == slot_state::scheduled;
            const std::uint64_t next =
                run ? pack({now.generation, next_epoch(now.epoch), slot_state::executing})
                    : pack({now.generation, now.epoch, slot_state::claimed});
            // acq_rel: HB-1, HB-2.
            if (word_.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed))
                return run ? start_result::run : start_result::destroy;
        }
    }

    // W, when the coroutine has suspended and all it armed is armed.
    suspend_result suspend(bool shielded) noexcept {
        return leave_executing(shielded ? slot_state::shielded : slot_state::idle,
                               shielded ? suspend_result::propagate : suspend_result::destroy);
    }

    // W: back to the queue. `requeue` or `destroy`.
    suspend_result yield() noexcept {
        return leave_executing(slot_state::scheduled, suspend_result::destroy);
    }

    // W: a ticket was issued but the task goes on: what was issued is void from here on.
    void revoke() noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed); // a guess; the CAS decides
        for (;;) {
            const view now = unpack(seen);
            slot_state next = now.state;
            if (next == slot_state::notified)
                next = slot_state::executing;
            else if (next == slot_state::notified_cancel)
                next = slot_state::executing_cancel;
            // acq_rel: HB-2, for a waker whose notice is taken back here.
            if (word_.compare_exchange_weak(seen, pack({now.generation, next_epoch(now.epoch), next}),
                                            std::memory_order_acq_rel, std::memory_order_relaxed))
                return;
        }
    }

    // W: is a cancellation pending? relaxed: the flag alone is asked for.
    bool cancel_requested() const noexcept {
        const slot_state now = load(std::memory_order_relaxed).state;
        return now == slot_state::executing_cancel || now == slot_state::notified_cancel;
    }

    // C. may_claim: C can destroy a frame where it is; otherwise an idle task is queued to be destroyed.
    cancel_result cancel(std::uint32_t generation, bool may_claim) noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed); // a guess; the CAS decides
        for (;;) {
            const view now = unpack(seen);
            cancel_result result = cancel_result::too_late;
            if (now.generation != generation)
                return result;
            const slot_state next = cancelled(now.state, may_claim, result);
            if (result == cancel_result::too_late)
                return result;
            // acq_rel: HB-3, and passes on HB-1.
            if (word_.compare_exchange_weak(seen, pack({generation, now.epoch, next}),
                                            std::memory_order_acq_rel, std::memory_order_relaxed))
                return result;
        }
    }

    // The owner of a propagating claim, after the children were cancelled. True: queue the slot.
    bool unclaim() noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed); // a guess; the CAS decides
        for (;;) {
            const view now = unpack(seen);
            const bool woken = now.state == slot_state::claimed_notified;
            const slot_state next = woken ? slot_state::scheduled_cancel : slot_state::shielded_cancel;
            // acq_rel: passes on HB-1, HB-2.
            if (word_.compare_exchange_weak(seen, pack({now.generation, now.epoch, next}),
                                            std::memory_order_acq_rel, std::memory_order_relaxed))
                return woken;
        }
    }

    // The owner (executing or claimed). A store: a wake or cancel that came in between came too late.
    void finish() noexcept { move_to(slot_state::done, std::memory_order_release); } // HB-4

    // The last owner. False: this generation was the last one, the slot must not be used again.
    bool release() noexcept {
        const view now = load(std::memory_order_relaxed); // own value
        if (now.generation == last_generation)
            return false;
        word_.store(pack({now.generation + 1, 0, slot_state::free}), std::memory_order_release); // HB-5
        return true;
    }

    // For tests of the limits: a free slot in its n-th use.
    void set_generation_for_test(std::uint32_t generation) noexcept {
        word_.store(pack({generation, 0, slot_state::free}), std::memory_order_relaxed);
    }

private:
    static constexpr std::uint64_t pack(view v) noexcept {
        return std::uint64_t{v.generation} << 32U | std::uint64_t{v.epoch} << 4U |
               static_cast<std::uint64_t>(v.state);
    }
    static constexpr view unpack(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word >> 32U), static_cast<std::uint32_t>(word >> 4U) & 0xfffffffU,
                static_cast<slot_state>(word & 15U)};
    }
    static constexpr std::uint32_t next_epoch(std::uint32_t epoch) noexcept {
        return (epoch + 1) & epoch_mask;
    }

    void move_to(slot_state next, std::memory_order order) noexcept {
        view now = load(std::memory_order_relaxed); // the caller owns generation and epoch
        now.state = next;
        word_.store(pack(now), order);
    }

    static slot_state woken(slot_state state, wake_result& result) noexcept {
        switch (state) {
        case slot_state::idle:
        case slot_state::shielded:
            result = wake_result::scheduled;
            return slot_state::scheduled;
        case slot_state::shielded_cancel:
            result = wake_result::scheduled;
            return slot_state::scheduled_cancel;
        case slot_state::executing:
            result = wake_result::notified;
            return slot_state::notified;
        case slot_state::executing_cancel:
            result = wake_result::notified;
            return slot_state::notified_cancel;
        case slot_state::claimed:
            result = wake_result::notified;
            return slot_state::claimed_notified;
        default:
            return state;
        }
    }

    static slot_state cancelled(slot_state state, bool may_claim, cancel_result& result) noexcept {
        switch (state) {
        case slot_state::idle:
            result = may_claim ? cancel_result::destroy : cancel_result::schedule;
            return may_claim ? slot_state::claimed : slot_state::scheduled_cancel;
        case slot_state::shielded:
            result = cancel_result::propagate;
            return slot_state::claimed;
        case slot_state::scheduled:
            result = cancel_result::flagged;
            return slot_state::scheduled_cancel;
        case slot_state::executing:
            result = cancel_result::flagged;
            return slot_state::executing_cancel;
        case slot_state::notified:
            result = cancel_result::flagged;
            return slot_state::notified_cancel;
        default:
            return state;
        }
    }

    suspend_result leave_executing(slot_state rest, suspend_result when_cancelled) noexcept {
        std::uint64_t seen = word_.load(std::memory_order_relaxed); // a guess; the CAS decides
        for (;;) {
            const view now = unpack(seen);
            slot_state next = rest;
            suspend_result result =
                rest == slot_state::scheduled ? suspend_result::requeue : suspend_result::suspended;
            if (now.state == slot_state::notified) {
                next = slot_state::scheduled;
                result = suspend_result::requeue;
            } else if (now.state == slot_state::executing_cancel) {
                next = slot_state::claimed;
                result = when_cancelled;
            } else if (now.state == slot_state::notified_cancel) {
                next = slot_state::claimed; // what it waited for has come, so nothing shields it any more
                result = suspend_result::destroy;
            }
            // acq_rel: release for HB-1 and HB-3, acquire for HB-2 when notified.
            if (word_.compare_exchange_weak(seen, pack({now.generation, now.epoch, next}),
                                            std::memory_order_acq_rel, std::memory_order_relaxed))
                return result;
        }
    }

    typename Atomics::template atomic<std::uint64_t> word_{0};
};

} // namespace horae
