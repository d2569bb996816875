// SPDX-License-Identifier: Apache-2.0
//
// A simulated runtime: N workers stepped by one seeded picker on virtual time. Tasks run random programs; the
// ledger closes every one of them exactly once. The same seed gives the same events, and the hash of them
// says so.
#pragma once

#include "support/manual_clock.hpp"

#include <horae/base/random.hpp>
#include <horae/horae.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace horae_sim {

enum class fate : std::uint8_t { open, completed, dropped };

struct result {
    std::uint64_t hash = 0;
    std::uint64_t events = 0;
    std::uint64_t completed = 0;
    std::uint64_t dropped = 0;
    std::string error; // empty: the ledger closed
};

class world;

// Lives in the frame of a program from its creation on.
class entry {
public:
    entry(world& of, std::uint32_t id) noexcept : world_(&of), id_(id) {}
    entry(entry&& other) noexcept : world_(std::exchange(other.world_, nullptr)), id_(other.id_) {}
    entry& operator=(entry&&) = delete;
    ~entry();
    void complete() noexcept { completed_ = true; }
    world& home() const noexcept { return *world_; }
    std::uint32_t id() const noexcept { return id_; }

private:
    world* world_;
    std::uint32_t id_;
    bool completed_ = false;
};

class world {
public:
    explicit world(std::uint64_t seed);

    result run();

    // For programs.
    std::uint32_t choose(std::uint32_t bound) { return random_.below(bound); }
    void event(std::uint32_t kind, std::uint64_t what) {
        hash_ = (hash_ ^ (kind + what * 31)) * 0x100000001b3U;
        ++events_;
    }
    entry open() {
        ledger_.push_back(fate::open);
        return {*this, static_cast<std::uint32_t>(ledger_.size() - 1)};
    }
    void close(std::uint32_t id, bool completed) noexcept;
    void fail(std::string why) {
        if (error_.empty())
            error_ = std::move(why);
    }
    std::int64_t now() const { return clock_.now_ns(); }
    void wake_one_key();
    void send_message();
    bool growing() const { return ledger_.size() < 300; }

    std::vector<horae::wake_ticket> keys; // tickets of programs that wait to be woken by anybody
    std::vector<horae::task_ref> known;   // tasks that anybody may cancel

private:
    void pick();
    void step(std::uint32_t index);
    void drain();
    void check();

    horae::random_source random_;
    horae_test::manual_clock clock_;
    std::uint64_t hash_ = 0xcbf29ce484222325U;
    std::uint64_t events_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    std::string error_;
    std::vector<fate> ledger_;
    std::unique_ptr<horae::runtime_core> core_;
};

horae::task<int> program(entry self, int depth);

} // namespace horae_sim
