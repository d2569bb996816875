// SPDX-License-Identifier: Apache-2.0
//
// std::multimap: what a C++ programmer writes first. Exact, ordered, equal deadlines in arming order.
// At its best: the iterator is the handle, and a re-arm moves the node (extract, insert) without allocating.
#include "chain.hpp"

#include <map>

namespace {

struct rival {
    using map = std::multimap<std::int64_t, bench::payload>;
    struct handle {
        map::iterator at{};
        bool armed = false;
        explicit operator bool() const { return armed; }
    };

    static bench::rival_info info() {
        return {.name = "std::multimap",
                .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE),
                .language = "C++",
                .resolution = "1 ns",
                .handle_bytes = sizeof(map::iterator),
                .next_deadline = true};
    }

    rival(std::size_t, std::int64_t) {}

    handle schedule(std::int64_t deadline_ns, bench::payload p) {
        return {map_.emplace(deadline_ns, p), true};
    }
    bool cancel(handle h) {
        map_.erase(h.at);
        return true;
    }
    handle rearm(handle h, std::int64_t deadline_ns) {
        auto node = map_.extract(h.at);
        node.key() = deadline_ns;
        return {map_.insert(std::move(node)), true};
    }
    template <class F>
    void advance(std::int64_t now_ns, F&& on_fire) {
        while (!map_.empty() && map_.begin()->first <= now_ns) {
            const bench::payload p = map_.begin()->second;
            map_.erase(map_.begin());
            on_fire(p);
        }
    }
    std::int64_t next_deadline() { return map_.begin()->first; }

    map map_;
};

HORAE_BENCH_RIVAL(rival)

} // namespace
