// SPDX-License-Identifier: Apache-2.0
//
// What a worker drives between tasks: timers, I/O. Each worker has its own instances, made by the factories
// in runtime_options::drivers, in that order. All calls but wake() come from the worker's own step().
//
// A driver resumes tasks with worker::poll_inline(ticket), at once, or wake(ticket), through the queues. From
// other threads a driver is reached by messages: runtime_core::send(worker_id, message&).
#pragma once

#include <horae/base/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace horae {

class worker;

class driver {
public:
    driver() = default;
    driver(const driver&) = delete;
    driver& operator=(const driver&) = delete;
    virtual ~driver() = default;

    // Does what is due at now_ns, within the driver's own budget. Returns how much it did; what is left
    // counts as due: next_deadline() must then not be later than now.
    virtual std::size_t poll(worker& self, std::int64_t now_ns) noexcept = 0;

    // When poll() is needed next; never_ns: not before a message or a wake() comes.
    virtual std::int64_t next_deadline() noexcept { return never_ns; }

    // At most one driver of a worker may sleep in its own way (epoll). Such a one returns true, and gets
    // wait() in place of the worker's parker and wake() for its unpark(): a wake() before or during wait()
    // must end it.
    virtual bool waits() const noexcept { return false; }
    virtual void wait(std::int64_t /*until_ns*/) noexcept {}
    virtual void wake() noexcept {} // any thread

    // The worker leaves. Everything held must go elsewhere, by messages to other workers (they are kept
    // until a worker comes when there is none). Called once, after the inbox was closed, before the
    // driver is destroyed. Not called at shutdown: by then no task is left.
    virtual void hand_over(worker& /*self*/) noexcept {}
};

using driver_factory = std::function<std::unique_ptr<driver>(worker&)>;

} // namespace horae
