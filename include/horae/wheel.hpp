// SPDX-License-Identifier: Apache-2.0
//
// The timing wheel alone. Needs nothing but the standard library.
#pragma once

#include <horae/version.hpp>
#include <horae/wheel/timer_id.hpp>
#include <horae/wheel/timing_wheel.hpp>
#include <horae/wheel/wheel_options.hpp>
