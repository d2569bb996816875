// SPDX-License-Identifier: Apache-2.0
#include <horae/base/clock.hpp>

#include <ctime>

namespace horae {
namespace {

class monotonic final : public clock_source {
public:
    std::int64_t now_ns() const noexcept override {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    }
    bool is_real() const noexcept override { return true; }
};

} // namespace

clock_source& monotonic_clock() noexcept {
    static monotonic instance;
    return instance;
}

} // namespace horae
