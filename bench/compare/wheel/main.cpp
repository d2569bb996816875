// SPDX-License-Identifier: Apache-2.0
//
// Runs the workloads of one rival at one size, once, and prints one JSON object per line: first the rival,
// then its cells. tools/bench/wheel.py calls this for every rival in turn, round after round.
//
//   wheel_bench --list
//   wheel_bench RIVAL SIZE ROUND [--only WORKLOAD] [--budget SECONDS] [--operations N]
#include "workload.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>

namespace bench {

std::vector<rival_entry>& rivals() {
    static std::vector<rival_entry> all;
    return all;
}

} // namespace bench

namespace {

void print_rival(bench::rival_info const& info) {
    std::printf("{\"rival\":\"%s\",\"version\":\"%s\",\"language\":\"%s\",\"resolution\":\"%s\","
                "\"handle_bytes\":%zu}\n",
                info.name, info.version.c_str(), info.language, info.resolution, info.handle_bytes);
}

void print_row(bench::rival_info const& info, bench::settings const& s, bench::row const& r) {
    std::printf("{\"rival\":\"%s\",\"workload\":\"%s\",\"size\":%zu,\"round\":%llu", info.name,
                r.workload.c_str(), s.size, static_cast<unsigned long long>(s.round));
    if (r.not_available.empty())
        std::printf(",\"operations\":%llu,\"ns_per_op\":%.4f%s}\n",
                    static_cast<unsigned long long>(r.operations),
                    r.operations ? r.nanoseconds / static_cast<double>(r.operations) : 0.0, r.facts.c_str());
    else
        std::printf(",\"not_available\":\"%s\"}\n", r.not_available.c_str());
}

int usage() {
    std::fputs("usage: wheel_bench --list\n"
               "       wheel_bench RIVAL SIZE ROUND [--only WORKLOAD] [--budget SECONDS] [--operations N]\n",
               stderr);
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        for (auto const& rival : bench::rivals())
            print_rival(rival.info());
        return 0;
    }
    if (argc < 4 || argc % 2 != 0)
        return usage();
    bench::settings s;
    s.size = std::strtoull(argv[2], nullptr, 10);
    s.round = std::strtoull(argv[3], nullptr, 10);
    for (int i = 4; i + 1 < argc; i += 2) {
        const std::string_view option = argv[i];
        if (option == "--only")
            s.only = argv[i + 1];
        else if (option == "--budget")
            s.budget_seconds = std::strtod(argv[i + 1], nullptr);
        else if (option == "--operations")
            s.max_operations = std::strtoull(argv[i + 1], nullptr, 10);
        else
            return usage();
    }
    if (s.size == 0 || s.budget_seconds <= 0 || s.max_operations == 0)
        return usage();
    for (auto const& rival : bench::rivals())
        if (std::strcmp(rival.info().name, argv[1]) == 0) {
            for (auto const& r : rival.run(s))
                print_row(rival.info(), s, r);
            std::fflush(stdout);
            _exit(0); // taking ten million timers down again would only cost time
        }
    std::fprintf(stderr, "wheel_bench: there is no rival '%s' here (--list)\n", argv[1]);
    return 2;
}
