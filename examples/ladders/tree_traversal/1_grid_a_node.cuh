// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 1: a grid for each node. The recursion as one would write it on a CPU, a launch for a call.
///
/// Launch tree  the tree itself: each node is a grid of one thread, and launches its children's.
/// Join         none. The host waits for the root's grid, which is complete when all below it are.
/// Cost         as many grids as nodes, each with a few instructions to do; as many levels as the tree. A
///              launch costs microseconds of the launching thread, and a GPU begins a few million child
///              grids a second, so launching is all that this rung does.

#include "tree_run.cuh"

namespace ladder::rung_1 {

__global__ void visit(node given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. The node counts itself.
  const node mine = run.own(given);
  run.count(1);
  // 2. Base case: a leaf has no children, so the loop does nothing.
  // 3. Recurse: a child grid for each child. If there is no launch slot left, the child waits in a list.
  for (unsigned i = 0; i < degree(mine); ++i) {
    const node next = child(mine, i);
    if (run.take_slot() &&
        run.launched(launch(visit, {1, 1}, fire_and_forget(), next, run.below()), __func__)) {
      continue;
    }
    run.put_off(next);
  }
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.launch_rounds(visit, root, 1);
  return run.nodes();
}

}  // namespace ladder::rung_1
