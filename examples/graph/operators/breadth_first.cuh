// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Top-down breadth-first search, by operators (graph_rounds()): the levels of all vertices.
///
///     follow   closes the target of an edge if it is open. Of several edges to a vertex, one
///              closes it
///
/// It does the work of ramify::breadth_first_search() with bfs_direction::top_down. O(n + m) work.

#include <ramify/graph.cuh>

namespace examples::inline RAMIFY_BUILD {

struct breadth_first {
  struct state {
    int level = 0;
  };
  struct begin : ramify::all_vertices {};
  struct follow : ramify::frontier_edges, ramify::distinct_targets {};
  using step = ramify::graph_step<begin, follow>;

  int source;
  int* levels;       // result: the level of each vertex; -1: not reached
  unsigned* closed;  // scratch: a bit for each vertex, n / 32 + 1 elements

  __device__ bool operator()(begin, state&, int v) const {
    if (v % 32 == 0) closed[v / 32] = v / 32 == source / 32 ? 1u << source % 32 : 0;
    levels[v] = v == source ? 0 : -1;
    return v == source;
  }
  __device__ bool operator()(follow, state& s, ramify::graph_edge e) const {
    const int level = s.level + 1;  // read before the atomic operation: the loads overlap
    unsigned& word = closed[e.target / 32];
    const unsigned bit = 1u << e.target % 32;
    // Most targets are closed already, and a read costs less than an atomic operation.
    if ((ramify::load_relaxed(word) & bit) != 0 || (atomicOr(&word, bit) & bit) != 0) return false;
    levels[e.target] = level;
    return true;
  }
  __device__ step next(state& s, const ramify::graph_round<step>& after) const {
    if (after.last == follow{}) ++s.level;
    return after.frontier.vertices > 0 ? follow{} : step::done();
  }
};

}  // namespace examples::inline RAMIFY_BUILD
