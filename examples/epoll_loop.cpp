// SPDX-License-Identifier: Apache-2.0
//
// The wheel in a bare epoll loop: one timerfd, set to next_deadline(), serves all timers. A connection (here
// a socket pair) is closed when it has been idle for 30 ms; each message puts that off.
#include <horae/wheel.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>

namespace {

constexpr std::int64_t ms = 1'000'000;

using callback = std::function<void(horae::timer_id, std::int64_t deadline_ns)>;

std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Never early: the kernel compares nanoseconds, and so does the wheel. Zero would disarm the timerfd.
void wake_at(int timer_fd, std::int64_t time_ns) {
    const std::int64_t at = time_ns > 0 ? time_ns : 1;
    const itimerspec when{.it_interval = {}, .it_value = {at / 1'000'000'000, at % 1'000'000'000}};
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &when, nullptr);
}

} // namespace

int main() {
    const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    const int timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    int sockets[2];
    if (epoll_fd < 0 || timer_fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) != 0) {
        std::perror("epoll_loop");
        return 1;
    }
    for (const int fd : {timer_fd, sockets[0]}) {
        epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
    }

    horae::timing_wheel<callback> wheel({.start_ns = now_ns()});
    int sent = 0;
    int received = 0;
    bool closed = false;
    const horae::timer_id idle =
        wheel.schedule(now_ns() + 30 * ms, [&](horae::timer_id, std::int64_t) { closed = true; });
    // A periodic timer re-arms itself in its callback; from its deadline, not from now, so it does not drift.
    wheel.schedule(now_ns(), [&](horae::timer_id self, std::int64_t deadline_ns) {
        sent += write(sockets[1], "x", 1) == 1 ? 1 : 0;
        if (sent < 10) {
            wheel.rearm(self, deadline_ns + 5 * ms);
        }
    });

    while (const auto next_ns = wheel.next_deadline()) {
        wake_at(timer_fd, *next_ns);
        epoll_event event{};
        epoll_wait(epoll_fd, &event, 1, -1);
        char buffer[16];
        if (const auto count = read(sockets[0], buffer, sizeof buffer); count > 0) {
            received += static_cast<int>(count);
            wheel.rearm(idle, now_ns() + 30 * ms);
        }
        wheel.advance(now_ns(), [](horae::timer_id id, std::int64_t at, callback& call) { call(id, at); });
    }
    std::printf("sent %d, received %d, then %s\n", sent, received, closed ? "closed as idle" : "not closed");
    return closed && sent == 10 && received > 0 && wheel.empty() ? 0 : 1;
}
