// SPDX-License-Identifier: Apache-2.0
//
// Children of one suspension: started together, waited for together, cancelled together. The parent is
// suspended `shielded`, so its frame, where children may keep references, outlives them all, even when the
// parent is cancelled. when_all, when_any, scope and timeouts are built on it.
//
// pending_ counts children that have not ended, plus one for the parent while it is still starting them.
// Whoever takes it to zero wakes the parent, or lets it go on when that is the parent itself. HB-G1
// child_ended() release-decrement -> the last one's acquire -> wake (HB-2) -> parent. Publishes results. The
// last touch of the group by a child is its decrement; the ticket is copied before.
#pragma once

#include <horae/coro/task.hpp>
#include <horae/exec/release.hpp>
#include <horae/exec/runtime_core.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace horae::detail {

// A fixed number of children whose ended slots, with their results, stay until the group goes.
template <std::size_t Count>
class fixed_group final : public child_group {
public:
    enum class mode : std::uint8_t { all, first }; // first: the first to end cancels the others

    explicit fixed_group(mode how) noexcept : mode_(how) {}
    fixed_group(const fixed_group&) = delete;
    fixed_group& operator=(const fixed_group&) = delete;
    ~fixed_group() {
        for (task_ref& each : children_) {
            if (each.slot != nullptr)
                release_slot(*each.slot);
        }
    }

    // In await_suspend, with all roots set. False: all have ended already, or none could start; go on.
    bool start(resumable& parent, const std::array<resumable*, Count>& roots) noexcept {
        ticket_ = begin_suspend(parent);
        parent.slot->group = this;
        parent.slot->leave = leave_kind::shielded;
        runtime_core& core = *parent.slot->arena->core;
        for (std::size_t i = 0; i < Count; ++i) {
            pending_.fetch_add(1, std::memory_order_relaxed); // the parent's own unit keeps it above zero
            const spawned child = core.spawn(*roots[i], join_state::grouped, static_cast<child_group*>(this));
            if (child.error != spawn_error::none) {
                pending_.fetch_sub(1, std::memory_order_relaxed);
                error_ = child.error;
                for (std::size_t k = i; k < Count; ++k)
                    roots[k]->self.destroy();
                cancel_started();
                break;
            }
            // The child may be on its way already; whoever needs the others' names waits for `started_`.
            children_[i] = {child.slot, child.generation};
        }
        started_.store(true, std::memory_order_seq_cst);
        if (mode_ == mode::first && winner_.load(std::memory_order_seq_cst) != nobody)
            cancel_started(); // one ended while we were starting: it left the others to us
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) // HB-G1
            return true;
        parent.slot->leave = leave_kind::suspended;
        revoke_suspend(parent);
        return false;
    }

    void child_ended(task_slot& child) noexcept override {
        if (mode_ == mode::first && child.outcome == task_outcome::completed) {
            task_slot* expected = nobody;
            // seq_cst: pairs with started_ above, so that one of the two cancels the rest.
            if (winner_.compare_exchange_strong(expected, &child, std::memory_order_seq_cst) &&
                started_.load(std::memory_order_seq_cst))
                cancel_started();
        }
        const wake_ticket ticket = ticket_;
        if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) // HB-G1; last touch
            wake(ticket);
    }

    void cancel_children() noexcept override { cancel_started(); }

    spawn_error error() const noexcept { return error_; }
    task_slot* winner() const noexcept { return winner_.load(std::memory_order_relaxed); } // after the wake
    task_slot* child(std::size_t i) const noexcept { return children_[i].slot; }
    task_ref ref(std::size_t i) const noexcept { return children_[i]; }

private:
    static constexpr task_slot* nobody = nullptr;

    void cancel_started() noexcept {
        for (const task_ref& each : children_) {
            if (each.slot != nullptr)
                horae::cancel(each);
        }
    }

    const mode mode_;
    spawn_error error_ = spawn_error::none;
    std::atomic<bool> started_{false};
    std::atomic<std::uint32_t> pending_{1};
    std::atomic<task_slot*> winner_{nobody};
    wake_ticket ticket_;
    std::array<task_ref, Count> children_{};
};

} // namespace horae::detail
