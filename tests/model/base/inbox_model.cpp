// SPDX-License-Identifier: Apache-2.0
//
// Two senders against a receiver that takes and then closes: each node is received once or refused, never
// both, and what its sender wrote is seen.
#include "support/relacy_atomics.hpp"

#include <horae/base/inbox.hpp>

namespace {

using model::relacy_atomics;

struct item : horae::inbox_node<relacy_atomics> {
    model::watched<int> payload;
    model::watched<int> seen;
};

struct close_against_push : rl::test_suite<close_against_push, 3> {
    horae::basic_inbox<relacy_atomics> inbox;
    item items[2];
    bool accepted[2] = {};

    void before() {
        for (item& each : items)
            each.seen.write(0);
    }

    void receive(horae::inbox_node<relacy_atomics>* node) {
        while (node != nullptr) {
            auto* got = static_cast<item*>(node);
            node = got->next.read();
            model::require(got->payload.read() == 7);
            got->seen.write(got->seen.read() + 1);
        }
    }

    void thread(unsigned index) {
        if (index < 2) {
            items[index].payload.write(7);
            accepted[index] = inbox.push(items[index]);
        } else {
            receive(inbox.take_all());
            receive(inbox.close());
        }
    }

    void after() {
        for (int i = 0; i < 2; ++i)
            model::require(items[i].seen.read() == (accepted[i] ? 1 : 0));
    }
};

} // namespace

int main(int argc, char** argv) {
    return model::run<close_against_push>(argc, argv, {});
}
