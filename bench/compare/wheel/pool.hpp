// SPDX-License-Identifier: Apache-2.0
//
// The storage of a user whose timers are members of objects of their own: all of it allocated up front, and
// free nodes linked through their unused payload, so the pool itself costs no memory.
#pragma once

#include "workload.hpp"

#include <bit>

namespace bench {

template <class Node> // has a member `payload value`
class node_pool {
public:
    // Calls prepare(node) once for each.
    template <class Prepare>
    node_pool(std::size_t capacity, Prepare&& prepare) : nodes_(capacity) {
        for (std::size_t i = capacity; i != 0; --i) {
            prepare(nodes_[i - 1]);
            give(&nodes_[i - 1]);
        }
    }

    Node* take(payload p) {
        Node* node = free_;
        free_ = std::bit_cast<Node*>(node->value.tag);
        node->value = p;
        return node;
    }
    void give(Node* node) {
        node->value.tag = std::bit_cast<std::uint64_t>(free_);
        free_ = node;
    }

private:
    std::vector<Node> nodes_;
    Node* free_ = nullptr;
};

} // namespace bench
