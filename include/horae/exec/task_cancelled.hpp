// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

namespace horae {

// What awaiting a cancelled task throws. One that leaves a task nobody awaits is not reported: it is a
// cancellation that has reached its end.
class task_cancelled : public std::exception {
public:
    const char* what() const noexcept override { return "the task was cancelled"; }
};

} // namespace horae
