// SPDX-License-Identifier: Apache-2.0
//
// After fork() parent and child share the epoll set, the eventfd and the self-pipe: the child would steal the
// parent's wake-ups and, by closing its loop, remove the parent's registrations. So the child opens its own.
#include <pthread.h>

#include "loop.hpp"

namespace horae::python {
namespace {
unsigned generation = 0;
}

void install_fork_hook() {
    pthread_atfork(nullptr, nullptr, [] { ++generation; });
}

unsigned fork_generation() {
    return generation;
}

bool reopen_after_fork(PyObject* self) {
    loop_state& state = state_of(self);
    state.fork_generation = generation;
    if (state.epoll_fd < 0 || state.foreign_selector)
        return true;
    close_poller(state);
    if (!open_poller(state))
        return false;
    for (std::size_t fd = 0; fd < state.watched.size(); ++fd) {
        if (!state.watched[fd].mask)
            continue;
        epoll_event event{};
        event.events = state.watched[fd].mask;
        event.data.fd = static_cast<int>(fd);
        // A descriptor that is closed by now has nothing to tell.
        epoll_ctl(state.epoll_fd, EPOLL_CTL_ADD, event.data.fd, &event);
    }
    ref reopened(PyObject_CallFunctionObjArgs(interned.reopen, self, nullptr));
    return static_cast<bool>(reopened);
}

} // namespace horae::python
