// SPDX-License-Identifier: Apache-2.0
#include "demo/report.hpp"

#include <horae/version.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace demo {
namespace {

template <class... Parts>
void print(const Parts&... parts) {
    std::puts(joined({parts...}).c_str());
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%",
                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
    return text.data();
}

std::int64_t percentile(const std::vector<std::int64_t>& sorted, double share) {
    const double rank = std::ceil(share * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void print_ledger(const terminal& out, const ledger& accounts) {
    const auto fault = [&out](const char* name, std::uint64_t count) {
        const std::string text = joined({name, " ", grouped(count)});
        return joined({"   ", count == 0 ? out.good(text) : out.bad(text)});
    };
    print("  ", out.bold(joined({"fired ", grouped(accounts.fired)})), "   ",
          out.bold(joined({"cancelled ", grouped(accounts.cancelled)})), fault("early", accounts.early),
          fault("lost", accounts.lost));
    if (accounts.twice + accounts.out_of_order + accounts.untruths > 0) {
        print(" ", fault("fired twice", accounts.twice), fault("out of order", accounts.out_of_order),
              fault("wrong answers", accounts.untruths));
    }
}

// A bound of the histogram: 1, 2 or 5 times a power of ten, so no fraction is needed.
std::string bound_text(std::int64_t ns) {
    return ns < 1'000'000       ? std::to_string(ns / 1000).append(" us")
           : ns < 1'000'000'000 ? std::to_string(ns / 1'000'000).append(" ms")
                                : std::to_string(ns / 1'000'000'000).append(" s");
}

// Rows of 1-2-5 steps, from the first that holds a timer to the last.
void print_histogram(const terminal& out, const std::vector<std::int64_t>& sorted) {
    std::vector<std::pair<std::int64_t, std::uint64_t>> rows; // upper bound, count
    std::uint64_t most = 0;
    constexpr std::array<std::int64_t, 3> steps = {1, 2, 5};
    std::int64_t decade_ns = 1000;
    auto from = sorted.begin();
    for (std::size_t i = 0; from != sorted.end(); ++i) {
        const std::int64_t bound_ns = decade_ns * steps[i % 3];
        const auto to = std::lower_bound(from, sorted.end(), bound_ns);
        const auto count = static_cast<std::uint64_t>(to - from);
        if (count > 0 || !rows.empty()) {
            rows.emplace_back(bound_ns, count);
            most = std::max(most, count);
        }
        from = to;
        decade_ns *= i % 3 == 2 ? 10 : 1;
    }
    for (const auto& [bound_ns, count] : rows) {
        const double share = static_cast<double>(count) / static_cast<double>(most);
        print("  below ", right(bound_text(bound_ns), 6), right(percent_text(count, sorted.size()), 9), "  ",
              out.accent(out.bar(share, out.width - 28)));
    }
}

void print_lateness(const terminal& out, const std::vector<std::int64_t>& sorted) {
    if (sorted.empty()) {
        print("  No timer was left to fire.");
        return;
    }
    print(out.bold("  How late they fired"), out.dim(" (time past the deadline, each timer measured)"));
    std::string line = " ";
    constexpr std::array<std::pair<const char*, double>, 4> shares = {
        {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};
    for (const auto& [name, share] : shares) {
        line += joined({" ", name, " ", out.bold(duration_text(percentile(sorted, share))), "  "});
    }
    print(line, " max ", out.bold(duration_text(sorted.back())), "\n");
    print_histogram(out, sorted);
}

std::string per_operation(std::int64_t total_ns, std::uint64_t count) {
    return count == 0
               ? "-"
               : duration_text(std::llround(static_cast<double>(total_ns) / static_cast<double>(count)));
}

std::string ratio_of(std::int64_t wheel_ns, std::int64_t heap_ns) {
    return wheel_ns <= 0 ? "-" : ratio_text(static_cast<double>(heap_ns) / static_cast<double>(wheel_ns));
}

} // namespace

void print_title(const terminal& out, const options& chosen) {
    char version[32];
    std::snprintf(version, sizeof version, "Horae %d.%d.%d", HORAE_VERSION_MAJOR, HORAE_VERSION_MINOR,
                  HORAE_VERSION_PATCH);
    print("\n", out.bold(version), "   ", grouped(chosen.timers), " timers, one wheel, one thread, ",
          std::to_string(chosen.seconds), " s of real time\n");
    std::fflush(stdout);
}

void draw_progress(const terminal& out, const progress& state) {
    const double share =
        std::clamp(static_cast<double>(state.elapsed_ns) / static_cast<double>(state.length_ns), 0.0, 1.0);
    std::string counts = joined({"  fired ", right(grouped(state.accounts.fired), 9), "  cancelled ",
                                 right(grouped(state.accounts.cancelled), 9)});
    if (out.width < static_cast<int>(counts.size()) + 10) {
        counts.clear();
    }
    const int cells = out.width - static_cast<int>(counts.size()) - 5;
    const auto filled = static_cast<int>(std::lround(share * cells));
    std::string track;
    for (int i = 0; i < cells - filled; ++i) {
        track += out.unicode ? "░" : ".";
    }
    // Whole cells only, so that bar and track add up to the same width at every redraw.
    const std::string bar = out.bar(static_cast<double>(filled) / cells, cells);
    std::fputs(joined({"\r  ", out.accent(bar), out.dim(track), counts}).c_str(), stdout);
    std::fflush(stdout);
}

void clear_progress(const terminal& out) {
    std::printf("\r%*s\r", out.width - 1, "");
    std::fflush(stdout);
}

void print_live(const terminal& out, const options& chosen, const live_result& result) {
    const auto timers = static_cast<std::int64_t>(chosen.timers);
    const auto running = static_cast<std::uint64_t>(result.running_ns);
    print("  Armed in ", duration_text(result.arming_ns),
          " of CPU: ", duration_text(result.arming_ns / timers), " and ",
          std::to_string(result.wheel_bytes / chosen.timers), " bytes each. Then ",
          grouped(result.accounts.rearmed), " re-armed.");
    print("  The thread slept ", grouped(result.sleeps), " times and used ",
          percent_text(static_cast<std::uint64_t>(result.running_cpu_ns), running), " of one core.");
    if (result.waited_ns > result.running_ns / 100) {
        print("  The machine is busy: for ",
              percent_text(static_cast<std::uint64_t>(result.waited_ns), running),
              " of the time it waited for a core.");
    }
    print("");
    print_ledger(out, result.accounts);
    print("");
    print_lateness(out, result.lateness_ns);
    print("");
    std::fflush(stdout);
}

void print_comparison(const terminal& out, const plan& work, const comparison& result) {
    struct row {
        const char* name;
        std::int64_t wheel_ns;
        std::int64_t heap_ns;
        std::uint64_t count;
    };
    const cpu_times& wheel = result.wheel;
    const cpu_times& heap = result.heap;
    const std::array<row, 4> rows = {{{"arm", wheel.arm_ns, heap.arm_ns, work.deadlines_ns.size()},
                                      {"cancel", wheel.cancel_ns, heap.cancel_ns, work.cancels.size()},
                                      {"re-arm", wheel.rearm_ns, heap.rearm_ns, work.rearms.size()},
                                      {"fire", wheel.fire_ns, heap.fire_ns, result.fired}}};
    print(out.bold("  Beside a binary heap"),
          out.dim(" (std::priority_queue, cancelled entries left in it)"));
    print(out.dim(joined(
        {"  ", left("CPU time", 10), right("wheel", 10), right("heap", 10), right("heap/wheel", 13)})));
    for (const row& line : rows) {
        print("  ", left(line.name, 10), right(per_operation(line.wheel_ns, line.count), 10),
              right(per_operation(line.heap_ns, line.count), 10),
              out.bold(right(line.count == 0 ? "-" : ratio_of(line.wheel_ns, line.heap_ns), 13)));
    }
    print("  ", left("in all", 10), right(duration_text(wheel.total_ns()), 10),
          right(duration_text(heap.total_ns()), 10),
          out.good(right(ratio_of(wheel.total_ns(), heap.total_ns()), 13)), "\n");
    const auto longer = static_cast<double>(std::max({wheel.total_ns(), heap.total_ns(), std::int64_t{1}}));
    const int cells = out.width - 12;
    print("  wheel   ", out.accent(out.bar(static_cast<double>(wheel.total_ns()) / longer, cells)));
    print("  heap    ", out.dim(out.bar(static_cast<double>(heap.total_ns()) / longer, cells)), "\n");
    print(out.dim(joined({"  The same timers in virtual time, ", std::to_string(replay_turns(work)),
                          " turns, median of ", std::to_string(replay_rounds), " rounds."})));
    print(result.same_order ? out.dim("  Both fired the same timers in the same order.\n")
                            : out.bad("  They did not fire the same timers in the same order.\n"));
}

} // namespace demo
