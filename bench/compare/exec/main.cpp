// SPDX-License-Identifier: Apache-2.0
#include "workload.hpp"

int main(int argc, char** argv) {
    const std::string first = argc > 1 ? argv[1] : "--list";
    if (first == "--list") {
        for (const char* name : {"horae", "horae-current", "asio", "threads"})
            std::printf("{\"rival\":\"%s\"}\n", name);
        return 0;
    }
    bench::settings with;
    with.rival = first;
    for (int i = 2; i + 1 < argc; ++i) {
        if (std::strcmp(argv[i], "--only") == 0)
            with.only = argv[i + 1];
    }
    const int most = first == "horae" || first == "asio" ? 2 : 1;
    for (with.workers = 1; with.workers <= most; ++with.workers) {
        if (first == "asio")
            bench::run_asio(with);
        else if (first == "threads")
            bench::run_threads(with);
        else
            bench::run_horae(with);
    }
    return 0;
}
