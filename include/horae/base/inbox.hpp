// SPDX-License-Identifier: Apache-2.0
//
// An unbounded intrusive queue, many senders to one receiver, that can be closed. Closing it and refusing a
// push are one atomic step on one word, so each node is either received or refused: none is left behind.
//
//   head_ | node* newest | null: empty | &closed_mark: closed |    writers: sender S, receiver R
//     any list --push[S]--> longer list      any list --take_all[R]--> empty
//     any list --close[R]--> closed          closed --push[S]--> closed, false
//
// HB-I1  S: push() release-CAS -> R: take_all()/close() acquire-exchange. Publishes the node. Pushes in
//        between are read-modify-writes, so they continue the release sequence of the earlier ones.
// ABA: push compares only to link in front; it never reads *head_, so a recycled node is harmless. Nobody
// pops a single node. Nodes belong to the sender until push returns true, then to the receiver. push is
// lock-free, take_all and close are wait-free. Model: tests/model/base/inbox_model.cpp.
#pragma once

#include <horae/base/atomics.hpp>

namespace horae {

template <class Atomics = std_atomics>
struct inbox_node {
    typename Atomics::template plain<inbox_node*> next{};
};

template <class Atomics = std_atomics>
class basic_inbox {
public:
    using node = inbox_node<Atomics>;

    // Any thread. False: closed, the node is still the caller's.
    bool push(node& item) noexcept {
        node* seen = head_.load(std::memory_order_relaxed); // only a guess for the CAS
        do {
            if (seen == closed())
                return false;
            item.next.write(seen);
            // release: HB-I1. relaxed on failure: seen is compared and linked, never read through.
        } while (
            !head_.compare_exchange_weak(seen, &item, std::memory_order_release, std::memory_order_relaxed));
        return true;
    }

    // Receiver. All nodes so far, oldest first; null when there is none or the inbox is closed.
    node* take_all() noexcept {
        // seq_cst, like the load in maybe_empty: partner of the parking check (idle_set.hpp, D2).
        node* seen = head_.load(std::memory_order_seq_cst);
        if (seen == nullptr || seen == closed())
            return nullptr;
        return reversed(head_.exchange(nullptr, std::memory_order_acquire)); // HB-I1
    }

    // Receiver. From now on every push is refused. Returns what had arrived, oldest first.
    node* close() noexcept {
        node* seen = head_.exchange(closed(), std::memory_order_acquire); // HB-I1
        return seen == closed() ? nullptr : reversed(seen);
    }

    // Receiver, while closed and nobody else uses it as open.
    void reopen() noexcept { head_.store(nullptr, std::memory_order_release); }

    // Any thread; a hint for all but the parking check.
    bool maybe_empty() const noexcept {
        node* seen = head_.load(std::memory_order_seq_cst);
        return seen == nullptr || seen == closed();
    }

private:
    node* closed() const noexcept { return const_cast<node*>(&closed_mark_); }

    static node* reversed(node* newest) noexcept {
        node* oldest = nullptr;
        while (newest != nullptr) {
            node* next = newest->next.read();
            newest->next.write(oldest);
            oldest = newest;
            newest = next;
        }
        return oldest;
    }

    typename Atomics::template atomic<node*> head_{nullptr};
    node closed_mark_{}; // only its address is used
};

} // namespace horae
