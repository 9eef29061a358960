// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 7: blocks walk depth first, and share their work out in rounds that launch one another.
///
/// Changed      against rung 6: no levels. A block walks below a share of the round's nodes, with its stack in
///              shared memory, until it has none left, and ends. When a quarter of the device has none, those
///              with more than a step's work hand all of it out, and the last block launches the next round over it.
/// Why          Nodes stay in shared memory, no thread walks alone, and no threshold has to be found. Shares are
///              made anew when some have nothing and others have much, wherever in the tree that is.
/// Launch tree  a chain, with a grid for each shift in the balance of the tree.
/// Join         a tail launch: the next round begins when all blocks of this one have ended and have given their
///              places back. That it sees what they wrote is a tail launch's promise too; how large it has to
///              be, only the last block to arrive knows.
/// Cost         a step counts a node a thread, for three barriers. 16 us a round for the tail launch (H200), and
///              a write and a read of what is handed out. A quarter of the device may have nothing to do.

#include <algorithm>
#include <ramify/runtime/tasks.cuh>

#include "block_walk.cuh"

namespace ladder::rung_7 {

inline constexpr unsigned threads = block_walk::threads;
inline constexpr unsigned steps_between_looks = 8;  // at whether others are idle

/// A share of the round's list, for the empty stack; how many nodes. There are blocks for all first shares
/// unless the device is full. All threads.
__device__ inline unsigned take(block_walk& walk, unsigned count, const tree_run& run) {
  const unsigned share = min((count - 1) / gridDim.x + 1, threads);
  const unsigned first = walk.broadcast(threadIdx.x == 0 ? atomicAdd(&run.state->taken, share) : 0);
  if (first >= count) return 0;
  const unsigned size = min(share, count - first);
  walk.load(run.list[run.filled] + first, size);
  return size;
}

/// Hands the lowest `count` nodes out into the next round's list; what is left, which is no more than a
/// step's work. All threads.
__device__ inline unsigned give(block_walk& walk, unsigned count, unsigned size,
                                const tree_run& run) {
  const unsigned first = walk.broadcast(threadIdx.x == 0 ? run.reserve(count) : 0);
  walk.unload(run.list[1 - run.filled] + first, count, size);
  return size - count;
}

/// Whether a quarter of the device has nothing to do. One thread.
__device__ inline bool many_are_idle(const tree_run& run) {
  const unsigned active = gridDim.x - load_relaxed(run.state->idle);
  return 4 * active < 3 * run.most_blocks;
}

__global__ void __launch_bounds__(threads) walk_round(unsigned count, tree_run run) {
  const traced here(run.trace, __func__);
  __shared__ block_walk walk;
  // 1. Base case: as long as most blocks have work, it is done in place, step by step, share by share.
  unsigned counted = 0;
  unsigned size = take(walk, count, run);
  for (unsigned steps = 1; size > 0; ++steps) {
    size = walk.step(size, counted);
    if (size > block_walk::most_kept) size = give(walk, size - threads, size, run);
    // 2. Split: with more than a step's work in hand, and others idle, all goes to the next round. No
    //    share of this one stays behind: each block takes one at least, and where there are more, nobody is idle
    //    before the list is empty.
    if (size > threads && steps % steps_between_looks == 0 &&
        walk.broadcast(threadIdx.x == 0 && many_are_idle(run) ? 1 : 0) != 0) {
      size = give(walk, size, size, run);
      break;
    }
    if (size == 0) size = take(walk, count, run);
  }
  run.count(counted);
  if (threadIdx.x == 0) atomicAdd(&run.state->idle, 1u);
  // 3. Recurse: the last block launches the next round over all that was handed out.
  if (!last_to_arrive(run.state->arrived, gridDim.x) || threadIdx.x != 0) return;
  run.state->taken = 0;
  run.state->idle = 0;
  const tree_run next = run.over_other_list();
  const unsigned found = run.state->waiting[next.filled];
  if (found == 0 || !run.take_slot_for_list()) return;
  run.state->waiting[next.filled] = 0;
  const launch_shape shape{min(found, run.most_blocks), threads};
  if (run.launched(launch(walk_round, shape, tail_launch(), found, next), __func__)) return;
  run.state->waiting[next.filled] = found;  // the host goes on
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.fit(walk_round, threads);
  run.put(root, run.view().list[0]);
  for (unsigned count = 1; count > 0; count = run.next_list()) {
    const tree_run view = run.view();
    run.launch_grid(walk_round, {std::min(count, view.most_blocks), threads}, count, view);
  }
  return run.nodes();
}

}  // namespace ladder::rung_7
