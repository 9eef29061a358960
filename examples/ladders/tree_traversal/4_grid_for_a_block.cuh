// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 4: what the threads of a block find becomes one grid (aggregation).
///
/// Changed      against rung 3: a thread does not launch. The children that a block's threads have found are
///              written side by side into device memory, and one thread launches one grid over them. A task
///              is a segment of nodes that have not been counted, a thread for each.
/// Why          Fewer and larger grids: blocks of 128 threads instead of families.
/// Launch tree  a child for each block that finds large nodes, of up to 6 blocks; so grids of several blocks
///              have several children.
/// Join         none, as before.
/// Cost         as many grids as there are such blocks; a write and a read, of 8 bytes each, for
///              each of their children; a scan and two barriers a block. Near the root, and where the tree
///              is thin, blocks are nearly empty, for a block gathers only what it has found itself.

#include <ramify/runtime/collectives.cuh>

#include "in_place.cuh"
#include "tree_run.cuh"

namespace ladder::rung_4 {

inline constexpr unsigned threads = 128;

/// Puts the children of all threads' nodes into the pool, each thread's behind those of the thread before it.
/// All threads; thread 0 may launch a grid over the segment.
__device__ inline segment gather(const node& mine, unsigned children, const tree_run& run) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ unsigned first;
  unsigned place = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(children, place, all);
  // No node is written twice, so there is room for all but the root, which is there already.
  if (threadIdx.x == 0) first = atomicAdd(&run.state->gathered, all);
  __syncthreads();
  const segment found{first, all};
  for (unsigned i = 0; i < children; ++i) run.pool[found.first + place + i] = child(mine, i);
  __syncthreads();  // thread 0 sees all nodes, and so does its child (lesson 02)
  return found;
}

__global__ void __launch_bounds__(threads) visit_segment(segment given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: a thread for each node. (Over a list of segments, a block does a whole one.)
  const segment all = run.own(given);
  const unsigned blocks = run.from_list ? 1 : gridDim.x;
  unsigned counted = 0;
  for (unsigned block = run.from_list ? 0 : blockIdx.x; block * threads < all.count;
       block += blocks) {
    const unsigned i = block * threads + threadIdx.x;
    const bool has_node = i < all.count;
    const node mine = has_node ? run.pool[all.first + i] : node{};
    // 2. Base case: a small subtree is counted here.
    const bool in_place = has_node && is_small(mine);
    counted += in_place ? count_in_place(mine) : has_node ? 1 : 0;
    const segment found = gather(mine, has_node && !in_place ? degree(mine) : 0, run);
    // 3. Recurse: one grid for all that the block has found.
    if (threadIdx.x != 0 || found.count == 0) continue;
    const launch_shape shape{(found.count - 1) / threads + 1, threads};
    if (run.take_slot() &&
        run.launched(launch(visit_segment, shape, fire_and_forget(), found, run.below()),
                     __func__)) {
      continue;
    }
    run.put_off(found);
  }
  run.count(counted);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  // The root is a segment of its own, in the last place: all others need one less.
  const tree_run view = run.view();
  run.put(root, view.pool + view.capacity - 1);
  run.launch_rounds(visit_segment, segment{view.capacity - 1, 1}, threads);
  return run.nodes();
}

}  // namespace ladder::rung_4
