// SPDX-License-Identifier: Apache-2.0
#include <horae/base/parker.hpp>

#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace horae {

bool futex_wait::wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      std::int64_t until_ns) noexcept {
    static_assert(sizeof(word) == sizeof(std::uint32_t), "the kernel reads this word as a plain 32-bit one");
    timespec until{};
    if (until_ns < 0)
        until_ns = 0; // the kernel refuses negative times; all of them are past
    until.tv_sec = static_cast<std::time_t>(until_ns / 1'000'000'000);
    until.tv_nsec = static_cast<long>(until_ns % 1'000'000'000);
    // BITSET, because it takes an absolute time: a signal in the middle does not move the deadline.
    const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
                                until_ns == never_ns ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
    return result == -1 && errno == ETIMEDOUT;
}

void futex_wait::wake_one(std::atomic<std::uint32_t>& word) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace horae
