// SPDX-License-Identifier: Apache-2.0
//
// Two tasks hand a ball to each other. A task suspends with suspend_with(), which gives the ticket to wake
// it.
#include <horae/horae.hpp>

#include <cstdio>

namespace {

struct table {
    horae::wake_ticket waiting; // whoever waits for the ball
    int hits = 0;
};

horae::task<> player(table& t, const char* name, int until) {
    while (t.hits < until) {
        std::printf("%s %d\n", name, ++t.hits);
        const horae::wake_ticket other = t.waiting;
        co_await horae::suspend_with([&](horae::wake_ticket mine) {
            t.waiting = mine;
            horae::wake(other);
        });
    }
    horae::wake(t.waiting); // let the other one finish
}

} // namespace

int main() {
    horae::runtime rt({.workers = 1}); // one worker, so the table needs no lock
    table t;
    rt.block_on([](table& shared) -> horae::task<> {
        co_await horae::when_all(player(shared, "ping", 10), player(shared, "pong", 10));
    }(t));
    return t.hits == 10 ? 0 : 1;
}
