// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A block's stack of nodes in shared memory, and one step of a depth-first traversal, for rungs 7
/// and 8.

#include <ramify/runtime/collectives.cuh>

#include "tree_run.cuh"

namespace ladder {

/// Nodes that have not been counted, with the nodes nearest to the root at the bottom. In shared
/// memory.
struct block_stack {
  /// A grid launched by a kernel may get only one block per multiprocessor, so blocks are large.
  /// The CPU executor runs each thread as a fiber and needs only few.
  static constexpr unsigned threads = RAMIFY_ON_CUDA ? 512 : 64;
  /// With more nodes than this, a block shares all except one step of work.
  static constexpr unsigned max_nodes = 2 * threads;
  using scan = block_scan<unsigned, threads>;

  node nodes[max_nodes + (max_children - 1) * threads];  // space for the nodes that one step adds
  scan::TempStorage storage;
  unsigned from_thread_0;

  /// Counts the topmost nodes of a stack of `size` nodes, one per thread, and replaces them by
  /// their children. Returns the new size. All threads call it.
  __device__ unsigned step(unsigned size, unsigned& counted) {
    // 1. One node per thread.
    const unsigned width = min(size, threads);
    node mine{};
    unsigned children = 0;
    if (threadIdx.x < width) {
      mine = nodes[size - 1 - threadIdx.x];
      children = degree(mine);
      ++counted;
    }
    // 2. Compute the positions of the children. (The scan has a barrier, so all threads have read
    //    their nodes.)
    unsigned place = 0;
    unsigned all = 0;
    scan(storage).ExclusiveSum(children, place, all);
    __syncthreads();
    for (unsigned i = 0; i < children; ++i) nodes[size - width + place + i] = child(mine, i);
    __syncthreads();
    return size - width + all;
  }

  /// Loads `count` nodes from device memory to the empty stack. All threads call it.
  __device__ void load(const node* from, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += threads) nodes[i] = from[i];
    __syncthreads();
  }

  /// Copies the lowest `count` nodes to device memory, and moves the others, at most one per
  /// thread, to the bottom. All threads call it.
  __device__ void unload(node* to, unsigned count, unsigned size) {
    for (unsigned i = threadIdx.x; i < count; i += threads) to[i] = nodes[i];
    const bool moves = count + threadIdx.x < size;
    const node mine = moves ? nodes[count + threadIdx.x] : node{};
    __syncthreads();
    if (moves) nodes[threadIdx.x] = mine;
    __syncthreads();
  }

  /// Returns the value of thread 0 to all threads. All threads call it.
  __device__ unsigned broadcast(unsigned value) {
    __syncthreads();
    if (threadIdx.x == 0) from_thread_0 = value;
    __syncthreads();
    return from_thread_0;
  }
};

}  // namespace ladder
