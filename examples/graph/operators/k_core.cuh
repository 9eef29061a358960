// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The cores of a graph, by operators (graph_rounds()). The k-core is what is left when vertices
/// with fewer than k neighbors are removed until there are none. The core number of a vertex is the
/// largest k whose k-core contains it.
///
///     find   lists the vertices that have at most k neighbors left
///     peel   removes the vertices of the frontier: each neighbor loses an edge. Those that k edges
///            are left to are removed next
///
/// The graph must be symmetric, without self-loops and repeated edges. O(n * largest k + m) work.

#include <ramify/graph.cuh>

namespace examples::inline RAMIFY_BUILD {

struct k_core {
  struct state {
    int k = 0;
    unsigned removed = 0;
  };
  struct begin : ramify::all_vertices {};
  struct find : ramify::all_vertices {};
  struct peel : ramify::frontier_edges, ramify::distinct_targets {};
  using step = ramify::graph_step<begin, find, peel>;

  const std::int64_t* offsets;  // of the graph
  int* degrees;                 // scratch, for each vertex: the edges to vertices that are left
  int* cores;                   // result: the core number of each vertex

  __device__ void operator()(begin, state&, int v) const {
    degrees[v] = static_cast<int>(offsets[v + 1] - offsets[v]);
    cores[v] = -1;
  }
  __device__ bool operator()(find, state& s, int v) const {
    if (cores[v] != -1 || degrees[v] > s.k) return false;
    cores[v] = s.k;
    return true;
  }
  __device__ bool operator()(peel, state& s, ramify::graph_edge e) const {
    if (atomicSub(&degrees[e.target], 1) != s.k + 1) return false;
    cores[e.target] = s.k;
    return true;
  }
  __device__ step next(state& s, const ramify::graph_round<step>& after) const {
    s.removed += after.frontier.vertices;
    if (after.frontier.vertices > 0) return peel{};
    if (s.removed == after.graph.vertices) return step::done();
    if (after.last != begin{}) ++s.k;
    return find{};
  }
};

}  // namespace examples::inline RAMIFY_BUILD
