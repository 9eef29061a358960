// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 4: a child grid for each heavy vertex (dynamic parallelism).
///
/// Changed      One thread per vertex again, as in rung 1. A thread that finds a vertex with many
///              edges launches a child grid, with one thread for each of its edges.
/// Why          The number of threads fits each vertex: one for a vertex with few edges, thousands
///              for a heavy one.
/// Launch tree  The grid of a step, and a child for each heavy vertex of its frontier.
/// Join         A grid is complete when its children are complete. The next step follows it in the
///              host's stream.
/// Cost         A launch for each heavy vertex. Vertices below the threshold make a warp wait, as
///              in rung 1. Without a launch slot the thread visits the edges of the heavy vertex
///              alone.

#include "search_run.cuh"

namespace ladder::rung_4 {

__global__ void __launch_bounds__(threads) visit_vertex(unsigned v, search_run run) {
  const traced here(run.trace, __func__);
  run.release_slot();
  const edge_count e = run.graph.first(v) + edge_count{blockIdx.x} * threads + threadIdx.x;
  run.end_step(e < run.graph.end(v) && run.visit(e));
}

/// Launches a grid for the edges of v. Returns false if there is no launch slot.
__device__ inline bool launch_grid_for(unsigned v, const search_run& run) {
  const launch_shape shape{blocks_for(run.graph.degree(v)), threads};
  return run.acquire_slot() &&
         run.launched(launch(visit_vertex, shape, fire_and_forget(), v, run.below()), __func__);
}

__global__ void __launch_bounds__(threads) visit_level(search_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread v has vertex v.
  const unsigned v = blockIdx.x * threads + threadIdx.x;
  bool reached = false;
  if (v < run.graph.vertices && run.in_frontier(v)) {
    const bool is_heavy = run.graph.degree(v) >= heavy_degree;
    // 2. A heavy vertex gets a grid.
    if (!is_heavy || !launch_grid_for(v, run)) {
      // 3. The thread visits the edges of another one.
      for (edge_count e = run.graph.first(v); e < run.graph.end(v); ++e) {
        if (run.visit(e)) reached = true;
      }
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

}  // namespace ladder::rung_4
