// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 7: blocks traverse depth first, and share their work in rounds that launch one another.
///
/// Changed      No levels. A block traverses the subtrees of its share of the round's nodes, with
///              its stack in shared memory, until the stack is empty; then it ends. When a quarter
///              of the device is idle, the blocks with more than one step of work share all of it,
///              and the last block launches the next round over it.
/// Why          Nodes stay in shared memory, no thread works alone, and no threshold is needed.
///              Work is shared anew when some blocks are idle and others are not, anywhere in the
///              tree.
/// Launch tree  A chain, with one grid for each rebalancing.
/// Join         A tail launch: the next round begins after all blocks of this one have ended and
///              freed their SMs, and their writes are visible to it. Only the last block to arrive
///              can read the size of the next round.
/// Cost         A step counts one node per thread, for three barriers. 16 us per round for the tail
///              launch (H200), and a write and a read of the shared nodes. A quarter of the device
///              may be idle.

#include <algorithm>
#include <ramify/runtime/tasks.cuh>

#include "block_stack.cuh"

namespace ladder::rung_7 {

inline constexpr unsigned threads = block_stack::threads;
inline constexpr unsigned steps_between_checks = 8;  // checks for idle blocks

/// Fetches a share of the round's list to the empty stack. Returns its number of nodes. Each block
/// gets a share unless the grid fills the device. All threads call it.
__device__ inline unsigned fetch_share(block_stack& stack, unsigned count, const tree_run& run) {
  const unsigned share = min((count - 1) / gridDim.x + 1, threads);
  const unsigned first =
      stack.broadcast(threadIdx.x == 0 ? atomicAdd(&run.state->taken, share) : 0);
  if (first >= count) return 0;
  const unsigned size = min(share, count - first);
  stack.load(run.list[run.filled] + first, size);
  return size;
}

/// Moves the lowest `count` nodes to the next round's list. Returns the number of remaining nodes,
/// at most one step of work. All threads call it.
__device__ inline unsigned share_nodes(block_stack& stack, unsigned count, unsigned size,
                                       const tree_run& run) {
  const unsigned first = stack.broadcast(threadIdx.x == 0 ? run.reserve(count) : 0);
  stack.unload(run.list[1 - run.filled] + first, count, size);
  return size - count;
}

/// Returns true if a quarter of the device is idle. One thread calls it.
__device__ inline bool needs_rebalancing(const tree_run& run) {
  const unsigned active = gridDim.x - load_relaxed(run.state->idle);
  return 4 * active < 3 * run.max_blocks;
}

__global__ void __launch_bounds__(threads) run_round(unsigned count, tree_run run) {
  const traced here(run.trace, __func__);
  __shared__ block_stack stack;
  // 1. Base case: while most blocks have work, each works in place, step by step, share by share.
  unsigned counted = 0;
  unsigned size = fetch_share(stack, count, run);
  for (unsigned steps = 1; size > 0; ++steps) {
    size = stack.step(size, counted);
    if (size > block_stack::max_nodes) size = share_nodes(stack, size - threads, size, run);
    // 2. Split: a block with more than one step of work moves all of it to the next round if others
    //    are idle. No share of this round remains: each block fetches at least one, and no block
    //    becomes idle before the list is empty.
    if (size > threads && steps % steps_between_checks == 0 &&
        stack.broadcast(threadIdx.x == 0 && needs_rebalancing(run) ? 1 : 0) != 0) {
      size = share_nodes(stack, size, size, run);
      break;
    }
    if (size == 0) size = fetch_share(stack, count, run);
  }
  run.count(counted);
  if (threadIdx.x == 0) atomicAdd(&run.state->idle, 1u);
  // 3. Recurse: the last block launches the next round over all shared nodes.
  if (!last_to_arrive(run.state->arrived, gridDim.x) || threadIdx.x != 0) return;
  run.state->taken = 0;
  run.state->idle = 0;
  const tree_run next = run.over_other_list();
  const unsigned found = run.state->waiting[next.filled];
  if (found == 0 || !run.acquire_slot_for_list()) return;
  run.state->waiting[next.filled] = 0;
  const launch_shape shape{min(found, run.max_blocks), threads};
  if (run.launched(launch(run_round, shape, tail_launch(), found, next), __func__)) return;
  run.state->waiting[next.filled] = found;  // the host continues
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.limit_blocks(run_round, threads);
  run.put(root, run.view().list[0]);
  for (unsigned count = 1; count > 0; count = run.finish_lists()) {
    const tree_run view = run.view();
    run.launch_grid(run_round, {std::min(count, view.max_blocks), threads}, count, view);
  }
  return run.nodes();
}

}  // namespace ladder::rung_7
