// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <horae/exec/task_slot.hpp>

namespace horae::detail {

// The last owner of an ended task (word `done`): destroys the frame that is left and frees the slot. An
// exception still in it was observed by nobody and goes to the runtime's handler.
void release_slot(task_slot& slot) noexcept;

} // namespace horae::detail
