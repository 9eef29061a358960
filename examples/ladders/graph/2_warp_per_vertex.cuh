// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 2: one warp per vertex.
///
/// Changed      The 32 lanes of a warp visit the edges of one vertex. A grid has as many blocks as
///              run at a time, and each warp has many vertices, one after another.
/// Why          Consecutive lanes read consecutive edges, in one transaction, and a vertex with
///              many edges takes a 32nd of the time.
/// Launch tree  None, as before.
/// Join         The host's stream, as before.
/// Cost         A vertex with few edges leaves lanes idle: 28 of 32 in a grid. All lanes read the
///              level of the same vertex, so finding the frontier takes 32 times as many reads.

#include "search_run.cuh"

namespace ladder::rung_2 {

__global__ void __launch_bounds__(threads) visit_level(search_run run) {
  const traced here(run.trace, __func__);
  constexpr unsigned warps = threads / 32;
  bool reached = false;
  // 1. Split: warp w has vertices w, w + the number of warps, and so on.
  for (unsigned v = blockIdx.x * warps + threadIdx.x / 32; v < run.graph.vertices;
       v += gridDim.x * warps) {
    if (!run.in_frontier(v)) continue;
    // 2. The lanes visit the edges of the vertex.
    for (edge_count e = run.graph.first(v) + threadIdx.x % 32; e < run.graph.end(v); e += 32) {
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

}  // namespace ladder::rung_2
