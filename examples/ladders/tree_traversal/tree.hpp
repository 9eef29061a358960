// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tree whose nodes all rungs count. It is stored nowhere: a node tells its children.
///
///     root_of(1 << 16)    // a tree of about 65,536 nodes
///     degree(node)        // 0 to 6 children, 3 on average where there may be any
///     child(node, i)      // the i-th of them

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/cuda.hpp>
#include <vector>

#include "../hash.hpp"

namespace ladder {

/// From its state all below a node follows.
struct node {
  std::uint32_t state;  ///< as good as random
  std::uint32_t below;  ///< levels that there may be below it
};

inline constexpr unsigned most_children = 6;

__host__ __device__ inline unsigned degree(const node& n) {
  return n.below == 0 ? 0 : (n.state >> 16) % (most_children + 1);
}

/// Half of all children have one level less below them than their parent, a quarter two less, and so on.
/// So one child's subtree may be a thousand times as large as its sibling's, and nothing tells how large it
/// is but `below`, roughly.
__host__ __device__ inline node child(const node& parent, unsigned i) {
  const std::uint32_t state = hash(parent.state + (i + 1) * 0x9e3779b9u);
  std::uint32_t below = parent.below - 1;
  for (std::uint32_t bits = state; (bits & 1) == 0 && below > 0; bits >>= 1) --below;
  return {state, below};
}

/// With one level more a tree has about twice as many nodes: on average 2.25 * 2^below, and from this state
/// about 2^below.
inline node root_of(std::size_t nodes) {
  constexpr std::uint32_t state = 0x8766e2f2u;
  return {state, static_cast<std::uint32_t>(std::bit_width(std::max<std::size_t>(nodes, 1)) - 1)};
}

/// The plain loop on the host: every rung has to count as many.
inline std::uint64_t count_on_host(const node& root) {
  std::uint64_t nodes = 0;
  std::vector<node> waiting{root};
  while (!waiting.empty()) {
    const node n = waiting.back();
    waiting.pop_back();
    ++nodes;
    for (unsigned i = 0; i < degree(n); ++i) waiting.push_back(child(n, i));
  }
  return nodes;
}

}  // namespace ladder
