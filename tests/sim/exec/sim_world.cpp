// SPDX-License-Identifier: Apache-2.0
#include "sim_world.hpp"

namespace horae_sim {

using horae::join_handle;
using horae::task;
using horae::wake_ticket;

entry::~entry() {
    if (world_ != nullptr)
        world_->close(id_, completed_);
}

void world::close(std::uint32_t id, bool completed) noexcept {
    if (ledger_[id] != fate::open)
        fail("program " + std::to_string(id) + " ended twice");
    ledger_[id] = completed ? fate::completed : fate::dropped;
    event(1, id * 2 + (completed ? 1 : 0));
}

namespace {

task<> sleep(world& w, std::int64_t ns) {
    const std::int64_t deadline = w.now() + ns;
    co_await horae::suspend_with([&](wake_ticket ticket) {
        static_cast<horae_test::map_timers&>(*horae::current_worker()->driver_at(0)).insert(deadline, ticket);
    });
    if (w.now() < deadline)
        w.fail("a timer fired early");
}

task<> concurrent(world& w, int depth) {
    if (w.choose(2) == 0)
        co_await horae::when_any(program(w.open(), depth), program(w.open(), depth));
    else
        co_await horae::when_all(program(w.open(), depth), program(w.open(), depth));
}

task<> scoped(world& w, int depth) {
    co_await horae::with_scope([&w, depth](horae::scope& s) -> task<> {
        for (std::uint32_t i = w.choose(3); i != 0; --i)
            s.spawn(program(w.open(), depth));
        co_await horae::yield();
    });
}

task<> one_action(world& w, std::vector<join_handle<int>>& children, int depth) {
    switch (w.choose(depth < 4 && w.growing() ? 12 : 5)) {
    case 0:
        co_await horae::yield();
        break;
    case 1:
        co_await sleep(w, w.choose(50));
        break;
    case 2:
        co_await horae::suspend_with([&](wake_ticket ticket) { w.keys.push_back(ticket); });
        break;
    case 3:
        w.wake_one_key();
        break;
    case 4:
        w.send_message();
        if (!w.known.empty())
            horae::cancel(w.known[w.choose(static_cast<std::uint32_t>(w.known.size()))]);
        break;
    case 5:
    case 6: {
        auto child = horae::spawn(program(w.open(), depth + 1));
        w.known.push_back(child.ref());
        co_await child;
        break;
    }
    case 7:
    case 8:
        children.push_back(horae::spawn(program(w.open(), depth + 1)));
        w.known.push_back(children.back().ref());
        break;
    case 9:
        if (!children.empty()) {
            children.back().cancel();
            children.pop_back();
        }
        break;
    case 10:
        co_await concurrent(w, depth + 1);
        break;
    default:
        co_await scoped(w, depth + 1);
        break;
    }
}

} // namespace

task<int> program(entry self, int depth) {
    world& w = self.home();
    w.event(2, self.id());
    std::vector<join_handle<int>> children; // dropped at the end: they go on by themselves
    for (std::uint32_t i = 1 + w.choose(5); i != 0; --i) {
        try {
            co_await one_action(w, children, depth);
        } catch (const horae::task_cancelled&) {
            w.event(3, self.id());
        } catch (const horae::spawn_failure& e) {
            w.event(4, static_cast<std::uint64_t>(e.code()));
        } catch (const std::bad_alloc&) {
            w.event(5, self.id());
        } catch (const std::runtime_error&) {
            w.event(6, self.id());
        }
    }
    self.complete();
    if (w.choose(20) == 0)
        throw std::runtime_error("a program's own exception");
    co_return depth;
}

world::world(std::uint64_t seed) : random_(seed) {
    horae::runtime_options options;
    options.workers = 1 + choose(4);
    options.slot_capacity = choose(3) == 0 ? 8 + choose(30) : 1000; // a third of the worlds run out of slots
    options.clock = &clock_;
    options.seed = seed;
    options.drivers.push_back([](horae::worker&) { return std::make_unique<horae_test::map_timers>(); });
    options.on_unhandled_exception = [this](std::exception_ptr) { event(7, 0); };
    core_ = std::make_unique<horae::runtime_core>(std::move(options), horae::runtime_core::threads::none);
    if (choose(2) == 0) { // full rings: everything overflows into the signal map
        for (std::uint32_t i = 0; i < core_->worker_limit(); ++i)
            core_->worker_at(i)->limit_ring(1 + choose(3));
    }
}

void world::wake_one_key() {
    if (keys.empty())
        return;
    const std::uint32_t at = choose(static_cast<std::uint32_t>(keys.size()));
    const wake_ticket ticket = keys[at];
    if (choose(4) != 0) // otherwise it stays, to be used late
        keys.erase(keys.begin() + at);
    event(8, horae::wake(ticket) ? 1 : 0);
}

void world::send_message() {
    struct ping : horae::message {
        explicit ping(world& of) : message(&receive), home(&of) {}
        static void receive(horae::worker& self, horae::message& item) noexcept {
            auto& p = static_cast<ping&>(item);
            ++p.home->received_;
            p.home->event(9, self.index());
            delete &p;
        }
        world* home;
    };
    ++sent_;
    // Often to a worker that never was or is gone.
    core_->send(horae::worker_id{choose(3) << 8U | choose(5)}, *new ping(*this), choose(2) == 0);
}

void world::step(std::uint32_t index) {
    const auto outcome = core_->step_worker(index, 1 + choose(4));
    event(10, index * 4 + static_cast<std::uint64_t>(outcome.what));
}

// One choice of the picker, faults included.
void world::pick() {
    const auto ids = core_->workers();
    switch (choose(24)) {
    case 0:
        clock_.advance(choose(40));
        core_->clock_moved();
        break;
    case 1:
        wake_one_key(); // as a foreign thread: no current worker
        break;
    case 2:
        if (!known.empty())
            horae::cancel(known[choose(static_cast<std::uint32_t>(known.size()))]);
        break;
    case 3:
        if (!ids.empty() && choose(4) == 0) // also the last one
            core_->remove_worker(ids[choose(static_cast<std::uint32_t>(ids.size()))]);
        break;
    case 4:
        if (ids.size() < 5 && choose(3) == 0)
            core_->add_worker();
        break;
    case 5:
        horae::fail_frame_allocation_after(choose(3) == 0 ? 1 + choose(10) : 0);
        break;
    case 6:
        if (growing()) {
            try {
                task<int> work = program(open(), 0);
                auto* root = work.release();
                const auto started = core_->spawn(*root, horae::join_state::detached, nullptr);
                if (started.error != horae::spawn_error::none)
                    work = root->get_return_object();
                else
                    known.push_back({started.slot, started.generation});
            } catch (const std::bad_alloc&) {
                event(5, 0);
            }
        }
        break;
    default:
        // Any worker, asleep or not: a step of a sleeping one is a spurious wake-up.
        step(choose(core_->worker_limit()));
        break;
    }
}

// Everybody may finish: keys are woken, time passes.
void world::drain() {
    horae::fail_frame_allocation_after(0);
    if (core_->workers().empty())
        core_->add_worker();
    for (int round = 0; core_->live() != 0; ++round) {
        if (round == 20'000) {
            std::string states;
            for (std::uint32_t i = 0; i < core_->arena().limit(); ++i) {
                const auto seen = core_->arena()[i].word.load();
                if (seen.state != horae::slot_state::free)
                    states += " " + std::to_string(i) + ":" + std::to_string(static_cast<int>(seen.state));
            }
            fail(std::to_string(core_->live()) + " tasks hang; slots in use, with their states:" + states);
            return;
        }
        while (!keys.empty())
            wake_one_key();
        clock_.advance(10);
        core_->clock_moved();
        for (std::uint32_t i = 0; i < core_->worker_limit(); ++i)
            step(i);
    }
}

void world::check() {
    for (std::size_t i = 0; i < ledger_.size(); ++i) {
        if (ledger_[i] == fate::open)
            fail("program " + std::to_string(i) + " was lost");
    }
    if (sent_ != received_)
        fail(std::to_string(sent_ - received_) + " messages were lost");
}

result world::run() {
    for (std::uint32_t i = 300 + choose(500); i != 0; --i)
        pick();
    const bool end_early = choose(3) == 0;
    if (!end_early)
        drain();
    horae::fail_frame_allocation_after(0);
    const auto before = core_->metrics();
    if (!end_early && error_.empty() && before.spawned != before.completed + before.cancelled)
        fail("the counters do not close");
    if (core_->workers().empty())
        core_->add_worker();
    if (error_.empty())
        core_->shutdown(0); // end_early: with everything alive
    else
        static_cast<void>(core_.release()); // it hangs: leave it for the report
    if (error_.empty() && (core_->idle().searching() != 0 || core_->idle().idle_count() != 0))
        fail("the idle set does not return to zero");
    check();
    result out{hash_, events_, 0, 0, error_};
    for (const fate each : ledger_)
        ++(each == fate::completed ? out.completed : out.dropped);
    core_.reset();
    return out;
}

} // namespace horae_sim
