// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 5: one child grid for all heavy vertices of a block (aggregation).
///
/// Changed      Threads do not launch. A scan over the block numbers the edges of all its heavy
///              vertices, and one thread launches one grid over them. A thread of the child finds
///              its vertex by binary search in the numbers.
/// Why          Fewer and larger grids. A block without a launch slot visits the edges itself, with
///              all its threads.
/// Launch tree  The grid of a step, and at most one child for each of its blocks.
/// Join         As before: a grid is complete when its children are complete.
/// Cost         A scan in each block, also in those without heavy vertices, and a write of 8 bytes
///              for each vertex. Each thread of a child searches for its vertex, in 8 steps.

#include "heavy_group.cuh"

namespace ladder::rung_5 {

/// Visits edge j of a group. Returns whether its target got the next level.
__device__ inline bool visit_edge(const heavy_group& group, edge_count j, const search_run& run) {
  const unsigned i = group.owner_of(j);
  return run.visit(run.graph.first(group.begin + i) + (j - group.first[i]));
}

__global__ void __launch_bounds__(threads) visit_group(heavy_group group, search_run run) {
  const traced here(run.trace, __func__);
  run.release_slot();
  const edge_count j = edge_count{blockIdx.x} * threads + threadIdx.x;
  run.end_step(j < group.edges && visit_edge(group, j, run));
}

__global__ void __launch_bounds__(threads) visit_level(search_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread v has vertex v.
  const unsigned v = blockIdx.x * threads + threadIdx.x;
  const bool has_vertex = v < run.graph.vertices && run.in_frontier(v);
  const edge_count degree = has_vertex ? run.graph.degree(v) : 0;
  const bool is_heavy = degree >= heavy_degree;
  bool reached = false;
  if (has_vertex && !is_heavy) {
    for (edge_count e = run.graph.first(v); e < run.graph.end(v); ++e) {
      if (run.visit(e)) reached = true;
    }
  }
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
  if (__syncthreads_or(is_launched ? 1 : 0) == 0) {
    for (edge_count j = threadIdx.x; j < group.edges; j += threads) {
      if (visit_edge(group, j, run)) reached = true;
    }
  }
  run.end_step(reached);
}

inline void search(ladder_run& host) {
  search_run run = host.begin();
  do {
    host.launch_grid(visit_level, blocks_for(run.graph.vertices), run);
  } while (host.next_level(run));
}

}  // namespace ladder::rung_5
