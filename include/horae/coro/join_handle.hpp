// SPDX-License-Identifier: Apache-2.0
//
// join_handle<T>: the owner's view of a spawned task.
//   co_await std::move(handle)   its result; throws what it threw, or task_cancelled
//   co_await handle.ended()      waits for the end and leaves the result where it is
//   handle.cancel()              asks it to end; see horae::cancel
//   handle.done()                has it ended?
// Destroying the handle detaches: the task goes on, its result is dropped, and an exception goes to the
// runtime's handler. A handle may outlive the runtime.
#pragma once

#include <horae/base/assert.hpp>
#include <horae/base/parker.hpp>
#include <horae/coro/task.hpp>
#include <horae/exec/release.hpp>
#include <horae/exec/task_cancelled.hpp>

#include <exception>
#include <utility>

namespace horae {

namespace detail {

// The untyped part: one reference to one slot.
class join_core {
public:
    join_core() noexcept = default;
    explicit join_core(task_ref task) noexcept : task_(task) {}
    join_core(join_core&& other) noexcept : task_(std::exchange(other.task_, {})) {}
    join_core& operator=(join_core&& other) noexcept {
        join_core moved(std::move(other));
        std::swap(task_, moved.task_);
        return *this;
    }
    ~join_core() { drop(); }

    bool valid() const noexcept { return task_.slot != nullptr; }
    task_slot& slot() const noexcept { return *task_.slot; }
    task_ref ref() const noexcept { return task_; }

    bool ended() const noexcept {
        const join_state seen = task_.slot->join.load(std::memory_order_acquire); // HB-J2
        return seen == join_state::done || seen == join_state::ending;
    }

    // False: it has ended meanwhile, nobody will be woken.
    bool wait_as(join_state kind, void* waiter, std::uint32_t generation, std::uint32_t epoch) noexcept {
        task_slot& s = slot();
        s.waiter = waiter;
        s.waiter_generation = generation;
        s.waiter_epoch = epoch;
        join_state expected = join_state::running;
        return s.join.compare_exchange_strong(expected, kind, std::memory_order_release, // HB-J1
                                              std::memory_order_acquire);                // HB-J2
    }

    void abandon_wait() noexcept {
        join_state expected = join_state::waiting_task;
        // relaxed: if it fails the end is being told to a ticket that is stale by now.
        task_.slot->join.compare_exchange_strong(expected, join_state::running, std::memory_order_relaxed);
    }

    // Any thread that is no worker of the task's runtime.
    void wait_on_this_thread() noexcept {
        parker here;
        if (!wait_as(join_state::waiting_thread, &here, 0, 0))
            return;
        while (!here.park()) { // exactly one token comes, and it is the last touch of `here`
        }
    }

    void drop() noexcept {
        if (task_.slot == nullptr)
            return;
        task_slot& s = *std::exchange(task_.slot, nullptr);
        // acq_rel: HB-J2 when done; release what we did with the result when W is still in `ending`.
        if (s.join.exchange(join_state::detached, std::memory_order_acq_rel) == join_state::done)
            release_slot(s);
    }

private:
    task_ref task_;
};

class join_awaiter_base {
public:
    explicit join_awaiter_base(join_core& join) noexcept : join_(&join) {
        HORAE_ASSERT(join.valid(), "this join_handle has no task");
    }
    join_awaiter_base(const join_awaiter_base&) = delete;
    join_awaiter_base& operator=(const join_awaiter_base&) = delete;
    ~join_awaiter_base() {
        if (waiting_)
            join_->abandon_wait();
    }
    bool await_ready() const noexcept { return join_->ended(); }
    template <std::derived_from<resumable> Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const wake_ticket ticket = begin_suspend(parent.promise());
        waiting_ = true;
        if (join_->wait_as(join_state::waiting_task, ticket.slot, ticket.generation, ticket.epoch))
            return true;
        waiting_ = false;
        revoke_suspend(parent.promise());
        return false;
    }

protected:
    join_core* join_;
    bool waiting_ = false;
};

} // namespace detail

template <class T>
class [[nodiscard(
    "destroying a join_handle detaches its task; say .detach() if that is meant")]] join_handle {
public:
    using value_type = T;

    join_handle() noexcept = default;
    explicit join_handle(task_ref task) noexcept : join_(task) {}

    explicit operator bool() const noexcept { return join_.valid(); }
    bool done() const noexcept { return join_.ended(); }
    bool cancelled() const noexcept { return done() && join_.slot().outcome == task_outcome::cancelled; }
    // False: it had ended already, or was asked before.
    bool cancel() noexcept { return horae::cancel(join_.ref()); }
    void detach() noexcept { join_.drop(); }
    task_ref ref() const noexcept { return join_.ref(); }

    class result_awaiter : public detail::join_awaiter_base {
    public:
        explicit result_awaiter(join_handle& handle) noexcept
            : join_awaiter_base(handle.join_), handle_(&handle) {}
        T await_resume() {
            waiting_ = false;
            return handle_->take();
        }

    private:
        join_handle* handle_;
    };
    class end_awaiter : public detail::join_awaiter_base {
    public:
        using join_awaiter_base::join_awaiter_base;
        void await_resume() noexcept { waiting_ = false; }
    };

    // The result, once. The handle is empty afterwards.
    result_awaiter operator co_await() & noexcept { return result_awaiter(*this); }
    result_awaiter operator co_await() && noexcept { return result_awaiter(*this); }
    end_awaiter ended() noexcept { return end_awaiter(join_); }

    // Blocks this thread, which must not be a worker of the task's runtime, and gives the result.
    T wait() {
        join_.wait_on_this_thread();
        return take();
    }

    // After done(): the result, as co_await gives it.
    T take() {
        detail::join_core mine = std::move(join_);
        HORAE_ASSERT(mine.valid() && mine.ended(), "take() needs a task that has ended");
        if (mine.slot().outcome == task_outcome::cancelled)
            throw task_cancelled();
        return static_cast<detail::task_promise<T>*>(mine.slot().innermost)->take();
    }

private:
    detail::join_core join_;
};

} // namespace horae
