// SPDX-License-Identifier: Apache-2.0
//
// All workloads of one rival at one size, in one process. Each paragraph starts from a new structure that is
// filled, untimed, with N timers due uniformly in 10 ms .. 60 s; the heap keeps its pages, so memory is warm.
//
//   cancel      all, in random order
//   schedule    all again, with new deadlines
//   next        the next deadline, asked again and again
//   jump        one advance by ten years fires everything
//
//   expire      1 ms steps to the end
//
//   re-arm      a random timer to now + 30 s; the clock moves 1 ms every 1,000 operations
//
//   churn       N pending all the time, durations 1 ms .. 1 h, each power of two as likely as any other; one
//               operation is one life of a timer: nine of ten are cancelled, the rest fire
//
// Small sizes repeat a cell until there is something to measure; large ones stop when a cell has used up its
// budget of time, and the row says how many operations that were.
// Each count that can be known is checked, and the process stops when one is wrong.
#pragma once

#include "workload.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <numeric>
#include <string_view>
#include <time.h>
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

namespace bench {

inline double read_seconds(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// What is reported: time this thread has run, so that others on the machine disturb as little as they can.
inline double cpu_seconds() {
    return read_seconds(CLOCK_THREAD_CPUTIME_ID);
}

// For budgets, as it is read often and cheap. Raw: the fake clock of the libevent rival leaves this one
// alone.
inline double wall_seconds() {
    return read_seconds(CLOCK_MONOTONIC_RAW);
}

// Everything the heap has handed out, allocator overhead included.
inline std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

inline void check(bool ok, const char* rival, const char* what, std::uint64_t got, std::uint64_t expected) {
    if (ok)
        return;
    std::fprintf(stderr, "wheel_bench: %s: %s: got %llu, expected %llu\n", rival, what,
                 static_cast<unsigned long long>(got), static_cast<unsigned long long>(expected));
    std::exit(3);
}

template <class T>
inline void keep(T const& value) {
    asm volatile("" : : "r,m"(value) : "memory");
}

// Of a thousand pending timers churn cancels this many per millisecond. With durations spread evenly over the
// powers of two between 1 ms and 1 h that leaves about one in ten to fire; the row says how many did.
inline constexpr std::uint64_t churn_permille_per_ms = 170;

template <class Rival>
class chain {
public:
    explicit chain(settings const& s)
        : settings_(s),
          info_(Rival::info()),
          random_{s.round * 0x51ed2701u + s.size},
          handles_(s.size),
          deadlines_(s.size) {
        missing_.reserve(s.size);
    }

    std::vector<row> run() {
        // Freed memory stays with the process: no cell pays for the page faults of its first touch.
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, INT_MAX);
        if (wanted("cancel") || wanted("schedule") || wanted("next") || wanted("jump")) {
            const std::size_t before = heap_bytes();
            start(1);
            fill();
            bytes_ = static_cast<double>(heap_bytes() - before) / static_cast<double>(settings_.size);
            cancel_and_schedule();
            if (wanted("next"))
                next_deadline();
            if (wanted("jump"))
                jump();
        }
        if (wanted("expire"))
            expire();
        if (wanted("rearm"))
            rearm();
        if (wanted("churn"))
            churn();
        return std::move(rows_);
    }

private:
    bool wanted(std::string_view workload) const {
        return settings_.only.empty() || settings_.only == workload;
    }

    // Marks, with --only, the measured stretches for callgrind --collect-atstart=no, whose counts are
    // repeatable on a noisy machine (bench/README.md). Costs nothing elsewhere.
    void toggle_counting([[maybe_unused]] std::string_view workload) const {
#ifdef CALLGRIND_TOGGLE_COLLECT
        if (settings_.only == workload)
            CALLGRIND_TOGGLE_COLLECT;
#endif
    }

    std::uint64_t repeats(std::uint64_t operations, std::uint64_t most) const {
        return std::clamp<std::uint64_t>(operations / settings_.size, 1, most);
    }

    // `phase` seeds the random numbers, so that a workload sees the same ones whatever ran before it.
    void start(std::uint64_t phase) {
        random_.state = (settings_.round << 32) + (phase << 24) + settings_.size;
        rival_.reset();
        std::fill(handles_.begin(), handles_.end(), handle{});
        now_ = start_ns;
        rival_ = std::make_unique<Rival>(settings_.size, start_ns);
    }

    std::int64_t uniform_deadline() {
        constexpr auto range = static_cast<std::uint64_t>(60 * second - 10 * ms);
        return now_ + 10 * ms + static_cast<std::int64_t>(random_.below(range));
    }

    void arm(std::size_t k, std::int64_t deadline) {
        handles_[k] = rival_->schedule(deadline, payload{deadline, k});
    }

    // Arms every timer that is not pending; returns the seconds it took.
    double fill() {
        missing_.clear();
        for (std::size_t k = 0; k != handles_.size(); ++k)
            if (!handles_[k]) {
                missing_.push_back(k);
                deadlines_[k] = uniform_deadline();
            }
        toggle_counting("schedule");
        const double begin = cpu_seconds();
        for (std::size_t k : missing_)
            arm(k, deadlines_[k]);
        const double seconds = cpu_seconds() - begin;
        toggle_counting("schedule");
        return seconds;
    }

    // Runs `step` (which does `stride` operations) until `operations` are done or the budget is used up.
    template <class Step>
    std::pair<std::uint64_t, double> timed(const char* workload, std::uint64_t operations,
                                           std::uint64_t stride, Step&& step) {
        std::uint64_t done = 0;
        toggle_counting(workload);
        const double end = wall_seconds() + settings_.budget_seconds, begin = cpu_seconds();
        while (done < operations && wall_seconds() < end) {
            const std::uint64_t count = std::min(stride, operations - done);
            step(done, count);
            done += count;
        }
        const double seconds = cpu_seconds() - begin;
        toggle_counting(workload);
        return {done, seconds};
    }

    void add(const char* workload, std::uint64_t operations, double seconds, std::string facts = {}) {
        row r;
        r.workload = workload;
        r.operations = operations;
        r.nanoseconds = seconds * 1e9;
        r.facts = std::move(facts);
        rows_.push_back(std::move(r));
    }

    void cancel_and_schedule() {
        std::vector<std::size_t> order(handles_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::vector<handle> shuffled(handles_.size());
        std::uint64_t operations = 0;
        double cancel_seconds = 0, schedule_seconds = 0;
        for (std::uint64_t repeat = repeats(200'000, 100); repeat != 0; --repeat) {
            for (std::size_t i = order.size(); i > 1; --i)
                std::swap(order[i - 1], order[random_.below(i)]);
            // The harness's own cache misses stay outside: the handles lie in the order they are used in.
            for (std::size_t i = 0; i != order.size(); ++i)
                shuffled[i] = handles_[order[i]];
            std::uint64_t cancelled = 0;
            auto [done, seconds] =
                timed("cancel", order.size(), 10'000, [&](std::uint64_t at, std::uint64_t count) {
                    for (std::uint64_t i = at; i != at + count; ++i)
                        cancelled += rival_->cancel(shuffled[i]) ? 1u : 0u;
                });
            check(cancelled == done, info_.name, "cancelled", cancelled, done);
            for (std::uint64_t i = 0; i != done; ++i)
                handles_[order[i]] = handle{};
            operations += done;
            cancel_seconds += seconds;
            schedule_seconds += fill();
        }
        if (wanted("cancel"))
            add("cancel", operations, cancel_seconds);
        if (wanted("schedule"))
            add("schedule", operations, schedule_seconds, ",\"bytes_per_timer\":" + std::to_string(bytes_));
    }

    void next_deadline() {
        if constexpr (requires(Rival r) { r.next_deadline(); }) {
            std::int64_t sum = 0;
            auto [done, seconds] = timed("next", 1'000'000, 10'000, [&](std::uint64_t, std::uint64_t count) {
                for (std::uint64_t i = 0; i != count; ++i) {
                    sum += rival_->next_deadline() & 1;
                    keep(sum);
                }
            });
            const std::int64_t truth = *std::min_element(deadlines_.begin(), deadlines_.end());
            const std::int64_t said = rival_->next_deadline();
            // A bound may be early, and a coarse rival rounds up to its millisecond; late by more loses
            // timers.
            check(said <= truth + ms, info_.name, "next deadline", static_cast<std::uint64_t>(said),
                  static_cast<std::uint64_t>(truth));
            add("next", done, seconds, ",\"early_by_ns\":" + std::to_string(truth - said));
        } else {
            row r;
            r.workload = "next";
            r.not_available = info_.next_why;
            rows_.push_back(std::move(r));
        }
    }

    void jump() {
        std::uint64_t operations = 0;
        double seconds = 0;
        for (std::uint64_t repeat = repeats(200'000, 20); repeat != 0; --repeat) {
            std::uint64_t fired = 0;
            now_ += ten_years;
            toggle_counting("jump");
            const double begin = cpu_seconds();
            rival_->advance(now_, [&](payload const& p) {
                keep(p);
                ++fired;
            });
            seconds += cpu_seconds() - begin;
            toggle_counting("jump");
            check(fired == handles_.size(), info_.name, "fired by the jump", fired, handles_.size());
            operations += fired;
            std::fill(handles_.begin(), handles_.end(), handle{});
            if (repeat > 1)
                fill();
        }
        add("jump", operations, seconds);
    }

    void expire() {
        std::uint64_t operations = 0, steps = 0, early = 0, disorder = 0;
        double total = 0;
        for (std::uint64_t repeat = repeats(20'000, 10); repeat != 0; --repeat) {
            start(10 + repeat);
            fill();
            std::uint64_t fired = 0;
            std::int64_t last = 0;
            auto [done, seconds] = timed("expire", 60'000, 100, [&](std::uint64_t, std::uint64_t count) {
                for (; count != 0; --count) {
                    now_ += ms;
                    rival_->advance(now_, [&](payload const& p) {
                        ++fired;
                        early += p.deadline_ns > now_ ? 1u : 0u;
                        disorder += p.deadline_ns < last ? 1u : 0u;
                        last = p.deadline_ns;
                    });
                }
            });
            auto due = [&](std::int64_t at) {
                return static_cast<std::uint64_t>(std::count_if(deadlines_.begin(), deadlines_.end(),
                                                                [&](std::int64_t d) { return d <= at; }));
            };
            check(fired == due(now_), info_.name, "expired", fired, due(now_));
            operations += fired;
            steps += done;
            total += seconds;
        }
        check(early == 0, info_.name, "fired too early", early, 0);
        add("expire", operations, total,
            ",\"early\":" + std::to_string(early) + ",\"out_of_order\":" + std::to_string(disorder) +
                ",\"steps\":" + std::to_string(steps));
    }

    void rearm() {
        start(2);
        fill();
        std::vector<std::uint32_t> picks(settings_.max_operations);
        for (auto& p : picks)
            p = static_cast<std::uint32_t>(random_.below(handles_.size()));
        std::uint64_t fired = 0;
        auto [done, seconds] =
            timed("rearm", picks.size(), 1'000, [&](std::uint64_t at, std::uint64_t count) {
                const std::int64_t deadline = now_ + 30 * second;
                for (std::uint64_t i = at; i != at + count; ++i) {
                    handle& h = handles_[picks[i]];
                    if (h) [[likely]]
                        h = rival_->rearm(h, deadline);
                    else
                        arm(picks[i], deadline);
                }
                now_ += ms;
                rival_->advance(now_, [&](payload const& p) {
                    handles_[p.tag] = handle{};
                    ++fired;
                });
            });
        add("rearm", done, seconds, ",\"fired\":" + std::to_string(fired));
    }

    // 1 ms .. 1 h in whole milliseconds, so that coarse rivals fire in the same step as exact ones.
    std::int64_t churn_duration_ms() {
        for (;;) {
            const std::uint64_t octave = std::uint64_t{1} << random_.below(22);
            const std::uint64_t duration = octave + random_.below(octave);
            if (duration <= 3'600'000)
                return static_cast<std::int64_t>(duration);
        }
    }

    // What is left of a timer met in the steady state: one whose age, given the rate of cancels, is still
    // below its duration. Filling with these makes a warm-up of the workload superfluous.
    std::int64_t churn_rest_ms() {
        for (;;) {
            std::int64_t age = 0;
            while (random_.below(1000) >= churn_permille_per_ms)
                ++age;
            const std::int64_t duration = churn_duration_ms();
            if (age < duration)
                return duration - age;
        }
    }

    void churn() {
        start(3);
        std::vector<std::int64_t> rests(4096), durations(4096);
        for (auto& r : rests)
            r = churn_rest_ms() * ms;
        for (auto& d : durations)
            d = churn_duration_ms() * ms;
        for (std::size_t k = 0; k != handles_.size(); ++k)
            arm(k, now_ + rests[(k * 31) & 4095]);
        const std::uint64_t per_ms =
            std::max<std::uint64_t>(1, handles_.size() * churn_permille_per_ms / 1000);
        std::vector<std::uint32_t> picks(std::max(settings_.max_operations, per_ms));
        for (auto& p : picks)
            p = static_cast<std::uint32_t>(random_.below(handles_.size()));
        std::vector<std::uint32_t> dead;
        std::uint64_t tick = 0, cancelled = 0, fired = 0;
        // The duration depends on the timer and the time only, not on the order in which timers fired.
        auto live_again = [&](std::size_t k) { arm(k, now_ + durations[(k * 31 + tick * 17) & 4095]); };
        auto [done, seconds] = timed("churn", picks.size(), per_ms, [&](std::uint64_t at, std::uint64_t n) {
            for (std::uint64_t i = at; i != at + n; ++i) {
                cancelled += rival_->cancel(handles_[picks[i]]) ? 1u : 0u;
                live_again(picks[i]);
            }
            now_ += ms;
            ++tick;
            rival_->advance(now_,
                            [&](payload const& p) { dead.push_back(static_cast<std::uint32_t>(p.tag)); });
            for (std::uint32_t k : dead)
                live_again(k);
            fired += dead.size();
            dead.clear();
        });
        check(cancelled == done, info_.name, "cancelled in churn", cancelled, done);
        if (handles_.size() <= 1'000'000) { // firing the rest takes too long where there are more
            std::uint64_t rest = 0;
            now_ += 2 * 3'600 * second;
            rival_->advance(now_, [&](payload const&) { ++rest; });
            check(rest == handles_.size(), info_.name, "left pending by churn", rest, handles_.size());
        }
        add("churn", cancelled + fired, seconds,
            ",\"fired\":" + std::to_string(fired) + ",\"cancelled\":" + std::to_string(cancelled));
    }

    using handle = typename Rival::handle;
    settings settings_;
    rival_info info_;
    splitmix64 random_{0};
    std::vector<handle> handles_;
    std::vector<std::int64_t> deadlines_;
    std::vector<std::size_t> missing_;
    std::unique_ptr<Rival> rival_;
    std::vector<row> rows_;
    std::int64_t now_ = start_ns;
    double bytes_ = 0;
};

} // namespace bench
