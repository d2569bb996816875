// SPDX-License-Identifier: Apache-2.0
//
// Waiting: epoll with nanosecond timeouts, and the eventfd that ends a wait from another thread.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "loop.hpp"

namespace horae::python {
namespace {

int wait(loop_state& state, std::int64_t timeout_ns) {
    const auto room = static_cast<int>(state.events.size());
    if (timeout_ns == 0)
        return epoll_wait(state.epoll_fd, state.events.data(), room, 0);
    if (timeout_ns < 0)
        return epoll_wait(state.epoll_fd, state.events.data(), room, -1);
    static bool has_pwait2 = true;
    if (has_pwait2) {
        const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
        const int count = epoll_pwait2(state.epoll_fd, state.events.data(), room, &timeout, nullptr);
        if (count >= 0 || errno != ENOSYS)
            return count;
        has_pwait2 = false;
    }
    const std::int64_t ms = (timeout_ns + 999'999) / 1'000'000;
    return epoll_wait(state.epoll_fd, state.events.data(), room,
                      ms > INT_MAX ? INT_MAX : static_cast<int>(ms));
}

bool queue(PyObject* self, int fd, std::uint32_t mask, PyObject* handle) {
    if (!handle)
        return true;
    if (!as_handle(handle)->cancelled)
        return push_ready(state_of(self), handle);
    // Cancelled by itself, not by remove_reader(): nobody waits for the descriptor any more.
    remove_watch(state_of(self), fd, mask);
    return true;
}

bool dispatch(PyObject* self, const epoll_event& event) {
    loop_state& state = state_of(self);
    if (event.data.fd == state.event_fd) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = read(state.event_fd, &count, sizeof count);
        return true;
    }
    const auto index = static_cast<std::size_t>(event.data.fd);
    if (index >= state.watched.size())
        return true;
    const watched_fd entry = state.watched[index];
    // An error or a hang-up concerns whoever is there.
    if ((event.events & ~std::uint32_t{EPOLLOUT}) && !queue(self, event.data.fd, EPOLLIN, entry.reader))
        return false;
    return !(event.events & ~std::uint32_t{EPOLLIN}) || queue(self, event.data.fd, EPOLLOUT, entry.writer);
}

} // namespace

bool open_poller(loop_state& state) {
    state.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    state.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = state.event_fd;
    if (state.epoll_fd < 0 || state.event_fd < 0 ||
        epoll_ctl(state.epoll_fd, EPOLL_CTL_ADD, state.event_fd, &event) < 0) {
        PyErr_SetFromErrno(PyExc_OSError);
        close_poller(state);
        return false;
    }
    return true;
}

void close_poller(loop_state& state) {
    if (state.epoll_fd >= 0)
        close(state.epoll_fd);
    if (state.event_fd >= 0)
        close(state.event_fd);
    state.epoll_fd = state.event_fd = -1;
}

bool poll(PyObject* self, std::int64_t timeout_ns) {
    loop_state& state = state_of(self);
    ++state.metrics.polls;
    if (state.foreign_selector) {
        ref timeout(timeout_ns < 0 ? Py_NewRef(Py_None)
                                   : PyFloat_FromDouble(static_cast<double>(timeout_ns) / 1e9));
        if (!timeout)
            return false;
        ref result(PyObject_CallFunctionObjArgs(interned.foreign_poll, self, timeout.get(), nullptr));
        return static_cast<bool>(result);
    }
    int count = 0, error = 0;
    state.sleeping = timeout_ns != 0;
    Py_BEGIN_ALLOW_THREADS;
    count = wait(state, timeout_ns);
    error = errno;
    Py_END_ALLOW_THREADS;
    state.sleeping = false;
    if (count < 0) {
        if (error == EINTR)
            return PyErr_CheckSignals() == 0;
        errno = error;
        PyErr_SetFromErrno(PyExc_OSError);
        return false;
    }
    for (int i = 0; i < count; ++i) {
        if (!dispatch(self, state.events[static_cast<std::size_t>(i)]))
            return false;
    }
    return true;
}

} // namespace horae::python
