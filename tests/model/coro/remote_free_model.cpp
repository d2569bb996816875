// SPDX-License-Identifier: Apache-2.0
//
// Two threads give blocks back while the owner takes: each block comes back once, and the owner writes to it
// only after the other thread is done with it.
#include "support/relacy_atomics.hpp"

#include <horae/coro/frame_cache.hpp>

namespace {

using frees = horae::detail::basic_remote_frees<model::relacy_atomics>;

struct frame : frees::block {
    model::watched<int> body;
    int back = 0;
};

struct remote_free : rl::test_suite<remote_free, 3> {
    frees remote;
    frame frames[2];

    void collect() {
        for (auto* each = remote.take_all(); each != nullptr;) {
            auto* got = static_cast<frame*>(each);
            each = each->next.read();
            got->body.write(2); // reuse
            ++got->back;
        }
    }
    void thread(unsigned index) {
        if (index < 2) {
            frames[index].body.write(1); // the last use: the coroutine's destructors
            remote.push(frames[index]);
        } else {
            collect();
            collect();
        }
    }
    void after() {
        collect();
        for (const frame& each : frames)
            model::require(each.back == 1);
    }
};

} // namespace

int main(int argc, char** argv) {
    return model::run<remote_free>(argc, argv, {.preemptions = 3});
}
