// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 5: what the blocks of a grid find becomes one grid: one for each level of the tree.
///
/// Changed      against rung 4: all blocks write into one list, and the last block that is done launches one
///              grid over it. There are two lists, by turns.
/// Why          As few grids as levels, all blocks but the last one of a grid full, and a grid with all
///              that there is to do at that moment.
/// Launch tree  a chain.
/// Join         the last block to arrive: a counter, and fences, so that it sees the whole list. It waits
///              for nobody.
/// Cost         12 us a level for the nested launch (H200), whether the level has millions of nodes or one;
///              memory for the widest level. A level lasts as long as its longest thread, and no block of
///              the next one begins before.

#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/tasks.cuh>

#include "in_place.cuh"
#include "tree_run.cuh"

namespace ladder::rung_5 {

inline constexpr unsigned threads = 128;

/// A thread for each node of the list; the children of large ones go into the other list. All threads.
__device__ inline void visit_nodes(unsigned count, const tree_run& run) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ unsigned first;
  // 1. Split, and the base case: a small subtree is counted here.
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const bool has_node = i < count;
  const node mine = has_node ? run.list[run.filled][i] : node{};
  const bool in_place = has_node && is_small(mine);
  run.count(in_place ? count_in_place(mine) : has_node ? 1 : 0);
  // 2. A block reserves places for all its children at once.
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
  // 3. Recurse: the last block launches the next level. Who launches takes the count with it, so that
  //    the list is empty when the level after the next is written there.
  if (!last_to_arrive(run.state->arrived, gridDim.x) || threadIdx.x != 0) return;
  const tree_run next = run.over_other_list();
  const unsigned found = run.state->waiting[next.filled];
  if (found == 0 || !run.take_slot_for_list()) return;
  run.state->waiting[next.filled] = 0;
  const launch_shape shape{(found - 1) / threads + 1, threads};
  if (run.launched(launch(visit_level, shape, fire_and_forget(), found, next), __func__)) return;
  run.state->waiting[next.filled] = found;  // the host goes on
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.put(root, run.view().list[0]);
  for (unsigned count = 1; count > 0; count = run.next_list()) {
    run.launch_grid(visit_level, {(count - 1) / threads + 1, threads}, count, run.view());
  }
  return run.nodes();
}

}  // namespace ladder::rung_5
