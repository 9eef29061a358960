// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Betweenness centrality, by operators (graph_rounds()): for each vertex v the sum, over pairs of
/// a source s and a vertex t, of the fraction of the shortest paths from s to t that v is inside.
/// One source after the other:
///
///     forward   breadth-first search that counts the shortest paths to each vertex
///     select    lists the vertices of a level
///     back      from the deepest level on: a vertex gets its share of the paths that continue over
///               its edges
///
/// Source: Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25, 2001.
/// O(m + n * levels) work for each source. All sources of a symmetric graph count each pair twice.

#include <ramify/graph.cuh>

namespace examples::inline RAMIFY_BUILD {

struct betweenness {
  struct state {
    int source = 0;
    int level = 0;
  };
  struct begin : ramify::all_vertices {};
  struct forward : ramify::frontier_edges {};
  struct select : ramify::all_vertices {};
  struct back : ramify::frontier_edges {};
  using step = ramify::graph_step<begin, forward, select, back>;

  int sources;     // the sources are the vertices 0 ... sources - 1
  int* levels;     // these three: scratch for each vertex
  double* paths;   // shortest paths from the source
  double* shares;  // of the paths from the source to all other vertices
  double* scores;  // result for each vertex

  __device__ bool operator()(begin, state& s, int v) const {
    if (s.source == 0) scores[v] = 0;
    const bool is_source = v == s.source;
    levels[v] = is_source ? 0 : -1;
    paths[v] = is_source ? 1 : 0;
    shares[v] = 0;
    return is_source;
  }
  __device__ bool operator()(forward, state& s, ramify::graph_edge e) const {
    const int before = atomicCAS(&levels[e.target], -1, s.level + 1);
    if (before != -1 && before != s.level + 1) return false;
    atomicAdd(&paths[e.target], paths[e.source]);
    return true;
  }
  __device__ bool operator()(select, state& s, int v) const {
    if (levels[v] == s.level + 1) scores[v] += shares[v];
    return levels[v] == s.level;
  }
  __device__ void operator()(back, state& s, ramify::graph_edge e) const {
    if (levels[e.target] != s.level + 1) return;
    atomicAdd(&shares[e.source], paths[e.source] / paths[e.target] * (1 + shares[e.target]));
  }
  __device__ step next(state& s, const ramify::graph_round<step>& after) const {
    if (after.last == begin{}) s.level = 0;
    if (after.last == begin{}) return forward{};
    if (after.last == forward{} && after.frontier.vertices > 0) return ++s.level, forward{};
    if (after.last == select{} && s.level > 0) return back{};
    if (s.level > 0) return --s.level, select{};
    return ++s.source < sources ? begin{} : step::done();
  }
};

}  // namespace examples::inline RAMIFY_BUILD
