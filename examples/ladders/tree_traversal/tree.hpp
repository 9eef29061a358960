// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tree whose nodes all rungs count. It is not stored: functions compute the children of a
/// node.
///
///     root_of(1 << 16)    // a tree of about 65,536 nodes
///     degree(node)        // 0 to 6 children, 3 on average above the last level
///     child(node, i)      // child i of a node

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/cuda.hpp>
#include <vector>

#include "../hash.hpp"

namespace ladder {

/// A node. Its state determines its subtree.
struct node {
  std::uint32_t state;  ///< pseudo-random
  std::uint32_t below;  ///< maximum number of levels below the node
};

inline constexpr unsigned max_children = 6;

/// Returns the number of children.
__host__ __device__ inline unsigned degree(const node& n) {
  return n.below == 0 ? 0 : (n.state >> 16) % (max_children + 1);
}

/// Returns child `i`. Half of all children have one level less below them than their parent, a
/// quarter two less, and so on. So one child's subtree may be a thousand times as large as its
/// sibling's. Only `below` is a rough measure of its size.
__host__ __device__ inline node child(const node& parent, unsigned i) {
  const std::uint32_t state = hash(parent.state + (i + 1) * 0x9e3779b9u);
  std::uint32_t below = parent.below - 1;
  for (std::uint32_t bits = state; (bits & 1) == 0 && below > 0; bits >>= 1) --below;
  return {state, below};
}

/// Returns the root of a tree of about `nodes` nodes. One more level doubles the number of nodes:
/// it is 2.25 * 2^below on average, and about 2^below for this state.
inline node root_of(std::size_t nodes) {
  constexpr std::uint32_t state = 0x8766e2f2u;
  return {state, static_cast<std::uint32_t>(std::bit_width(std::max<std::size_t>(nodes, 1)) - 1)};
}

/// Counts the nodes with a plain loop on the host. Every rung must return the same number.
inline std::uint64_t count_on_host(const node& root) {
  std::uint64_t nodes = 0;
  std::vector<node> stack{root};
  while (!stack.empty()) {
    const node n = stack.back();
    stack.pop_back();
    ++nodes;
    for (unsigned i = 0; i < degree(n); ++i) stack.push_back(child(n, i));
  }
  return nodes;
}

}  // namespace ladder
