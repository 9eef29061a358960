// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 4: the children that a block finds become one grid (aggregation).
///
/// Changed      Threads do not launch. The threads of a block write the children that they have
///              found side by side into device memory, and one thread launches one grid over them.
///              A task is a segment of nodes that have not been counted, with one thread per node.
/// Why          Fewer and larger grids: blocks of 128 threads instead of one thread per sibling.
/// Launch tree  One child grid, of up to 6 blocks, for each block that finds large nodes. So grids
///              of several blocks have several children.
/// Join         None, as before.
/// Cost         As many grids as there are such blocks; a write and a read of 8 bytes for each of
///              their children; a scan and two barriers per block. Near the root, and where the
///              tree is thin, blocks are nearly empty, because a block gathers only its own
///              children.

#include <ramify/runtime/collectives.cuh>

#include "in_place.cuh"
#include "tree_run.cuh"

namespace ladder::rung_4 {

inline constexpr unsigned threads = 128;

/// Appends the children of all threads' nodes to the pool, in the order of the threads. All threads
/// call it. Thread 0 may launch a grid over the returned segment.
__device__ inline segment gather(const node& mine, unsigned children, const tree_run& run) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ unsigned first;
  unsigned place = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(children, place, all);
  // No node is written twice, and the root is already there, so the pool has space for all nodes.
  if (threadIdx.x == 0) first = atomicAdd(&run.state->gathered, all);
  __syncthreads();
  const segment found{first, all};
  for (unsigned i = 0; i < children; ++i) run.pool[found.first + place + i] = child(mine, i);
  __syncthreads();  // thread 0 sees all nodes, and so does its child (lesson 02)
  return found;
}

__global__ void __launch_bounds__(threads) visit_segment(segment given, tree_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: one thread per node. (In a grid over a list of segments, a block processes a whole
  //    segment.)
  const segment all = run.task_of_block(given);
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
    // 3. Recurse: launch one grid for all nodes that the block has found.
    if (threadIdx.x != 0 || found.count == 0) continue;
    const launch_shape shape{(found.count - 1) / threads + 1, threads};
    if (run.acquire_slot() &&
        run.launched(launch(visit_segment, shape, fire_and_forget(), found, run.below()),
                     __func__)) {
      continue;
    }
    run.append_to_list(found);
  }
  run.count(counted);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  // The root is a segment of its own in the last entry of the pool.
  const tree_run view = run.view();
  run.put(root, view.pool + view.capacity - 1);
  run.launch_until_done(visit_segment, segment{view.capacity - 1, 1}, threads);
  return run.nodes();
}

}  // namespace ladder::rung_4
