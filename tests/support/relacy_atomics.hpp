// SPDX-License-Identifier: Apache-2.0
//
// The atomics facade on top of the relacy model checker, and the main() of a model.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <coroutine>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>
#include <type_traits>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <relacy/relacy.hpp>
#pragma GCC diagnostic pop

#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef assert
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst

// The checker reports by throwing through our functions.
#define noexcept

namespace model {

inline rl::memory_order convert(std::memory_order order) {
    switch (order) {
    case std::memory_order_relaxed:
        return rl::mo_relaxed;
    case std::memory_order_acquire:
        return rl::mo_acquire;
    case std::memory_order_release:
        return rl::mo_release;
    case std::memory_order_acq_rel:
        return rl::mo_acq_rel;
    default:
        return rl::mo_seq_cst;
    }
}

struct relacy_atomics {
    template <class T>
    class atomic {
    public:
        atomic() : value_(T{}) {}
        atomic(T value) : value_(value) {}
        T load(std::memory_order order) const { return value_.load(convert(order), $); }
        void store(T next, std::memory_order order) { value_.store(next, convert(order), $); }
        T exchange(T next, std::memory_order order) { return value_.exchange(next, convert(order), $); }
        T fetch_add(T by, std::memory_order order) { return value_.fetch_add(by, convert(order), $); }
        T fetch_sub(T by, std::memory_order order) { return value_.fetch_sub(by, convert(order), $); }
        T fetch_or(T by, std::memory_order order) { return value_.fetch_or(by, convert(order), $); }
        T fetch_and(T by, std::memory_order order) { return value_.fetch_and(by, convert(order), $); }
        bool compare_exchange_weak(T& seen, T next, std::memory_order good, std::memory_order bad) {
            return value_.compare_exchange_weak(seen, next, convert(good), $, convert(bad), $);
        }
        bool compare_exchange_strong(T& seen, T next, std::memory_order good, std::memory_order bad) {
            return value_.compare_exchange_strong(seen, next, convert(good), $, convert(bad), $);
        }

    private:
        mutable rl::atomic<T> value_;
    };

    template <class T>
    struct plain {
        T read() const { return value($); }
        void write(T next) { value($) = next; }
        mutable rl::var<T> value;
    };
};

// plain data whose races a model watches
template <class T>
using watched = relacy_atomics::plain<T>;

inline void require(bool condition) {
    RL_ASSERT(condition);
}
inline void pause() {
    rl::yield(1, $);
}

// Explores the model. Exhaustive with at most `preemptions` switches a thread, or `random` schedules when
// given.
struct limits {
    unsigned preemptions = 3;
    unsigned long random = 0;
};

template <class Test>
bool holds(limits bounds, std::ostream& out) {
    rl::test_params params;
    params.output_stream = &out;
    params.progress_stream = &out;
    params.execution_depth_limit = 4000;
    if (bounds.random != 0) {
        params.search_type = rl::random_scheduler_type;
        params.iteration_count = bounds.random;
    } else {
        params.search_type = rl::fair_context_bound_scheduler_type;
        params.context_bound = bounds.preemptions;
    }
    const bool good = rl::simulate<Test>(params);
    std::cout << (good ? "holds" : "fails") << " after " << params.stop_iteration << " schedules\n";
    return good;
}

// `--mutant`: the source was built with a seeded defect, and the model must find it.
class verdict {
public:
    verdict(int argc, char** argv)
        : mutant_(argc > 1 && std::strcmp(argv[1], "--mutant") == 0), nowhere_("/dev/null") {}

    template <class Test>
    verdict& check(limits bounds) {
        // Not to a string: the checker replaces operator new while it runs.
        good_ = good_ && holds<Test>(bounds, mutant_ ? static_cast<std::ostream&>(nowhere_) : std::cout);
        return *this;
    }

    int exit_code() const {
        if (good_ && mutant_)
            std::cout << "the seeded defect was NOT found\n";
        return good_ == mutant_ ? 1 : 0;
    }

private:
    bool mutant_;
    bool good_ = true;
    std::ofstream nowhere_;
};

template <class... Tests>
int run(int argc, char** argv, limits bounds) {
    verdict result(argc, argv);
    (result.check<Tests>(bounds), ...);
    return result.exit_code();
}

} // namespace model
