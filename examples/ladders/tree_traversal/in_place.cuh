// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The base case of rungs 3 to 6: one thread counts a small subtree.

#include "tree.hpp"

namespace ladder {

/// A subtree is small if at most this many levels are below its root. In a tree of 2^20 nodes these
/// subtrees have 48 nodes on average, one in six is a single leaf, and the largest has 509. The
/// size is unknown before the traversal.
inline constexpr unsigned threshold = 5;

__device__ inline bool is_small(const node& n) { return n.below <= threshold; }

/// Counts the nodes of a small subtree, depth first. Each iteration pops a node and pushes its
/// children.
__device__ inline unsigned count_in_place(const node& root) {
  constexpr unsigned max_stack = threshold * (max_children - 1) + 1;
  node stack[max_stack];
  stack[0] = root;
  unsigned counted = 0;
  for (unsigned size = 1; size > 0; ++counted) {
    const node n = stack[--size];
    for (unsigned i = 0; i < degree(n); ++i) stack[size++] = child(n, i);
  }
  return counted;
}

}  // namespace ladder
