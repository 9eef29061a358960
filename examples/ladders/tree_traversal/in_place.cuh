// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The base case of rungs 3 to 6: a small subtree, by one thread alone.

#include "tree.hpp"

namespace ladder {

/// A node that has so many levels below it, or fewer, has a small subtree. In a tree of 2^20 nodes these
/// have 48 nodes on average, one in six is a single leaf, and the largest has 509: nobody knows before it has
/// been walked.
inline constexpr unsigned threshold = 5;

__device__ inline bool is_small(const node& n) { return n.below <= threshold; }

/// Counts the nodes of a small subtree, depth first. Going down a level, one node is taken off the stack
/// and its children are put there.
__device__ inline unsigned count_in_place(const node& root) {
  constexpr unsigned most_waiting = threshold * (most_children - 1) + 1;
  node waiting[most_waiting];
  waiting[0] = root;
  unsigned counted = 0;
  for (unsigned size = 1; size > 0; ++counted) {
    const node n = waiting[--size];
    for (unsigned i = 0; i < degree(n); ++i) waiting[size++] = child(n, i);
  }
  return counted;
}

}  // namespace ladder
