// SPDX-License-Identifier: Apache-2.0
//
// A message to a worker. The sender allocates it; the handler, which runs on the receiving worker between two
// tasks, frees it. A worker that leaves passes unread messages to another one, so a handler must not
// assume that it runs on the worker the message was first sent to.
#pragma once

#include <horae/base/inbox.hpp>

namespace horae {

class worker;

struct message : inbox_node<> {
    using handler = void (*)(worker&, message&) noexcept;
    explicit message(handler on_receive) noexcept : handle(on_receive) {}
    handler handle;
};

} // namespace horae
