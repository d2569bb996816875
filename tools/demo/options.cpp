// SPDX-License-Identifier: Apache-2.0
#include "demo/options.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace demo {
namespace {

constexpr std::uint64_t max_timers = 10'000'000;
constexpr std::uint64_t max_seconds = 600;

std::uint64_t number(std::string_view option, std::string_view text, std::uint64_t least,
                     std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < least ||
        value > most) {
        throw std::invalid_argument(std::string(option) + " is '" + std::string(text) +
                                    "'; it must be a whole number from " + std::to_string(least) + " to " +
                                    std::to_string(most));
    }
    return value;
}

void set(options& result, std::string_view option, std::string_view value) {
    if (option == "--timers") {
        result.timers = static_cast<std::uint32_t>(number(option, value, 1, max_timers));
    } else if (option == "--seconds") {
        result.seconds = static_cast<std::uint32_t>(number(option, value, 1, max_seconds));
    } else {
        result.seed = number(option, value, 0, std::numeric_limits<std::uint64_t>::max());
    }
}

} // namespace

const char* const usage = R"(usage: ./horae demo [--timers N] [--seconds S] [--seed N]

Arms N timers on one wheel, in one thread, lives through S seconds of real time with
them, and shows what became of each one; then repeats the work with a binary heap.

  --timers N    1 to 10000000, default 1000000
  --seconds S   1 to 600, default 5
  --seed N      another draw of deadlines, cancellations and re-arms; default 1
  --help        this text

Exit code: 0, or 1 if a timer was early, lost or fired twice, or 2 for wrong arguments.
Colour and the progress bar are for terminals only; NO_COLOR=1 turns colour off.
)";

options parse_options(int argc, const char* const* argv) {
    options result;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--help" || argument == "-h") {
            result.help = true;
            continue;
        }
        const std::size_t equals = argument.find('=');
        const std::string_view option = argument.substr(0, equals);
        if (option != "--timers" && option != "--seconds" && option != "--seed") {
            throw std::invalid_argument("there is no option '" + std::string(argument) +
                                        "'; there are --timers, --seconds, --seed and --help");
        }
        if (equals != std::string_view::npos) {
            set(result, option, argument.substr(equals + 1));
        } else if (++i < argc) {
            set(result, option, argv[i]);
        } else {
            throw std::invalid_argument(std::string(option) + " needs a value");
        }
    }
    return result;
}

} // namespace demo
