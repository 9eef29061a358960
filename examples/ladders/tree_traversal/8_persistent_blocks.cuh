// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 8: persistent blocks, and a queue for work that is too much for one block.
///
/// Changed      No rounds. One grid fills the device. A block moves the lower part of a large
///              stack, which is nearest to the root, to a queue, in shares of one node per thread.
///              A block without work waits for the next share.
/// Why          There are no launches, no block stops to share all of its work, and a block is idle
///              only until the next share arrives.
/// Launch tree  One grid.
/// Join         A count of unfinished shares, in the queue or in a block. At zero all blocks end. A
///              block waits only for shares that a running block may still enqueue (lesson 19).
/// Cost         A step costs what it costs in rung 7. Two counters assign all positions in the
///              queue, by one atomic operation each. With a lock around the queue, 68 million nodes
///              took 390 ms instead of 2.5 (H200). Blocks without work stay on the device and poll.
///              A stack below the limit is not shared, however large its subtrees are, so at the
///              end only a few blocks work.

#include "block_stack.cuh"

namespace ladder::rung_8 {

/// The queue. Share i begins at the index i * size of `nodes`. It is complete once written[i] is
/// set, and belongs to the block that drew number i. Positions are not reused: there is one for
/// each node of the tree.
struct share_queue {
  run_state* state;  ///< `gathered`: shares enqueued; `taken`: numbers drawn
  node* nodes;
  unsigned* written;  ///< `places` flags; initially zero
  unsigned places;

  static constexpr unsigned size = block_stack::threads;  ///< nodes of a share

  [[nodiscard]] static share_queue of(const tree_run& run) {
    return {run.state, run.pool, reinterpret_cast<unsigned*>(run.list[0]), run.capacity / size + 1};
  }

  /// Waits for a share and loads it to the empty stack. Returns false if all work is finished. All
  /// threads call it.
  [[nodiscard]] __device__ bool dequeue(block_stack& stack) const {
    enum : unsigned { waits, comes, never };
    // 1. Draw a number. So each block polls its own flag.
    const unsigned mine = stack.broadcast(threadIdx.x == 0 ? atomicAdd(&state->taken, 1u) : 0);
    // 2. Wait until the share with this number arrives, or all work is finished.
    for (unsigned seen = waits; seen != comes;) {
      if (threadIdx.x == 0 && mine < places && load_relaxed(written[mine]) != 0) {
        atomicExch(&written[mine], 0u);  // ThreadSanitizer does not model fences
        __threadfence();                 // makes the nodes of the share visible
        seen = comes;
      } else if (threadIdx.x == 0 && load_relaxed(state->busy) == 0) {
        seen = never;
      }
      seen = stack.broadcast(seen);
      if (seen == never) return false;
    }
    stack.load(nodes + std::size_t{mine} * size, size);
    return true;
  }

  /// Moves as many of the lowest shares as possible from the stack to the queue, and keeps at least
  /// one node. Returns the number of remaining nodes, at most one step of work. All threads call
  /// it.
  [[nodiscard]] __device__ unsigned enqueue(block_stack& stack, unsigned count) const {
    const unsigned shares = (count - 1) / size;
    if (threadIdx.x == 0) atomicAdd(&state->busy, shares);
    const unsigned first =
        stack.broadcast(threadIdx.x == 0 ? atomicAdd(&state->gathered, shares) : 0);
    stack.unload(nodes + std::size_t{first} * size, shares * size, count);
    __threadfence();
    __syncthreads();
    if (threadIdx.x < shares) atomicExch(&written[first + threadIdx.x], 1u);
    return count - shares * size;
  }
};

__global__ void __launch_bounds__(block_stack::threads)
    persist(node root, share_queue queue, tree_run run) {
  const traced here(run.trace, __func__);
  __shared__ block_stack stack;
  unsigned long long counted = 0;
  // The first block starts with the root; `busy` is 1.
  if (threadIdx.x == 0) stack.nodes[0] = root;
  __syncthreads();
  unsigned size = blockIdx.x == 0 ? 1 : 0;
  while (size > 0 || queue.dequeue(stack)) {
    if (size == 0) size = queue.size;
    unsigned mine = 0;
    while (size > 0) {
      size = stack.step(size, mine);
      if (size > block_stack::max_nodes) size = queue.enqueue(stack, size);
    }
    counted += mine;
    if (threadIdx.x == 0) atomicSub(&run.state->busy, 1u);
  }
  run.count(counted);
}

inline std::uint64_t count_nodes(const node& root, ladder_run& run) {
  run.limit_blocks(persist, block_stack::threads);
  const tree_run view = run.view();
  const share_queue queue = share_queue::of(view);
  constexpr unsigned one = 1;
  check(cudaMemcpyAsync(&view.state->busy, &one, sizeof one, cudaMemcpyHostToDevice, run.stream()),
        "counting the root");
  check(cudaMemsetAsync(queue.written, 0, queue.places * sizeof(unsigned), run.stream()),
        "clearing a queue");
  run.launch_grid(persist, {view.max_blocks, block_stack::threads}, root, queue, view);
  static_cast<void>(run.finish_lists());
  return run.nodes();
}

}  // namespace ladder::rung_8
