// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "demo/live_run.hpp"
#include "demo/options.hpp"
#include "demo/replay.hpp"
#include "demo/terminal.hpp"

namespace demo {

void print_title(const terminal& out, const options& chosen);
void draw_progress(const terminal& out, const progress& state);
void clear_progress(const terminal& out);
void print_live(const terminal& out, const options& chosen, const live_result& result);
void print_comparison(const terminal& out, const plan& work, const comparison& result);

} // namespace demo
