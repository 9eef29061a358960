// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 6: the frontier is a list.
///
/// Changed      A thread that gives a vertex a level appends the vertex to a list, and the next
///              step has one thread for each vertex of the list. Two lists alternate.
/// Why          A step reads only the vertices of its frontier: O(n + m) work instead of O(levels *
///              n + m). In a road network a frontier is a thousandth of the vertices.
/// Launch tree  As before.
/// Join         As before. The host reads the length of the list.
/// Cost         An atomic operation for each warp that reaches vertices, on one address. For the
///              append the lanes of a warp visit their edges in step. The vertices of a frontier
///              are in random order, so their levels and edges are far apart.

#include "heavy_group.cuh"

namespace ladder::rung_6 {

/// Appends `vertex` to the next frontier in each lane where `has` is true. All lanes of a warp call
/// it.
__device__ inline void append(bool has, unsigned vertex, const search_run& run) {
  const unsigned lanes = __ballot_sync(full_warp_mask, has);
  if (lanes == 0) return;
  // One lane reserves entries for all lanes.
  edge_count first = 0;
  if (threadIdx.x % 32 == 0) {
    const auto count = static_cast<unsigned>(__popc(lanes));
    first = atomicAdd(&run.state->listed[1 - run.filled].bits, frontier_size::of(count, 0).bits);
  }
  first = __shfl_sync(full_warp_mask, first, 0);
  const unsigned lower_lanes = lanes & ((1u << threadIdx.x % 32) - 1);
  const auto rank = static_cast<unsigned>(__popc(lower_lanes));
  if (has) {
    run.list[1 - run.filled].vertices[frontier_size{first}.vertices() + rank] =
        static_cast<std::int32_t>(vertex);
  }
}

/// Visits edge e in each lane where `has` is true. All lanes of a warp call it.
__device__ inline void visit_edge(bool has, edge_count e, const search_run& run) {
  const bool reached = has && run.visit(e);
  append(reached, reached ? run.graph.target(e) : 0, run);
}

/// Visits the edges of a group, beginning with edge `begin`, every `stride`-th for a thread. All
/// threads of the block call it.
__device__ inline void visit_edges(const heavy_group& group, edge_count begin, edge_count stride,
                                   const search_run& run) {
  for (edge_count at = begin; at < group.edges; at += stride) {
    const edge_count j = at + threadIdx.x;
    edge_count e = 0;
    if (j < group.edges) {
      const unsigned i = group.owner_of(j);
      const std::int32_t v = run.list[run.filled].vertices[group.begin + i];
      e = run.graph.first(static_cast<unsigned>(v)) + (j - group.first[i]);
    }
    visit_edge(j < group.edges, e, run);
  }
}

__global__ void __launch_bounds__(threads) visit_group(heavy_group group, search_run run) {
  const traced here(run.trace, __func__);
  run.release_slot();
  visit_edges(group, edge_count{blockIdx.x} * threads, edge_count{gridDim.x} * threads, run);
}

__global__ void __launch_bounds__(threads) visit_frontier(unsigned count, search_run run) {
  const traced here(run.trace, __func__);
  // No grid of this step reads the size of its list. The next step fills the list.
  if (blockIdx.x == 0 && threadIdx.x == 0) run.state->listed[run.filled] = {0};
  // 1. Split: thread i has vertex i of the frontier.
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  edge_count e = 0;
  edge_count degree = 0;
  if (i < count) {
    const auto v = static_cast<unsigned>(run.list[run.filled].vertices[i]);
    e = run.graph.first(v);
    degree = run.graph.degree(v);
  }
  const bool is_heavy = degree >= heavy_degree;
  const edge_count end = is_heavy ? e : e + degree;
  for (; __any_sync(full_warp_mask, e < end) != 0; ++e) visit_edge(e < end, e, run);
  // 2. The heavy vertices of the block get one grid.
  __shared__ group_scan::TempStorage storage;
  const heavy_group group = gather(is_heavy ? degree : 0, run, storage);
  bool is_launched = false;
  if (threadIdx.x == 0 && group.edges > 0) {
    const launch_shape shape{blocks_for(group.edges), threads};
    is_launched =
        run.acquire_slot() &&
        run.launched(launch(visit_group, shape, fire_and_forget(), group, run.below()), __func__);
  }
  // 3. Without a slot the block visits their edges.
  if (__syncthreads_or(is_launched ? 1 : 0) == 0) visit_edges(group, 0, threads, run);
}

inline void search(ladder_run& host) {
  search_run run = host.begin();
  frontier_size size = host.list_source();
  while (size.vertices() > 0) {
    host.launch_grid(visit_frontier, blocks_for(size.vertices()), size.vertices(), run);
    size = host.next_frontier(run);
  }
}

}  // namespace ladder::rung_6
