// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 3: small subtrees are finished in place, by the thread that has come to them.
///
/// Changed      against rung 2: the base case is no longer a leaf, but a node with few levels below it.
/// Why          A launch should bring more work than it costs, and most subtrees of a tree are small.
/// Launch tree  the top of the tree.
/// Join         none, as before.
/// Cost         a grid for each large node that has children. A thread walks 48 nodes on average, one after
///              another, on a stack of its own in local memory, and its warp lasts as long as the longest
///              of these walks, up to ten times as long. Too high a threshold leaves the device without
///              threads. What the best one is depends on the tree; the size of a subtree, which would
///              tell, is not known.

#include "in_place.cuh"
#include "tree_run.cuh"

namespace ladder::rung_3 {

__global__ void visit_children(node given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread i does child i.
  const node parent = run.own(given);
  const bool has_child = threadIdx.x < degree(parent);
  const node mine = has_child ? child(parent, threadIdx.x) : node{};
  // 2. Base case: a small subtree is counted here.
  const bool in_place = has_child && is_small(mine);
  const unsigned counted = in_place ? count_in_place(mine) : has_child ? 1 : 0;
  run.count(counted);
  const unsigned children = has_child && !in_place ? degree(mine) : 0;
  if (children == 0) return;
  // 3. Recurse: a grid for the children.
  if (run.take_slot() &&
      run.launched(launch(visit_children, {1, children}, fire_and_forget(), mine, run.below()),
                   __func__)) {
    return;
  }
  run.put_off(mine);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.launch_rounds(visit_children, root, most_children);
  return 1 + run.nodes();
}

}  // namespace ladder::rung_3
