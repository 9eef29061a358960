// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Label propagation, by operators (graph_rounds()): some vertices have known labels. In each
/// round, each other vertex takes the label that most edges to it come from, the smallest of
/// several. The loop ends when no label changes, or after a maximum number of rounds, because
/// labels can alternate.
///
///     vote     each vertex whose label has changed moves the votes of its edges to the new label.
///              The next frontier has the vertices whose votes have changed
///     decide   each vertex of the frontier counts its votes. The next frontier has those that
///              change their label
///
/// Source: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in
/// large-scale networks", Phys. Rev. E 76, 2007; with seeds as Zhu, Ghahramani, 2002.

#include <ramify/graph.cuh>

namespace examples::inline RAMIFY_BUILD {

struct label_propagation {
  struct state {
    unsigned rounds = 0;
  };
  struct begin : ramify::all_vertices {};
  struct vote : ramify::frontier_edges {};
  struct decide : ramify::frontier_vertices {};
  using step = ramify::graph_step<begin, vote, decide>;

  const int* seeds;  // the known label of each vertex; -1: unknown
  int labels;        // labels are 0 ... labels - 1
  unsigned max_rounds;
  int* votes;   // scratch: n * labels elements
  int* before;  // scratch, for each vertex: the label that its edges have voted for
  int* result;  // the label of each vertex; -1: no path leads from a seed to the vertex

  __device__ bool operator()(begin, state&, int v) const {
    for (int l = 0; l < labels; ++l) votes[std::int64_t{v} * labels + l] = 0;
    before[v] = -1;
    result[v] = seeds[v];
    return seeds[v] >= 0;
  }
  __device__ bool operator()(vote, state&, ramify::graph_edge e) const {
    int* of_target = votes + std::int64_t{e.target} * labels;
    if (before[e.source] >= 0) atomicSub(&of_target[before[e.source]], 1);
    atomicAdd(&of_target[result[e.source]], 1);
    return seeds[e.target] < 0;
  }
  __device__ bool operator()(decide, state&, int v) const {
    const int* of_vertex = votes + std::int64_t{v} * labels;
    int best = 0;
    for (int l = 1; l < labels; ++l) best = of_vertex[l] > of_vertex[best] ? l : best;
    before[v] = result[v];
    result[v] = best;
    return best != before[v];
  }
  __device__ step next(state& s, const ramify::graph_round<step>& after) const {
    if (after.last == vote{}) return decide{};
    if (after.last == decide{}) ++s.rounds;
    return after.frontier.vertices > 0 && s.rounds < max_rounds ? vote{} : step::done();
  }
};

}  // namespace examples::inline RAMIFY_BUILD
