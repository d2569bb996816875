// SPDX-License-Identifier: Apache-2.0
//
// Not under TSan, which does not support threads that are started after a fork.
#include <horae/horae.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using horae::runtime;
using horae::spawn_error;
using horae::task;

task<int> answer() {
    co_return 42;
}

// Regression 33: a child of fork gets an error, not a hang.
TEST(fork, the_child_gets_a_defined_error) {
    runtime rt({.workers = 2});
    rt.block_on(answer());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        alarm(10); // a hang would end the child by a signal
        int code = 1;
        try {
            rt.block_on(answer());
        } catch (const horae::spawn_failure& e) {
            code = e.code() == spawn_error::forked ? 0 : 2;
        }
        if (code == 0) {
            runtime fresh({.workers = 1}); // a new runtime works
            code = fresh.block_on(answer()) == 42 ? 0 : 3;
        }
        rt.~runtime(); // the end of the old one does not hang either
        _exit(code);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(rt.block_on(answer()), 42);
}

} // namespace
