// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// value_slots: the places of nodes' values in the arrays of a part of a mesh.

#include <cstddef>
#include <ramify/version.hpp>
#include <vector>

namespace ramify::detail::amr::inline RAMIFY_ABI {

/// Gives slots to nodes. A node keeps its slot while it has one.
class value_slots {
 public:
  /// Returns the slot of each node; -1: none.
  [[nodiscard]] const std::vector<int>& of_nodes() const { return of_nodes_; }
  /// Returns the number of slots that the arrays must have.
  [[nodiscard]] std::size_t needed() const { return needed_; }
  /// Returns the number of nodes with a slot.
  [[nodiscard]] std::size_t used() const { return needed_ - free_.size(); }

  /// Sets the number of nodes. New nodes have no slot.
  void resize(std::size_t nodes) {
    for (std::size_t node = nodes; node < of_nodes_.size(); ++node) release(int(node));
    of_nodes_.resize(nodes, -1);
  }
  /// Gives a slot to a node that has none.
  void give(int node) {
    int& slot = of_nodes_[std::size_t(node)];
    if (slot >= 0) return;
    if (free_.empty()) {
      slot = int(needed_++);
    } else {
      slot = free_.back();
      free_.pop_back();
    }
  }
  /// Gives slots to the nodes of a list in increasing order, and takes those of all others.
  void give_only_to(const std::vector<int>& nodes) {
    std::size_t next = 0;
    for (std::size_t node = 0; node < of_nodes_.size(); ++node) {
      if (next < nodes.size() && std::size_t(nodes[next]) == node) {
        ++next;
      } else {
        release(int(node));
      }
    }
    for (const int node : nodes) give(node);
  }

 private:
  void release(int node) {
    int& slot = of_nodes_[std::size_t(node)];
    if (slot >= 0) free_.push_back(slot);
    slot = -1;
  }

  std::vector<int> of_nodes_;
  std::vector<int> free_;
  std::size_t needed_ = 0;
};

}  // namespace ramify::detail::amr::inline RAMIFY_ABI
