// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 1: one thread per vertex. The host launches one grid over all vertices for each level.
///
/// Launch tree  None: a sequence of grids.
/// Join         The host's stream.
/// Cost         A step reads the levels of all vertices, also if its frontier is small: O(levels *
///              n + m) work. A grid takes as long as the vertex with the most edges, and a warp as
///              long as the one with the most in the warp. Neighboring threads read edges that are
///              far apart. A launch and a host round trip for each level, 12 us (H200).

#include "search_run.cuh"

namespace ladder::rung_1 {

__global__ void __launch_bounds__(threads) visit_level(search_run run) {
  const traced here(run.trace, __func__);
  // 1. Split: thread v has vertex v.
  const unsigned v = blockIdx.x * threads + threadIdx.x;
  bool reached = false;
  // 2. If v is in the frontier, the thread visits its edges.
  if (v < run.graph.vertices && run.in_frontier(v)) {
    for (edge_count e = run.graph.first(v); e < run.graph.end(v); ++e) {
      if (run.visit(e)) reached = true;
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

}  // namespace ladder::rung_1
