// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer makes wheel programs from bytes; the judge of the property test decides.
#include "support/wheel_program.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using horae::testing::wheel_op;
using horae::testing::wheel_step;

// Two bytes of magnitude and value make every distance reachable in few bytes.
std::int64_t distance(std::uint8_t magnitude, std::uint8_t value) {
    const auto shift = magnitude % 64u;
    const auto size = static_cast<std::int64_t>((static_cast<std::uint64_t>(value) << shift) >> 1);
    return magnitude >= 192 ? -size : size;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) {
        return 0;
    }
    const horae::testing::wheel_setup setup{.start_ns = distance(data[0], data[1]) - (data[1] % 2),
                                            .resolution_ns = std::int64_t{1} << (data[2] % 40),
                                            .garbage_floor = data[3] % 16u};
    std::vector<wheel_step> program;
    for (std::size_t at = 4; at + 5 <= size && program.size() < 400; at += 5) {
        const auto op = static_cast<wheel_op>(data[at] % static_cast<unsigned>(wheel_op::count_));
        program.push_back({op, distance(data[at + 1], data[at + 2]), distance(data[at + 3], data[at + 4])});
    }
    const auto broken = data[0] % 2 == 0 ? horae::testing::judge<>(program, setup)
                                         : horae::testing::judge<horae::testing::tiny_limits>(program, setup);
    if (broken) {
        std::fprintf(stderr, "%s\n%s", broken->c_str(), horae::testing::to_text(program, setup).c_str());
        std::abort();
    }
    return 0;
}
