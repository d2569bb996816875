// SPDX-License-Identifier: Apache-2.0
//
// What standard output can show, and numbers and bars written for people.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace demo {

struct terminal {
    bool interactive = false; // a terminal that can move its cursor: there is a progress bar
    bool colour = false;
    bool unicode = false;
    int width = 80;

    // Looks at standard output and the environment (NO_COLOR, TERM, COLUMNS, the locale).
    static terminal detect();

    std::string bold(std::string_view text) const { return paint("1", text); }
    std::string dim(std::string_view text) const { return paint("2", text); }
    std::string good(std::string_view text) const { return paint("1;32", text); }
    std::string bad(std::string_view text) const { return paint("1;31", text); }
    std::string accent(std::string_view text) const { return paint("36", text); }

    // `share` of `cells` cells, filled; not padded. Something is shown for any share above zero.
    std::string bar(double share, int cells) const;

private:
    std::string paint(std::string_view code, std::string_view text) const;
};

std::string joined(std::initializer_list<std::string_view> parts);
std::string grouped(std::uint64_t value);   // 1,000,000
std::string duration_text(std::int64_t ns); // three digits: 870 ns, 4.21 us, 1.30 ms
std::string ratio_text(double ratio);       // 12x, 3.4x
std::string right(std::string_view text, int width);
std::string left(std::string_view text, int width);

} // namespace demo
