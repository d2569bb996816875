// SPDX-License-Identifier: Apache-2.0
//
// Random programs for the wheel, and an ordered model that judges every step of them. Shared by the property
// test, which makes programs from seeds and shrinks those that fail, and by the fuzzer, which makes them from
// bytes.
//
// The judge knows nothing of buckets: it holds what the contract says. A timer may fire only at or after its
// deadline, must fire once deadline + slack has passed and the budget allows, and between two that fire in
// one call the earlier must have been able to come first; without slack that is exact order, ties by arming.
#pragma once

#include <horae/wheel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace horae::testing {

enum class wheel_op : std::uint8_t {
    schedule,       // a: delta, b: slack
    schedule_exact, // a: one of the edges of int64
    cancel,         // a: which
    rearm,          // a: which, b: delta
    stale_id,       // a: which dead id: cancel, rearm and contains must refuse it
    advance,        // a: delta, b: budget
    advance_back,   // a: how far
    to_next,        // a: -1, 0 or +1 around next_deadline()
    in_callback,    // a: what the next callbacks do, b: its parameter
    clear,
    count_
};

struct wheel_step {
    wheel_op op{};
    std::int64_t a = 0;
    std::int64_t b = 0;
};

struct wheel_setup {
    std::int64_t start_ns = 0;
    std::int64_t resolution_ns = 1'000'000;
    std::size_t garbage_floor = 4;
    double garbage_per_slot = 0;
};

inline std::string to_text(const std::vector<wheel_step>& program, const wheel_setup& setup) {
    static constexpr const char* names[] = {"schedule",    "schedule_exact", "cancel",       "rearm",
                                            "stale_id",    "advance",        "advance_back", "to_next",
                                            "in_callback", "clear"};
    std::ostringstream text;
    text << "start " << setup.start_ns << ", resolution " << setup.resolution_ns << ", garbage_floor "
         << setup.garbage_floor << '\n';
    for (const wheel_step& step : program) {
        text << "  {wheel_op::" << names[static_cast<int>(step.op)] << ", " << step.a << ", " << step.b
             << "},\n";
    }
    return text.str();
}

struct contract_broken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::int64_t add_saturated(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    }
    return sum;
}

template <class Limits>
class wheel_judge {
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    struct boom {};

    // Counts its instances, so that a payload destroyed late, twice or not at all shows.
    struct payload {
        payload(std::uint64_t s, std::int64_t& c) : serial(s), count(&c) { ++*count; }
        payload(payload&& other) noexcept : serial(other.serial), count(other.count) { ++*count; }
        payload& operator=(payload&&) = delete;
        ~payload() { --*count; }
        std::uint64_t serial;
        std::int64_t* count;
    };

    using wheel_type = timing_wheel<payload, std::allocator<std::byte>, Limits>;

    struct timer {
        std::int64_t deadline = 0;
        std::int64_t slack = 0;
        std::uint64_t armed = 0;
        std::uint64_t armed_in_call = 0; // 0: outside of any
        std::uint64_t serial = 0;

        std::int64_t latest() const { return add_saturated(deadline, slack); }
    };

public:
    // The wheel stands on soiled memory, so that a member it forgets to initialise shows.
    explicit wheel_judge(const wheel_setup& setup)
        : wheel_(*::new(std::memset(static_cast<void*>(memory_), 0xa5, sizeof(memory_)))
                     wheel_type({.start_ns = setup.start_ns,
                                 .resolution_ns = setup.resolution_ns,
                                 .garbage_floor = setup.garbage_floor,
                                 .garbage_per_slot = setup.garbage_per_slot,
                                 .scrub_budget = 16})),
          now_(setup.start_ns),
          garbage_floor_(setup.garbage_floor) {}
    wheel_judge(const wheel_judge&) = delete;
    wheel_judge& operator=(const wheel_judge&) = delete;
    ~wheel_judge() { std::destroy_at(&wheel_); }

    void run(const std::vector<wheel_step>& program) {
        std::size_t steps = 0;
        for (const wheel_step& step : program) {
            apply(step);
            check_counts();
            if (++steps % 16 == 0) {
                check_timers();
            }
        }
        finish();
    }

private:
    void require(bool holds, const std::string& what) const {
        if (!holds) {
            throw contract_broken(what + " (now " + std::to_string(now_) + ")");
        }
    }

    void apply(const wheel_step& step) {
        switch (step.op) {
        case wheel_op::schedule:
            schedule(add_saturated(now_, step.a), step.b);
            break;
        case wheel_op::schedule_exact: {
            static constexpr std::int64_t edges[] = {never,
                                                     never - 1,
                                                     never - 2,
                                                     std::numeric_limits<std::int64_t>::min(),
                                                     std::numeric_limits<std::int64_t>::min() + 1,
                                                     0,
                                                     -1,
                                                     1};
            schedule(edges[static_cast<std::uint64_t>(step.a) % std::size(edges)], 0);
            break;
        }
        case wheel_op::cancel:
            if (auto id = pick(step.a)) {
                cancel(*id);
            }
            break;
        case wheel_op::rearm:
            if (auto id = pick(step.a)) {
                rearm(*id, add_saturated(now_, step.b));
            }
            break;
        case wheel_op::stale_id:
            try_stale(step.a);
            break;
        case wheel_op::advance:
            advance(add_saturated(now_, std::max<std::int64_t>(step.a, 0)),
                    step.b > 0 ? static_cast<std::size_t>(step.b) : std::numeric_limits<std::size_t>::max());
            break;
        case wheel_op::advance_back: {
            const auto before = wheel_.stats().clock_backs;
            const std::int64_t asked = add_saturated(now_, -std::max<std::int64_t>(step.a, 1));
            advance(asked, std::numeric_limits<std::size_t>::max());
            require(wheel_.stats().clock_backs == before + (asked < now_ ? 1 : 0),
                    "a clock that went back was not counted");
            break;
        }
        case wheel_op::to_next:
            if (auto next = wheel_.next_deadline()) {
                advance(std::max(now_, add_saturated(*next, step.a % 2)),
                        std::numeric_limits<std::size_t>::max());
            }
            break;
        case wheel_op::in_callback:
            scripted_.push_back(step);
            break;
        case wheel_op::clear:
            wheel_.clear();
            cancelled_ += timers_.size();
            for (const auto& [id, t] : timers_) {
                dead_.push_back({id});
            }
            timers_.clear();
            require(wheel_.stats().stale == 0, "clear() left stale entries");
            break;
        case wheel_op::count_:
            break;
        }
    }

    void schedule(std::int64_t deadline, std::int64_t slack) {
        const std::uint64_t serial = ++serials_;
        const timer_id id = wheel_.schedule(deadline, payload(serial, payloads_), slack);
        require(static_cast<bool>(id), "schedule() returned no id");
        require(!timers_.contains(id.value) && std::find(dead_.begin(), dead_.end(), id) == dead_.end(),
                "an id was issued twice");
        timers_[id.value] = {deadline, std::max<std::int64_t>(slack, 0), ++armings_, call_, serial};
    }

    void cancel(timer_id id) {
        require(wheel_.cancel(id), "cancel() of an armed timer said false");
        require(!wheel_.contains(id) && !wheel_.cancel(id), "a cancelled timer is still there");
        ++cancelled_;
        timers_.erase(id.value);
        dead_.push_back(id);
    }

    void rearm(timer_id id, std::int64_t deadline) {
        require(wheel_.rearm(id, deadline), "rearm() of an armed timer said false");
        timer& t = timers_.at(id.value);
        t.deadline = deadline;
        t.armed = ++armings_;
        t.armed_in_call = call_;
    }

    void try_stale(std::int64_t which) {
        require(!wheel_.contains({}) && !wheel_.cancel({}) && !wheel_.rearm({}, now_), "no id named a timer");
        const timer_id wild{static_cast<std::uint64_t>(which) * 0x9e3779b97f4a7c15u};
        if (!timers_.contains(wild.value)) {
            require(!wheel_.contains(wild), "a wild id named a timer");
        }
        if (!dead_.empty()) {
            const timer_id id = dead_[static_cast<std::uint64_t>(which) % dead_.size()];
            require(id == firing_ || (!wheel_.contains(id) && !wheel_.cancel(id) && !wheel_.rearm(id, now_)),
                    "a stale id named a timer");
        }
    }

    std::optional<timer_id> pick(std::int64_t which) const {
        if (timers_.empty()) {
            return std::nullopt;
        }
        auto at = timers_.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(static_cast<std::uint64_t>(which) % timers_.size()));
        return timer_id{at->first};
    }

    void advance(std::int64_t to, std::size_t budget) {
        now_ = std::max(now_, std::min(to, never - 1)); // the last nanosecond is no time, but 'never'
        ++calls_;
        call_ = calls_;
        previous_.reset();
        fired_in_call_ = 0;
        bool threw = false;
        try {
            const std::size_t fired = wheel_.advance(
                to, [this](timer_id id, std::int64_t deadline, payload& p) { on_fire(id, deadline, p); },
                budget);
            require(fired == fired_in_call_, "advance() miscounted");
        } catch (const boom&) {
            threw = true;
        }
        call_ = 0;
        firing_ = {};
        require(fired_in_call_ <= budget, "the budget was exceeded");
        if (fired_in_call_ < budget && !threw) {
            for (const auto& [id, t] : timers_) {
                require(t.latest() > now_ || t.deadline == never || t.armed_in_call == calls_ ||
                            t.latest() == never,
                        "a due timer did not fire: deadline " + std::to_string(t.deadline));
            }
        }
    }

    void on_fire(timer_id id, std::int64_t deadline, payload& p) {
        ++fired_;
        ++fired_in_call_;
        const auto found = timers_.find(id.value);
        require(found != timers_.end(), "something fired that is not armed");
        const timer t = found->second;
        require(t.deadline == deadline && t.serial == p.serial,
                "the callback got another timer's deadline or payload");
        require(now_ >= t.deadline, "a timer fired early: deadline " + std::to_string(t.deadline));
        require(t.deadline != never, "a timer that never fires fired");
        require(t.armed_in_call != call_, "a timer fired in the call in which it was armed");
        if (previous_) {
            const bool exact = previous_->slack == 0 && t.slack == 0;
            require(previous_->deadline <= t.latest(), "fired out of order");
            require(!exact || previous_->deadline < t.deadline || previous_->armed < t.armed,
                    "equal deadlines fired out of arming order");
        }
        previous_ = t;
        timers_.erase(found);
        firing_ = id;
        require(!wheel_.contains(id) && !wheel_.cancel(id), "a firing timer counts as armed");
        require(wheel_.find(id) == &p, "find() does not know the firing timer");
        require(wheel_.advance(now_, [](auto&&...) {}) == 0, "a nested advance() fired");
        act(id, t);
    }

    // What a callback does to the wheel, if the program says so.
    void act(timer_id id, const timer& t) {
        if (scripted_.empty()) {
            dead_.push_back(id);
            return;
        }
        const wheel_step step = scripted_.back();
        scripted_.pop_back();
        bool again = false;
        const auto rearm_self = [&](std::int64_t delta) {
            const std::int64_t deadline = add_saturated(now_, delta);
            require(wheel_.rearm(id, deadline), "a firing timer could not be armed again");
            timers_[id.value] = {deadline, t.slack, ++armings_, call_, t.serial};
            again = true;
        };
        switch (static_cast<std::uint64_t>(step.a) % 8) {
        case 0:
            schedule(add_saturated(now_, step.b), 0);
            break;
        case 1:
            rearm_self(step.b);
            break;
        case 2:
            rearm_self(step.b);
            cancel(id);
            again = true; // cancel() noted it as dead
            break;
        case 3:
            if (auto other = pick(step.b)) {
                cancel(*other);
            }
            break;
        case 4:
            if (auto other = pick(step.b)) {
                rearm(*other, add_saturated(now_, step.b % 5 - 2));
            }
            break;
        case 5:
            rearm_self(step.b);
            rearm(id, add_saturated(now_, step.b / 2));
            break;
        case 6:
            if (auto other = pick(step.b)) {
                rearm(*other, add_saturated(now_, step.b));
            }
            break;
        default:
            dead_.push_back(id);
            throw boom{};
        }
        if (!again) {
            dead_.push_back(id);
        }
    }

    void check_counts() {
        const wheel_stats stats = wheel_.stats();
        require(wheel_.size() == timers_.size() && stats.pending == timers_.size(), "size() is wrong");
        require(payloads_ == static_cast<std::int64_t>(timers_.size()),
                "payloads do not follow their timers");
        require(stats.fired == fired_ && stats.cancelled == cancelled_, "fired or cancelled are miscounted");
        require(stats.stale <= garbage_floor_ + timers_.size() + 64,
                "garbage is not bounded: " + std::to_string(stats.stale));
    }

    void check_timers() {
        const auto next = wheel_.next_deadline();
        for (const auto& [id, t] : timers_) {
            require(wheel_.contains({id}) && wheel_.deadline({id}) == t.deadline,
                    "an armed timer is not known");
            require(t.deadline == never || t.latest() == never || (next && *next <= t.latest()),
                    "next_deadline() is later than the truth");
        }
    }

    // Follows next_deadline() to the end: everything that can fire does, in few steps.
    void finish() {
        scripted_.clear();
        std::size_t idle_steps = 0;
        while (auto next = wheel_.next_deadline()) {
            if (std::max(*next, now_) == never) {
                break;
            }
            const std::uint64_t before = fired_;
            advance(std::max(*next, now_), std::numeric_limits<std::size_t>::max());
            check_counts();
            check_timers();
            idle_steps += fired_ == before ? 1 : 0;
            require(idle_steps <= cancelled_ + armings_ + 1, "next_deadline() spins");
        }
        wheel_.clear();
        require(payloads_ == 0, "clear() left payloads");
        require(wheel_.stats().stale == 0, "garbage is left in an empty wheel");
    }

    std::int64_t payloads_ = 0;
    alignas(wheel_type) std::byte memory_[sizeof(wheel_type)];
    wheel_type& wheel_;
    std::map<std::uint64_t, timer> timers_;
    std::vector<timer_id> dead_;
    std::vector<wheel_step> scripted_;
    std::optional<timer> previous_;
    std::int64_t now_;
    std::size_t garbage_floor_;
    std::uint64_t serials_ = 0;
    std::uint64_t armings_ = 0;
    std::uint64_t fired_ = 0;
    std::uint64_t cancelled_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t call_ = 0; // the advance() under way
    std::size_t fired_in_call_ = 0;
    timer_id firing_{};
};

// Counters so small that places wear out and tags run out within one program.
struct tiny_limits {
    static constexpr std::uint32_t max_generation = 9;
    static constexpr std::uint32_t max_tag = 5;
};

// Runs the program; the broken rule, or nothing.
template <class Limits = detail::wheel_limits>
std::optional<std::string> judge(const std::vector<wheel_step>& program, const wheel_setup& setup) {
    try {
        wheel_judge<Limits>(setup).run(program);
        return std::nullopt;
    } catch (const contract_broken& broken) {
        return broken.what();
    }
}

} // namespace horae::testing
