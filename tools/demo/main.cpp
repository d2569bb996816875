// SPDX-License-Identifier: Apache-2.0
//
// ./horae demo: a million timers in real time, with an account of every one, and the same work by a heap.
#include "demo/report.hpp"

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>

namespace {

int run(const demo::options& chosen) {
    const auto out = demo::terminal::detect();
    demo::print_title(out, chosen);
    const demo::plan work = demo::make_plan(chosen.timers, chosen.seconds, chosen.seed);

    std::function<void(const demo::progress&)> on_progress;
    if (out.interactive) {
        on_progress = [&out](const demo::progress& state) { demo::draw_progress(out, state); };
    }
    const demo::live_result live = demo::run_live(work, on_progress);
    if (out.interactive) {
        demo::clear_progress(out);
    }
    demo::print_live(out, chosen, live);

    const demo::comparison compared = demo::compare_with_heap(work);
    demo::print_comparison(out, work, compared);

    const bool complete = live.accounts.fired + live.accounts.cancelled == chosen.timers;
    return live.accounts.clean() && complete && compared.same_order ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
    try {
        const demo::options chosen = demo::parse_options(argc, argv);
        if (chosen.help) {
            std::fputs(demo::usage, stdout);
            return 0;
        }
        return run(chosen);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "horae demo: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "horae demo: %s\n", error.what());
        return 1;
    }
}
