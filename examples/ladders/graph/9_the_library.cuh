// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 9: the library.
///
/// Changed      The host launches once. A grid runs consecutive steps as long as its blocks
///              suffice; then its last block launches the grid of the next step. Bottom-up steps
///              use a bitmap of the vertices that have a level, instead of the levels: 32 times as
///              many fit into a cache. One block runs many consecutive steps with small
///              frontiers in one grid. The vertices of a block's edges are in shared memory.
/// Why          A host round trip costs 12 us, and a nested launch as much (H200). In a road
///              network, whose frontiers are small, they take most of the time.
/// Launch tree  A chain of steps.
/// Join         None: the host's stream waits for the chain.
/// Cost         See algorithms/ramify/graph/README.md and benchmarks/graph.md.

#include <ramify/graph.cuh>

#include "search_run.cuh"

namespace ladder::rung_9 {

inline void search(ladder_run& host) {
  const csr& graph = host.graph();
  const auto view = graph_view::symmetric({graph.offsets, std::size_t{graph.vertices} + 1},
                                          {graph.targets, graph.edges});
  bfs_options options;
  options.check_graph = false;  // the other rungs do not check it either
  host.set_report(breadth_first_search(
      view, host.source(), {.levels = host.levels()}, options,
      {.stream = host.stream(), .route = route::device, .trace = host.trace()}));
}

}  // namespace ladder::rung_9
