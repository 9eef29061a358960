// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 3: one block per vertex.
///
/// Changed      All threads of a block visit the edges of one vertex.
/// Why          A vertex with 100,000 edges takes an eighth of the time of rung 2. Nothing else
///              becomes faster: this rung shows that no fixed number of threads fits all vertices.
/// Launch tree  None, as before.
/// Join         The host's stream, as before.
/// Cost         Most vertices have fewer edges than a block has threads. Finding the frontier takes
///              as many reads of levels as there are vertices and threads of a block.

#include "search_run.cuh"

namespace ladder::rung_3 {

__global__ void __launch_bounds__(threads) visit_level(search_run run) {
  const traced here(run.trace, __func__);
  bool reached = false;
  // 1. Split: block b has vertices b, b + the number of blocks, and so on.
  for (unsigned v = blockIdx.x; v < run.graph.vertices; v += gridDim.x) {
    if (!run.in_frontier(v)) continue;
    // 2. The threads visit the edges of the vertex.
    for (edge_count e = run.graph.first(v) + threadIdx.x; e < run.graph.end(v); e += threads) {
      if (run.visit(e)) reached = true;
    }
  }
  run.end_step(reached);
}

inline void search(ladder_run& host) {
  search_run run = host.begin();
  const unsigned blocks = resident_blocks(visit_level, threads, 0);
  do {
    host.launch_grid(visit_level, blocks, run);
  } while (host.next_level(run));
}

}  // namespace ladder::rung_3
