// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 2: one grid for the children of a node, one thread for each child.
///
/// Changed      Siblings share a grid. A task is a node that has been counted, and whose children
///              have not.
/// Why          Siblings are known at the same time, so one launch suffices for all. And leaves,
///              the majority of the nodes of a tree, need no grid.
/// Launch tree  The tree without its leaves.
/// Join         None, as before.
/// Cost         As many grids as inner nodes. A warp has 32 threads and a node has three children:
///              most of the warp is idle.

#include "tree_run.cuh"

namespace ladder::rung_2 {

__global__ void visit_children(node given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread i visits child i. (A grid over a list of tasks has threads for the maximum
  //    number of children.)
  const node parent = run.task_of_block(given);
  const bool has_child = threadIdx.x < degree(parent);
  run.count(has_child ? 1 : 0);
  if (!has_child) return;
  const node mine = child(parent, threadIdx.x);
  // 2. Base case: a leaf launches nothing.
  const unsigned children = degree(mine);
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
  return 1 + run.nodes();  // the root is not a child
}

}  // namespace ladder::rung_2
