// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 1: one grid per node. The recursion as on a CPU, with a launch for each call.
///
/// Launch tree  The tree itself: each node is a grid of one thread, which launches its children's
///              grids.
/// Join         None. The host waits for the root's grid, which is complete when all grids below it
///              are complete.
/// Cost         As many grids as nodes, each with a few instructions; as many levels as the tree. A
///              launch costs the launching thread microseconds, and a GPU starts a few million
///              child grids a second. So this rung spends its time on launches.

#include "tree_run.cuh"

namespace ladder::rung_1 {

__global__ void visit(node given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. The node counts itself.
  const node mine = run.task_of_block(given);
  run.count(1);
  // 2. Base case: a leaf has no children, so the loop does nothing.
  // 3. Recurse: launch a grid for each child. Without a launch slot, append the child to a list.
  for (unsigned i = 0; i < degree(mine); ++i) {
    const node next = child(mine, i);
    if (run.acquire_slot() &&
        run.launched(launch(visit, {1, 1}, fire_and_forget(), next, run.below()), __func__)) {
      continue;
    }
    run.append_to_list(next);
  }
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.launch_until_done(visit, root, 1);
  return run.nodes();
}

}  // namespace ladder::rung_1
