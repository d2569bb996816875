// SPDX-License-Identifier: Apache-2.0
//
// The client of the echo benchmark: N connections, each with one 1 KiB message under way; prints 'warm', then
// answers per second. Native, so that the server under test is what limits the rate.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t message_size = 1024;
char buffer[message_size];

int connect_to(int port) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int one = 1;
    if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) < 0) {
        std::perror("connect");
        std::exit(1);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

void send_message(int fd) {
    if (send(fd, buffer, message_size, 0) != static_cast<ssize_t>(message_size)) {
        std::perror("send");
        std::exit(1);
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: %s PORT CONNECTIONS SECONDS\n", arguments[0]);
        return 2;
    }
    const int connections = std::atoi(arguments[2]);
    const int epoll = epoll_create1(0);
    std::vector<std::size_t> received(65536);
    for (int i = 0; i < connections; ++i) {
        const int fd = connect_to(std::atoi(arguments[1]));
        epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        send_message(fd);
    }
    using clock = std::chrono::steady_clock;
    const std::chrono::duration<double> warm_up(0.1), length(std::atof(arguments[3]));
    clock::time_point began = clock::now();
    bool warm = false;
    std::size_t answers = 0;
    for (;;) {
        epoll_event events[128];
        const int ready = epoll_wait(epoll, events, 128, 5000);
        if (ready <= 0) {
            std::fprintf(stderr, "no answer for five seconds\n");
            return 1;
        }
        for (int i = 0; i < ready; ++i) {
            const int fd = events[i].data.fd;
            const ssize_t got = recv(fd, buffer, message_size, 0);
            if (got <= 0) {
                std::perror("recv");
                return 1;
            }
            auto& sum = received[static_cast<std::size_t>(fd)];
            sum += static_cast<std::size_t>(got);
            if (sum == message_size) {
                sum = 0;
                ++answers;
                send_message(fd);
            }
        }
        const std::chrono::duration<double> passed = clock::now() - began;
        if (!warm && passed > warm_up) {
            warm = true;
            answers = 0;
            std::puts("warm");
            std::fflush(stdout);
            began = clock::now();
        } else if (warm && passed > length) {
            std::printf("%.0f\n", static_cast<double>(answers) / passed.count());
            return 0;
        }
    }
}
