// SPDX-License-Identifier: Apache-2.0
#include <horae/coro/scope.hpp>

#include <algorithm>

namespace horae {

bool scope::start(resumable& parent, resumable& body) noexcept {
    ticket_ = begin_suspend(parent);
    parent.slot->group = this;
    parent.slot->leave = leave_kind::shielded;
    core_ = parent.slot->arena->core;
    pending_.fetch_add(1, std::memory_order_relaxed); // the parent's own unit keeps it above zero
    bool failed = false;
    {
        // The body may call spawn() on another worker at once; it finds its own name here all the same.
        const std::lock_guard lock(mutex_);
        const spawned child = core_->spawn(body, join_state::grouped, static_cast<child_group*>(this));
        error_ = child.error;
        failed = error_ != spawn_error::none;
        if (!failed)
            body_ = {child.slot, child.generation};
    }
    if (failed) {
        body.self.destroy();
        pending_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) // HB-G1
        return true;
    parent.slot->leave = leave_kind::suspended;
    revoke_suspend(parent);
    return false;
}

void scope::add(resumable& root) {
    bool cancel_now = false;
    spawned child;
    try {
        const std::lock_guard lock(mutex_);
        if (children_.size() == children_.capacity())
            forget_ended();
        children_.reserve(children_.size() + 1);
        pending_.fetch_add(1, std::memory_order_relaxed); // the caller is a child or the body: above zero
        child = core_->spawn(root, join_state::grouped, static_cast<child_group*>(this));
        if (child.error == spawn_error::none) {
            children_.push_back({child.slot, child.generation});
            cancel_now = cancelling_;
        }
    } catch (...) {
        root.self.destroy();
        throw;
    }
    if (child.error != spawn_error::none) {
        root.self.destroy();
        pending_.fetch_sub(1, std::memory_order_relaxed);
        throw spawn_failure(child.error);
    }
    if (cancel_now)
        horae::cancel({child.slot, child.generation});
}

// Under the mutex: makes room by dropping the names of children that have ended, or doubles the room.
void scope::forget_ended() noexcept {
    std::erase_if(children_, [](const task_ref& each) {
        const auto now = each.slot->word.load();
        return now.generation != each.generation || now.state == slot_state::done;
    });
    if (children_.size() * 2 > children_.capacity()) {
        try {
            children_.reserve(std::max<std::size_t>(8, children_.capacity() * 2));
        } catch (const std::bad_alloc&) {
            // the caller's own reserve() reports it if even one more does not fit
        }
    }
}

void scope::child_ended(task_slot& child) noexcept {
    std::exception_ptr error;
    if (child.innermost != nullptr)
        error = std::exchange(child.innermost->error, nullptr);
    bool first = false;
    bool is_body = false;
    {
        const std::lock_guard lock(mutex_);
        is_body = body_.slot == &child;
        if (error && !first_) {
            first_ = std::move(error);
            first = true;
        }
    }
    if (error)
        child.arena->report(std::move(error)); // not the first: nobody else will see it
    if (first)
        cancel_children();
    if (!is_body)
        detail::release_slot(child);
    const wake_ticket ticket = ticket_;
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) // HB-G1; last touch
        wake(ticket);
}

void scope::cancel_children() noexcept {
    std::vector<task_ref> names;
    task_ref body;
    {
        const std::lock_guard lock(mutex_);
        cancelling_ = true;
        names.swap(children_);
        body = body_;
    }
    // Without the mutex: a child destroyed here ends here, in child_ended().
    horae::cancel(body);
    for (const task_ref& each : names)
        horae::cancel(each);
}

} // namespace horae
