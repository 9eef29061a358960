// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 3: a thread counts small subtrees in place.
///
/// Changed      The base case is no longer a leaf, but a node with few levels below it.
/// Why          A launch should start more work than it costs, and most subtrees of a tree are
///              small.
/// Launch tree  The top of the tree.
/// Join         None, as before.
/// Cost         One grid per large node that has children. A thread visits 48 nodes on average, one
///              after another, with its own stack in local memory. Its warp runs as long as the
///              longest of these traversals, up to ten times as long. Too high a threshold leaves
///              the device without threads. The best threshold depends on the tree; the size of a
///              subtree, which would be the right measure, is unknown.

#include "in_place.cuh"
#include "tree_run.cuh"

namespace ladder::rung_3 {

__global__ void visit_children(node given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread i visits child i.
  const node parent = run.task_of_block(given);
  const bool has_child = threadIdx.x < degree(parent);
  const node mine = has_child ? child(parent, threadIdx.x) : node{};
  // 2. Base case: a small subtree is counted here.
  const bool in_place = has_child && is_small(mine);
  const unsigned counted = in_place ? count_in_place(mine) : has_child ? 1 : 0;
  run.count(counted);
  const unsigned children = has_child && !in_place ? degree(mine) : 0;
  if (children == 0) return;
  // 3. Recurse: launch a grid for the children.
  if (run.acquire_slot() &&
      run.launched(launch(visit_children, {1, children}, fire_and_forget(), mine, run.below()),
                   __func__)) {
    return;
  }
  run.append_to_list(mine);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.launch_until_done(visit_children, root, max_children);
  return 1 + run.nodes();
}

}  // namespace ladder::rung_3
