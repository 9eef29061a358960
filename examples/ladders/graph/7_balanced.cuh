// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 7: each block takes the same number of edges of the frontier. For comparison with child
/// grids.
///
/// Changed      No child grids and no heavy vertices. A list also stores, for each vertex, the
///              number of edges before it, by a scan over the warp at the append. A step has a
///              thread for each few edges, and a thread finds the vertex of its edge by binary
///              search.
/// Why          Every thread has the same work, whatever the degrees are. One level of parallelism
///              suffices, because the number of edges is known when the host launches the step. It
///              is the version that dynamic parallelism has to beat.
/// Launch tree  None: a sequence of grids.
/// Join         The host's stream.
/// Cost         The search: two for the block in the whole list, then a short one for each edge.

#include <ramify/runtime/collectives.cuh>

#include "search_run.cuh"

namespace ladder::rung_7 {

inline constexpr unsigned edges_per_block = 4 * threads;

/// Appends `vertex` to the next frontier in each lane where `has` is true. All lanes of a warp call
/// it. An append changes the counts of vertices and of edges by one atomic operation, so first_edge
/// never decreases along the list.
__device__ inline void append(bool has, unsigned vertex, const search_run& run) {
  using scan = warp_scan<edge_count>;
  __shared__ typename scan::TempStorage storage[threads / 32];
  if (__any_sync(full_warp_mask, has) == 0) return;
  const edge_count own = has ? frontier_size::of(1, run.graph.degree(vertex)).bits : 0;
  edge_count before = 0;
  edge_count total = 0;
  scan(storage[threadIdx.x / 32]).ExclusiveSum(own, before, total);
  edge_count first = 0;
  if (threadIdx.x % 32 == 0) first = atomicAdd(&run.state->listed[1 - run.filled].bits, total);
  const frontier_size place{__shfl_sync(full_warp_mask, first, 0) + before};
  if (!has) return;
  const frontier_list& next = run.list[1 - run.filled];
  next.vertices[place.vertices()] = static_cast<std::int32_t>(vertex);
  next.first_edge[place.vertices()] = place.edges();
}

/// Returns the last vertex of the list, in [low, high), whose edges begin at or before edge j.
/// Other vertices with the same beginning have no edges.
__device__ inline unsigned owner_of(edge_count j, const frontier_list& list, unsigned low,
                                    unsigned high) {
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (list.first_edge[middle] <= j ? low : high) = middle;
  }
  return low;
}

__global__ void __launch_bounds__(threads) visit_frontier(frontier_size size, search_run run) {
  const traced here(run.trace, __func__);
  // No block reads the size of the list of this step. The next step fills the list.
  if (blockIdx.x == 0 && threadIdx.x == 0) run.state->listed[run.filled] = {0};
  __shared__ unsigned owners[2];
  const frontier_list& list = run.list[run.filled];
  // 1. Split: the block has `edges_per_block` consecutive edges. Threads 0 and 1 find the vertices
  //    of the first and of the last one.
  const edge_count begin = edge_count{blockIdx.x} * edges_per_block;
  const edge_count end = min(begin + edges_per_block, size.edges());
  if (threadIdx.x < 2) {
    owners[threadIdx.x] = owner_of(threadIdx.x == 0 ? begin : end - 1, list, 0, size.vertices());
  }
  __syncthreads();
  // 2. Consecutive threads visit consecutive edges.
  for (edge_count at = begin; at < end; at += threads) {
    const edge_count j = at + threadIdx.x;
    edge_count e = 0;
    if (j < end) {
      const unsigned i = owner_of(j, list, owners[0], owners[1] + 1);
      e = run.graph.first(static_cast<unsigned>(list.vertices[i])) + (j - list.first_edge[i]);
    }
    const bool reached = j < end && run.visit(e);
    append(reached, reached ? run.graph.target(e) : 0, run);
  }
}

/// Launches the step for a frontier with edges.
inline void launch_step(frontier_size size, const search_run& run, ladder_run& host) {
  const auto blocks = static_cast<unsigned>((size.edges() - 1) / edges_per_block + 1);
  host.launch_grid(visit_frontier, blocks, size, run);
}

inline void search(ladder_run& host) {
  search_run run = host.begin();
  frontier_size size = host.list_source();
  while (size.edges() > 0) {
    launch_step(size, run, host);
    size = host.next_frontier(run);
  }
}

}  // namespace ladder::rung_7
