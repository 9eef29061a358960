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

/// An argument of the child grid. The numbers are in global memory: passed by value, they would
/// need 2 KiB of arguments, for whose copy the compiler takes all registers of a thread.
struct heavy_group {
  edge_count* first;  ///< number of the first edge of each thread's vertex
  edge_count edges;   ///< of all of them
  unsigned begin;     ///< index of thread 0's vertex: a vertex, or a place in the frontier

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

using group_scan = block_scan<edge_count, threads>;

/// Makes the group of vertices with `degree` edges; 0 if a thread has no heavy vertex. All threads
/// of the block call it. `storage` is in shared memory. The kernel declares it, because nvlink adds
/// shared memory that a device function declares to that of all kernels of the program.
__device__ inline heavy_group gather(edge_count degree, const search_run& run,
                                     group_scan::TempStorage& storage) {
  heavy_group group{run.heavy_first + blockIdx.x * threads, 0, blockIdx.x * threads};
  edge_count before = 0;
  group_scan(storage).ExclusiveSum(degree, before, group.edges);
  group.first[threadIdx.x] = before;
  __syncthreads();  // thread 0 sees all numbers, and so does its child (lesson 02)
  return group;
}

}  // namespace ladder
