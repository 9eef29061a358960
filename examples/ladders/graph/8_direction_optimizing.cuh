// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 8: large levels are searched bottom-up (direction optimizing).
///
/// Changed      If the frontier has many edges, a step has a thread for each vertex without a
///              level. The thread reads the vertex's edges until it finds a neighbor in the
///              frontier. The host chooses the direction of each step.
/// Why          In a Kronecker graph, one or two levels have nearly all edges, and most of these
///              lead to vertices that have a level already. Bottom-up, a vertex of the next level
///              stops at its first neighbor in the frontier. So most edges are never read.
/// Launch tree  None, as before.
/// Join         The host's stream, as before.
/// Cost         A bottom-up step reads all levels, and all edges of the vertices that it does not
///              reach. A road network never has a large level: there this rung equals rung 7.
///              (Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search", SC
///              2012, also for alpha and beta.)

#include "7_balanced.cuh"

namespace ladder::rung_8 {

__global__ void __launch_bounds__(threads) visit_open_vertices(search_run run) {
  const traced here(run.trace, __func__);
  if (blockIdx.x == 0 && threadIdx.x == 0) run.state->listed[run.filled] = {0};
  // 1. Split: thread v has vertex v.
  const unsigned v = blockIdx.x * threads + threadIdx.x;
  bool reached = false;
  if (v < run.graph.vertices && load_relaxed(run.levels[v]) == unreached) {
    // 2. Search for a neighbor in the frontier. Only this thread gives v a level.
    for (edge_count e = run.graph.first(v); !reached && e < run.graph.end(v); ++e) {
      reached = run.in_frontier(run.graph.target(e));
    }
    if (reached) atomicExch(&run.levels[v], run.level + 1);
  }
  rung_7::append(reached, v, run);
}

inline void search(ladder_run& host) {
  constexpr edge_count alpha = 15;
  constexpr unsigned beta = 18;
  search_run run = host.begin();
  frontier_size size = host.list_source();
  edge_count open_edges = run.graph.edges;  // of vertices that were in no frontier
  bool bottom_up = false;
  while (size.edges() > 0) {
    // 3. Choose the direction.
    open_edges -= size.edges();
    const bool has_most_edges =
        size.edges() > open_edges / alpha && size.edges() > run.graph.vertices / 16;
    bottom_up = bottom_up ? size.vertices() >= run.graph.vertices / beta : has_most_edges;
    if (bottom_up) {
      host.launch_grid(visit_open_vertices, blocks_for(run.graph.vertices), run);
    } else {
      rung_7::launch_step(size, run, host);
    }
    size = host.next_frontier(run);
  }
}

}  // namespace ladder::rung_8
