// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 8: blocks that stay, and a queue for what is too much for one of them.
///
/// Changed      against rung 7: no rounds. One grid, which fills the device. Of a stack that has grown large, the
///              lower part, which is the nearest to the root, goes into a queue, a block's nodes a share. Who
///              has none waits for the next share.
/// Why          Nobody launches, nobody stops to share what he has in hand, and no block is idle for longer than
///              until the next share comes.
/// Launch tree  one grid.
/// Join         a count of shares that are not finished, in the queue or in a block's hands: zero is the end. A
///              block waits only for what a running block may still put there (lesson 19).
/// Cost         as rung 7's for a step. All places in the queue come from two words, an atomic each: with a lock
///              around the queue instead, 68 million nodes took 390 ms and not 2.5 (H200). Blocks without work keep
///              their place on the device and ask again and again. What is on a stack and less than too much is not
///              shared, however large the trees below it are: at the end a few blocks work.

#include "block_walk.cuh"

namespace ladder::rung_8 {

/// The queue: share i is in the pool from i * size on, if written[i] says so, and is for who has drawn the
/// number i. Nobody goes round: there is a place for each node of the tree.
struct share_queue {
  run_state* state;  ///< `gathered`: places given away; `taken`: numbers drawn
  node* nodes;
  unsigned* written;  ///< `places` of them; zeros at first
  unsigned places;

  static constexpr unsigned size = block_walk::threads;  ///< of a share

  [[nodiscard]] static share_queue of(const tree_run& run) {
    return {run.state, run.pool, reinterpret_cast<unsigned*>(run.list[0]), run.capacity / size + 1};
  }

  /// Waits for a share for the empty stack; false if there will be none. All threads.
  [[nodiscard]] __device__ bool take(block_walk& walk) const {
    enum : unsigned { waits, comes, never };
    // 1. A number. Blocks wait for a word each, and not all for the same one.
    const unsigned mine = walk.broadcast(threadIdx.x == 0 ? atomicAdd(&state->taken, 1u) : 0);
    // 2. What belongs to it comes, or all is finished.
    for (unsigned seen = waits; seen != comes;) {
      if (threadIdx.x == 0 && mine < places && load_relaxed(written[mine]) != 0) {
        atomicExch(&written[mine], 0u);  // ThreadSanitizer knows no fences, only atomics
        __threadfence();                 // what was written before the word is seen from here on
        seen = comes;
      } else if (threadIdx.x == 0 && load_relaxed(state->busy) == 0) {
        seen = never;
      }
      seen = walk.broadcast(seen);
      if (seen == never) return false;
    }
    walk.load(nodes + std::size_t{mine} * size, size);
    return true;
  }

  /// Moves the lowest shares off the stack, as many as leave something there; what is left, which is no
  /// more than a step's work. All threads.
  [[nodiscard]] __device__ unsigned put(block_walk& walk, unsigned stack) const {
    const unsigned shares = (stack - 1) / size;
    if (threadIdx.x == 0) atomicAdd(&state->busy, shares);
    const unsigned first =
        walk.broadcast(threadIdx.x == 0 ? atomicAdd(&state->gathered, shares) : 0);
    walk.unload(nodes + std::size_t{first} * size, shares * size, stack);
    __threadfence();
    __syncthreads();
    if (threadIdx.x < shares) atomicExch(&written[first + threadIdx.x], 1u);
    return stack - shares * size;
  }
};

__global__ void __launch_bounds__(block_walk::threads)
    persist(node root, share_queue queue, tree_run run) {
  const traced here(run.trace, __func__);
  __shared__ block_walk walk;
  unsigned long long counted = 0;
  // The first block has the root; `busy` is 1.
  if (threadIdx.x == 0) walk.stack[0] = root;
  __syncthreads();
  unsigned size = blockIdx.x == 0 ? 1 : 0;
  while (size > 0 || queue.take(walk)) {
    if (size == 0) size = queue.size;
    unsigned mine = 0;
    while (size > 0) {
      size = walk.step(size, mine);
      if (size > block_walk::most_kept) size = queue.put(walk, size);
    }
    counted += mine;
    if (threadIdx.x == 0) atomicSub(&run.state->busy, 1u);
  }
  run.count(counted);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.fit(persist, block_walk::threads);
  const tree_run view = run.view();
  const share_queue queue = share_queue::of(view);
  constexpr unsigned one = 1;
  check(cudaMemcpyAsync(&view.state->busy, &one, sizeof one, cudaMemcpyHostToDevice, run.stream()),
        "counting the root");
  check(cudaMemsetAsync(queue.written, 0, queue.places * sizeof(unsigned), run.stream()),
        "clearing a queue");
  run.launch_grid(persist, {view.most_blocks, block_walk::threads}, root, queue, view);
  static_cast<void>(run.next_list());
  return run.nodes();
}

}  // namespace ladder::rung_8
