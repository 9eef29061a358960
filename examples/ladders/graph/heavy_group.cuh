// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The heavy vertices of a block, whose edges one child grid visits (rungs 5 and 6). The edges of
/// all of them are numbered, in the order of the threads.
///
///     thread        0     1     2     3
///     heavy edges   2000  0     3000  0
///     first     --> 0     2000  2000  5000     edges --> 5000; edge 2500 is thread 2's number 500

#include <ramify/runtime/collectives.cuh>

#include "search_run.cuh"

namespace ladder {

/// It is passed to the child grid by value, in 2 KiB of arguments. So it needs no other memory.
struct heavy_group {
  edge_count first[threads];  ///< number of the first edge of each thread's vertex
  edge_count edges;           ///< of all of them
  unsigned begin;             ///< index of thread 0's vertex: a vertex, or a place in the frontier

  /// Returns the thread, in the block that made the group, whose vertex has edge j. Of threads with
  /// equal numbers only the last one has edges.
  [[nodiscard]] __device__ unsigned owner_of(edge_count j) const {
    unsigned owner = 0;
    for (unsigned step = threads / 2; step > 0; step /= 2) {
      if (first[owner + step] <= j) owner += step;
    }
    return owner;
  }
};

/// Makes a group, in shared memory, of vertices with `degree` edges; 0 if a thread has no heavy
/// vertex. All threads of the block call it once.
__device__ inline heavy_group& gather(edge_count degree) {
  using scan = block_scan<edge_count, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ heavy_group group;
  edge_count edges = 0;
  scan(storage).ExclusiveSum(degree, group.first[threadIdx.x], edges);
  if (threadIdx.x == 0) {
    group.edges = edges;
    group.begin = blockIdx.x * threads;
  }
  __syncthreads();  // makes the group complete for all threads
  return group;
}

}  // namespace ladder
