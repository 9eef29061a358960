// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The number of triangles of a graph, by one operator (graph_rounds()): for each edge from u to v
/// with u < v, the common neighbors above v close triangles. The operator finds them by a merge of
/// the two lists of neighbors.
///
/// The graph must be symmetric, with the targets of each vertex in ascending order, without
/// repeated edges. Self-loops are ignored. O(sum of the degrees of both ends of all edges) work.

#include <ramify/graph.cuh>

namespace examples::inline RAMIFY_BUILD {

struct triangles {
  struct state {
    unsigned long long count = 0;  // result
  };
  struct close : ramify::all_edges {};
  using step = ramify::graph_step<close>;

  const std::int64_t* offsets;  // of the graph
  const std::int32_t* targets;

  __device__ void operator()(close, state& s, ramify::graph_edge e) const {
    if (e.source >= e.target) return;
    std::int64_t a = offsets[e.source], b = offsets[e.target];
    const std::int64_t end_a = offsets[e.source + 1], end_b = offsets[e.target + 1];
    unsigned long long found = 0;
    while (a < end_a && b < end_b) {
      const std::int32_t of_source = targets[a], of_target = targets[b];
      if (of_source == of_target && of_source > e.target) ++found;
      if (of_source <= of_target) ++a;
      if (of_source >= of_target) ++b;
    }
    if (found > 0) atomicAdd(&s.count, found);
  }
  __device__ step next(state&, const ramify::graph_round<step>&) const { return step::done(); }
};

}  // namespace examples::inline RAMIFY_BUILD
