// SPDX-License-Identifier: Apache-2.0
//
// A clock for tests that moves only when told to, and a driver that keeps timers in a sorted map: the
// smallest thing that uses every seam of a driver.
#pragma once

#include <horae/base/clock.hpp>
#include <horae/exec/runtime_core.hpp>

#include <atomic>
#include <map>

namespace horae_test {

class manual_clock final : public horae::clock_source {
public:
    std::int64_t now_ns() const noexcept override { return now_.load(); }
    bool is_real() const noexcept override { return false; }
    void advance(std::int64_t by) { now_ += by; }

private:
    std::atomic<std::int64_t> now_{1000};
};

// Not cancellable: a ticket of a task that is gone is stale when its time comes.
class map_timers final : public horae::driver {
public:
    void insert(std::int64_t deadline_ns, horae::wake_ticket ticket) { timers_.emplace(deadline_ns, ticket); }

    std::size_t poll(horae::worker& self, std::int64_t now_ns) noexcept override {
        std::size_t fired = 0;
        while (!timers_.empty() && timers_.begin()->first <= now_ns && fired < 8) {
            const horae::wake_ticket ticket = timers_.begin()->second;
            timers_.erase(timers_.begin());
            self.poll_inline(ticket);
            ++fired;
        }
        return fired;
    }
    std::int64_t next_deadline() noexcept override {
        return timers_.empty() ? horae::never_ns : timers_.begin()->first;
    }
    void hand_over(horae::worker& self) noexcept override {
        for (const auto& [deadline, ticket] : timers_)
            self.core().send({}, *new moved(deadline, ticket));
        timers_.clear();
    }

private:
    struct moved : horae::message {
        moved(std::int64_t deadline_ns, horae::wake_ticket of)
            : message(&receive), deadline(deadline_ns), ticket(of) {}
        static void receive(horae::worker& self, horae::message& item) noexcept {
            auto& what = static_cast<moved&>(item);
            static_cast<map_timers&>(*self.driver_at(0)).insert(what.deadline, what.ticket);
            delete &what;
        }
        std::int64_t deadline;
        horae::wake_ticket ticket;
    };
    std::multimap<std::int64_t, horae::wake_ticket> timers_;
};

} // namespace horae_test
