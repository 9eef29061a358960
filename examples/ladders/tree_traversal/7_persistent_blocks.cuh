// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 7: blocks that stay and walk depth first, and a queue for what is too much for one of them.
///
/// Changed      against rung 6: no levels. One grid, which fills the device. A block takes nodes from the queue
///              and walks below them until its stack is empty; of a stack that has grown large, the lower
///              part, which is the nearest to the root, goes into the queue.
/// Why          Nodes stay in shared memory, no thread walks alone, nobody waits for the end of a level, and
///              no threshold has to be found.
/// Launch tree  one grid.
/// Join         the queue is empty and no block has anything in hand: two counters.
/// Cost         a step counts a node a thread, for three barriers. Blocks without work look at the queue
///              again and again, and keep their place on the device. What is on a stack and less than too much
///              is not shared, however large the trees below it are: at the end a few blocks work.

#include "block_walk.cuh"

namespace ladder::rung_7 {

/// The queue is list 0, `waiting[0]` nodes long; the newest come first. Who changes it holds its lock. One
/// thread, which does not wait: while the block that holds the lock is not running, nobody could.
__device__ inline bool try_lock(run_state& state) {
  if (atomicCAS(&state.locked, 0u, 1u) != 0) return false;
  __threadfence();  // what was written under the lock before is seen from here on
  return true;
}
__device__ inline void unlock(run_state& state) {
  __threadfence();
  atomicExch(&state.locked, 0u);
}

/// Whether there will be nothing any more. One thread.
__device__ inline bool is_over(run_state& state) {
  // In this order. A block that has put nodes into the queue looks here again itself, so if this is wrong
  // because one came and went in between, no node is lost.
  const bool is_empty = peek(state.waiting[0]) == 0;
  __threadfence();
  return is_empty && peek(state.busy) == 0;
}

/// Nodes from the queue for the empty stack; how many. All threads.
__device__ inline unsigned take(block_walk& walk, const tree_run& run) {
  run_state& state = *run.state;
  unsigned share = 0;
  if (threadIdx.x == 0 && peek(state.waiting[0]) > 0 && try_lock(state)) {
    const unsigned waiting = peek(state.waiting[0]);
    // A part for each block, but no more than a step's work.
    share = min(min(waiting / gridDim.x + 1, waiting), block_walk::threads);
    if (share > 0) {
      atomicAdd(&state.busy, 1u);  // before they leave the queue: see is_over()
      __threadfence();
      atomicSub(&state.waiting[0], share);
    } else {
      unlock(state);
    }
  }
  share = walk.tell(share);
  if (share == 0) return 0;
  walk.load(run.list[0] + peek(state.waiting[0]), share);
  if (threadIdx.x == 0) unlock(state);
  return share;
}

/// Puts the lower part of the stack into the queue; what is left. All threads.
__device__ inline unsigned put(block_walk& walk, unsigned size, const tree_run& run) {
  run_state& state = *run.state;
  while (walk.tell(threadIdx.x == 0 && try_lock(state) ? 1 : 0) == 0) {
  }
  const unsigned count = size - block_walk::threads;
  walk.unload(run.list[0] + peek(state.waiting[0]), count, size);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&state.waiting[0], count);
    unlock(state);
  }
  return size - count;
}

__global__ void __launch_bounds__(block_walk::threads) persist(tree_run run) {
  const traced here(run.trace, __func__);
  __shared__ block_walk walk;
  unsigned long long counted = 0;
  for (;;) {
    unsigned size = take(walk, run);
    if (size == 0) {
      if (walk.tell(threadIdx.x == 0 && is_over(*run.state) ? 1 : 0) != 0) break;
      continue;
    }
    unsigned mine = 0;
    while (size > 0) {
      size = walk.step(size, mine);
      if (size > block_walk::most_kept) size = put(walk, size, run);
    }
    counted += mine;
    if (threadIdx.x == 0) {
      __threadfence();
      atomicSub(&run.state->busy, 1u);
    }
  }
  run.count(counted);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.fit(persist, block_walk::threads);
  run.put_waiting(root);
  run.launch_grid(persist, {run.view().most_blocks, block_walk::threads}, run.view());
  static_cast<void>(run.next_list());
  return run.nodes();
}

}  // namespace ladder::rung_7
