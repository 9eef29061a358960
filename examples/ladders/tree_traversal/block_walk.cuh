// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A block that walks a tree depth first, for rungs 7 and 8: its stack in shared memory, and a step.

#include <ramify/runtime/collectives.cuh>

#include "tree_run.cuh"

namespace ladder {

/// Nodes that have not been counted, the nearest to the root at the bottom. Shared memory of a block.
struct block_walk {
  /// A grid that a kernel launched may get one block a multiprocessor, so blocks had better be large. The
  /// CPU executor plays each thread, and does as well with few.
  static constexpr unsigned threads = RAMIFY_ON_CUDA ? 512 : 64;
  /// Of more nodes than this, all but a step's work are handed on.
  static constexpr unsigned most_kept = 2 * threads;
  using scan = block_scan<unsigned, threads>;

  node stack[most_kept + (most_children - 1) * threads];  // room for what one step may add
  scan::TempStorage storage;
  unsigned from_thread_0;

  /// Counts the topmost nodes, one a thread, and puts their children in their places. The new size of the
  /// stack, which the step found with `size` nodes. All threads.
  __device__ unsigned step(unsigned size, unsigned& counted) {
    // 1. A node for each thread, as far as there are any.
    const unsigned width = min(size, threads);
    node mine{};
    unsigned children = 0;
    if (threadIdx.x < width) {
      mine = stack[size - 1 - threadIdx.x];
      children = degree(mine);
      ++counted;
    }
    // 2. Places for the children. (The scan has a barrier: all have read their nodes.)
    unsigned place = 0;
    unsigned all = 0;
    scan(storage).ExclusiveSum(children, place, all);
    __syncthreads();
    for (unsigned i = 0; i < children; ++i) stack[size - width + place + i] = child(mine, i);
    __syncthreads();
    return size - width + all;
  }

  /// Takes `count` nodes from device memory onto the empty stack. All threads.
  __device__ void load(const node* from, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += threads) stack[i] = from[i];
    __syncthreads();
  }

  /// Copies the lowest `count` nodes to device memory, and moves the others, of which there are no more than
  /// threads, into their places. All threads.
  __device__ void unload(node* to, unsigned count, unsigned size) {
    for (unsigned i = threadIdx.x; i < count; i += threads) to[i] = stack[i];
    const bool moves = count + threadIdx.x < size;
    const node mine = moves ? stack[count + threadIdx.x] : node{};
    __syncthreads();
    if (moves) stack[threadIdx.x] = mine;
    __syncthreads();
  }

  /// What thread 0 says. All threads.
  __device__ unsigned broadcast(unsigned value) {
    __syncthreads();
    if (threadIdx.x == 0) from_thread_0 = value;
    __syncthreads();
    return from_thread_0;
  }
};

}  // namespace ladder
