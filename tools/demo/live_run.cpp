// SPDX-License-Identifier: Apache-2.0
#include "demo/live_run.hpp"

#include "demo/clock.hpp"

#include <horae/wheel.hpp>

#include <sys/prctl.h>

#include <algorithm>
#include <limits>

namespace demo {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t progress_period_ns = second / 10;
constexpr std::uint32_t progress_timer = std::numeric_limits<std::uint32_t>::max();

enum class state : std::uint8_t { armed, fired, cancelled };

class live_run {
public:
    live_run(const plan& work, const std::function<void(const progress&)>& on_progress)
        : work_(work),
          on_progress_(on_progress),
          deadlines_ns_(work.deadlines_ns),
          states_(work.deadlines_ns.size(), state::armed),
          ids_(work.deadlines_ns.size()),
          wheel_({.start_ns = now_ns(), .reserve = work.deadlines_ns.size() + 1}) {
        result_.lateness_ns.reserve(deadlines_ns_.size());
    }

    live_result run() {
        arm_all();
        const std::int64_t wall_before = start_ns_;
        sleep_until(start_ns_);
        const std::int64_t waited_before = thread_waited_ns();
        const std::int64_t cpu_before = thread_cpu_ns();
        loop();
        result_.running_cpu_ns = thread_cpu_ns() - cpu_before;
        result_.running_ns = now_ns() - wall_before;
        result_.waited_ns = thread_waited_ns() - waited_before;
        result_.accounts.lost =
            static_cast<std::uint64_t>(std::count(states_.begin(), states_.end(), state::armed));
        std::sort(result_.lateness_ns.begin(), result_.lateness_ns.end());
        return std::move(result_);
    }

private:
    // The run starts a little later than now, so that arming is over when the first timer is due.
    void arm_all() {
        const auto timers = static_cast<std::uint32_t>(deadlines_ns_.size());
        start_ns_ = now_ns() + second / 20 + std::int64_t{timers} * 250;
        const std::int64_t cpu_before = thread_cpu_ns();
        for (std::uint32_t timer = 0; timer < timers; ++timer) {
            ids_[timer] = wheel_.schedule(start_ns_ + deadlines_ns_[timer], timer);
        }
        result_.arming_ns = thread_cpu_ns() - cpu_before;
        result_.wheel_bytes = wheel_.stats().bytes;
        if (on_progress_) {
            on_progress_({0, work_.length_ns, result_.accounts});
            wheel_.schedule(start_ns_ + progress_period_ns, progress_timer);
        }
    }

    // Ends when no timer is left, or when an advance() past every deadline has fired nothing: then what is
    // left is lost. A slow machine makes timers late, never lost.
    void loop() {
        const std::int64_t end_ns = start_ns_ + work_.length_ns;
        for (;;) {
            const std::int64_t now = now_ns();
            const std::size_t fired =
                wheel_.advance(now, [this](horae::timer_id id, std::int64_t, std::uint32_t timer) {
                    timer == progress_timer ? show_progress(id) : fire(timer);
                });
            apply_changes(now);
            std::int64_t wake_ns = wheel_.next_deadline().value_or(end_ns);
            if (next_cancel_ < work_.cancels.size()) {
                wake_ns = std::min(wake_ns, start_ns_ + work_.cancels[next_cancel_].at_ns);
            }
            if (next_rearm_ < work_.rearms.size()) {
                wake_ns = std::min(wake_ns, start_ns_ + work_.rearms[next_rearm_].at_ns);
            }
            if (wheel_.empty() || (now >= end_ns && fired == 0)) {
                return;
            }
            if (wake_ns > now_ns()) {
                ++result_.sleeps;
                sleep_until(wake_ns);
            }
        }
    }

    // Reads the clock for every timer: waiting behind others of the same advance() is lateness too.
    void fire(std::uint32_t timer) {
        const std::int64_t deadline_ns = start_ns_ + deadlines_ns_[timer];
        const std::int64_t late_ns = now_ns() - deadline_ns;
        ledger& accounts = result_.accounts;
        if (states_[timer] != state::armed) {
            ++accounts.twice;
            return;
        }
        states_[timer] = state::fired;
        ++accounts.fired;
        accounts.early += late_ns < 0 ? 1u : 0u;
        accounts.out_of_order += deadline_ns < last_deadline_ns_ ? 1u : 0u;
        last_deadline_ns_ = deadline_ns;
        result_.lateness_ns.push_back(late_ns);
    }

    // A periodic timer: it re-arms itself in its callback.
    void show_progress(horae::timer_id id) {
        const std::int64_t elapsed_ns = now_ns() - start_ns_;
        on_progress_({elapsed_ns, work_.length_ns, result_.accounts});
        if (elapsed_ns < work_.length_ns) {
            wheel_.rearm(id, start_ns_ + (elapsed_ns / progress_period_ns + 1) * progress_period_ns);
        }
    }

    // Cancels and re-arms whatever the plan wants by now. A timer that was due before its change was
    // applied has fired, and the wheel must say so.
    void apply_changes(std::int64_t now) {
        ledger& accounts = result_.accounts;
        for (; next_cancel_ < work_.cancels.size(); ++next_cancel_) {
            const change& next = work_.cancels[next_cancel_];
            if (start_ns_ + next.at_ns > now) {
                break;
            }
            const bool done = wheel_.cancel(ids_[next.timer]);
            accounts.untruths += done != (states_[next.timer] == state::armed) ? 1u : 0u;
            if (done) {
                states_[next.timer] = state::cancelled;
                ++accounts.cancelled;
            }
        }
        for (; next_rearm_ < work_.rearms.size(); ++next_rearm_) {
            const change& next = work_.rearms[next_rearm_];
            if (start_ns_ + next.at_ns > now) {
                break;
            }
            const bool done = wheel_.rearm(ids_[next.timer], start_ns_ + next.deadline_ns);
            accounts.untruths += done != (states_[next.timer] == state::armed) ? 1u : 0u;
            if (done) {
                deadlines_ns_[next.timer] = next.deadline_ns;
                last_deadline_ns_ = std::min(last_deadline_ns_, start_ns_ + next.deadline_ns);
                ++accounts.rearmed;
            }
        }
    }

    const plan& work_;
    const std::function<void(const progress&)>& on_progress_;
    std::vector<std::int64_t> deadlines_ns_; // in force, after the start
    std::vector<state> states_;
    std::vector<horae::timer_id> ids_;
    horae::timing_wheel<std::uint32_t> wheel_;
    live_result result_;
    std::int64_t start_ns_ = 0;
    std::int64_t last_deadline_ns_ = std::numeric_limits<std::int64_t>::min();
    std::size_t next_cancel_ = 0;
    std::size_t next_rearm_ = 0;
};

} // namespace

live_result run_live(const plan& work, const std::function<void(const progress&)>& on_progress) {
    prctl(PR_SET_TIMERSLACK, 1); // by default Linux may add 50 us to every sleep
    return live_run(work, on_progress).run();
}

} // namespace demo
