// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 2: a grid for the children of a node, a thread for each child.
///
/// Changed      against rung 1: siblings share a grid. A task is a node that has been counted, and whose
///              children have not.
/// Why          Siblings are known at the same time, so one launch does for all. And a leaf, of which a
///              tree has more than inner nodes, costs no grid at all any more.
/// Launch tree  the tree without its leaves.
/// Join         none, as before.
/// Cost         as many grids as inner nodes. A warp has 32 threads, and a node three children: most of
///              the warp does nothing.

#include "tree_run.cuh"

namespace ladder::rung_2 {

__global__ void visit_children(node given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread i does child i. (Over a list of tasks, blocks have threads for the largest family.)
  const node parent = run.own(given);
  const bool has_child = threadIdx.x < degree(parent);
  run.count(has_child ? 1 : 0);
  if (!has_child) return;
  const node mine = child(parent, threadIdx.x);
  // 2. Base case: a leaf is done.
  const unsigned children = degree(mine);
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
  return 1 + run.nodes();  // the root is nobody's child
}

}  // namespace ladder::rung_2
