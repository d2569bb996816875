// SPDX-License-Identifier: Apache-2.0
//
// Everything public in one include.
#pragma once

#include <horae/coro/join_handle.hpp>
#include <horae/coro/runtime.hpp>
#include <horae/coro/scope.hpp>
#include <horae/coro/spawn_blocking.hpp>
#include <horae/coro/spawn_wait.hpp>
#include <horae/coro/suspend.hpp>
#include <horae/coro/task.hpp>
#include <horae/coro/when_all.hpp>
#include <horae/coro/when_any.hpp>
#include <horae/coro/with_stop.hpp>
#include <horae/coro/yield.hpp>
#include <horae/version.hpp>
#include <horae/wheel.hpp>

namespace horae {

// The version of the library that is linked, "major.minor.patch"; compare it with
// HORAE_VERSION_* of the headers to find a mismatch between the two.
const char* version() noexcept;

} // namespace horae
