// SPDX-License-Identifier: Apache-2.0
#include "demo/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace demo {
namespace {

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

bool utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string_view value = environment(name);
        if (!value.empty()) {
            return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
        }
    }
    return false;
}

int terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    const int columns = std::atoi(environment("COLUMNS").data());
    return columns > 0 ? columns : 80;
}

std::string format(const char* pattern, double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), pattern, value);
    return text.data();
}

} // namespace

terminal terminal::detect() {
    terminal result;
    const std::string_view type = environment("TERM");
    result.interactive = isatty(STDOUT_FILENO) == 1 && !type.empty() && type != "dumb";
    result.colour = result.interactive && environment("NO_COLOR").empty();
    result.unicode = result.interactive && utf8_locale();
    result.width = result.interactive ? std::clamp(terminal_width(), 40, 100) : 80;
    return result;
}

std::string terminal::paint(std::string_view code, std::string_view text) const {
    if (!colour || text.empty()) {
        return std::string(text);
    }
    return joined({"\033[", code, "m", text, "\033[0m"});
}

std::string terminal::bar(double share, int cells) const {
    share = std::clamp(share, 0.0, 1.0);
    if (!unicode) {
        const auto full = static_cast<std::size_t>(std::lround(share * cells));
        return full > 0 ? std::string(full, '#') : (share > 0 ? "." : "");
    }
    static constexpr std::array<const char*, 8> part = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    auto eighths = static_cast<std::size_t>(std::lround(share * cells * 8));
    if (eighths == 0 && share > 0) {
        eighths = 1;
    }
    std::string text;
    for (std::size_t i = 0; i < eighths / 8; ++i) {
        text += "█";
    }
    return text + part[eighths % 8];
}

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        text += part;
    }
    return text;
}

std::string grouped(std::uint64_t value) {
    std::string text = std::to_string(value);
    for (std::size_t at = text.size(); at > 3;) {
        at -= 3;
        text.insert(at, 1, ',');
    }
    return text;
}

std::string duration_text(std::int64_t ns) {
    static constexpr std::array<const char*, 4> units = {" ns", " us", " ms", " s"};
    auto value = static_cast<double>(ns);
    std::size_t unit = 0;
    while (std::abs(value) >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    const double size = std::abs(value);
    const char* pattern = unit == 0 || size >= 99.95 ? "%.0f" : (size >= 9.995 ? "%.1f" : "%.2f");
    return format(pattern, value) + units[unit];
}

std::string ratio_text(double ratio) {
    return format(ratio >= 9.95 ? "%.0fx" : "%.1fx", ratio);
}

std::string right(std::string_view text, int width) {
    const auto cells = static_cast<std::size_t>(std::max(width, 0));
    return std::string(cells > text.size() ? cells - text.size() : 0, ' ') + std::string(text);
}

std::string left(std::string_view text, int width) {
    const auto cells = static_cast<std::size_t>(std::max(width, 0));
    return std::string(text) + std::string(cells > text.size() ? cells - text.size() : 0, ' ');
}

} // namespace demo
