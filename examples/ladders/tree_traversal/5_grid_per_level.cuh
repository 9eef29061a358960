// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 5: the children that the blocks of a grid find become one grid: one per level of the tree.
///
/// Changed      All blocks write into one list, and the last block to arrive launches one grid over
///              it. Two lists alternate.
/// Why          There are as few grids as levels. All blocks except the last one of a grid are
///              full, and a grid contains all work that is available at that moment.
/// Launch tree  A chain.
/// Join         The last block to arrive: a counter, and fences, so that it sees the whole list. It
///              does not wait for other blocks.
/// Cost         12 us per level for the nested launch (H200), for a level of millions of nodes or
///              of one; memory for the widest level. A level takes as long as its longest thread,
///              and no block of the next level begins before.

#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/tasks.cuh>

#include "in_place.cuh"
#include "tree_run.cuh"

namespace ladder::rung_5 {

inline constexpr unsigned threads = 128;

/// Visits the nodes of the list, one per thread, and appends the children of large nodes to the
/// other list. All threads call it.
__device__ inline void visit_nodes(unsigned count, const tree_run& run) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ unsigned first;
  // 1. Split. Base case: a small subtree is counted here.
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const bool has_node = i < count;
  const node mine = has_node ? run.list[run.filled][i] : node{};
  const bool in_place = has_node && is_small(mine);
  run.count(in_place ? count_in_place(mine) : has_node ? 1 : 0);
  // 2. Thread 0 reserves entries for all children of the block.
  const unsigned children = has_node && !in_place ? degree(mine) : 0;
  unsigned place = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(children, place, all);
  if (threadIdx.x == 0) first = all > 0 ? run.reserve(all) : 0;
  __syncthreads();
  for (unsigned c = 0; c < children; ++c)
    run.list[1 - run.filled][first + place + c] = child(mine, c);
}

__global__ void __launch_bounds__(threads) visit_level(unsigned count, tree_run run) {
  const traced here(run.trace, __func__);
  visit_nodes(count, run);
  // 3. Recurse: the last block launches the next level. It passes the count to the next grid and
  //    clears it, so that the list is empty when the level after the next one is written there.
  if (!last_to_arrive(run.state->arrived, gridDim.x) || threadIdx.x != 0) return;
  const tree_run next = run.over_other_list();
  const unsigned found = run.state->waiting[next.filled];
  if (found == 0 || !run.acquire_slot_for_list()) return;
  run.state->waiting[next.filled] = 0;
  const launch_shape shape{(found - 1) / threads + 1, threads};
  if (run.launched(launch(visit_level, shape, fire_and_forget(), found, next), __func__)) return;
  run.state->waiting[next.filled] = found;  // the host continues
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.put(root, run.view().list[0]);
  for (unsigned count = 1; count > 0; count = run.finish_lists()) {
    run.launch_grid(visit_level, {(count - 1) / threads + 1, threads}, count, run.view());
  }
  return run.nodes();
}

}  // namespace ladder::rung_5
