// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Connected components by union and find (disjoint_sets).
///
///     edges     for every edge: finds the roots of both ends, and hooks the larger root to the
///               smaller one
///     flatten   writes the root of each vertex, the smallest vertex of its component
///
/// Join: see rounds.cuh; there is one round.

#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/disjoint_sets.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The part of connected components in the state of the chain.
struct components_state {
  unsigned components = 0;
};

/// Makes each vertex a root.
struct initialize_components {
  static constexpr graph_phase phase = graph_phase::initialize;
  static __device__ const char* name() { return "initialize_components"; }

  template <class Program>
  __device__ explicit initialize_components(const Program& program)
      : labels(program.search.labels) {}

  __device__ void visit(bool has, unsigned v) const {
    if (has) labels[v] = v;
  }

  unsigned* labels;
};

/// Writes the root of each vertex, and counts the roots.
struct flatten {
  static constexpr graph_phase phase = graph_phase::flatten;
  static __device__ const char* name() { return "flatten"; }

  template <class Program>
  __device__ explicit flatten(const Program& program)
      : to(program.search.to),
        labels(program.search.labels),
        components(&program.state->own.components) {}

  __device__ void visit(bool has, unsigned v) {
    if (!has) return;
    unsigned root = v;
    while (labels[root] != root) root = labels[root];
    if (root == v) ++roots;
    if (to != nullptr) to[v] = static_cast<std::int32_t>(root);
  }
  __device__ void end() const { add_by_warp(*components, roots); }

  std::int32_t* to;
  const unsigned* labels;
  unsigned* components;
  unsigned roots = 0;
};

/// Visits an edge: unites the components of its ends.
struct hook {
  csr out;
  disjoint_sets sets;
  edge_frontier from;
  bool is_symmetric;

  __device__ void operator()(bool has, unsigned i, edge_count e) const {
    if (!has) return;
    const unsigned u = from.vertex(i);
    const unsigned v = out.target(e);
    // A symmetric graph has each edge in both directions; one is enough.
    if (u == v || (is_symmetric && u < v)) return;
    sets.unite(u, v);
  }
};

/// Connected components, the Search of graph_program.
struct union_find {
  using state = round_state<components_state>;
  using phases = vertex_phases<initialize_components, flatten>;

  std::int32_t* to;
  unsigned* labels;
  bool is_symmetric;

  [[nodiscard]] __host__ __device__ graph_phase due(const state& s) const {
    if (const graph_phase first = due_first(s); first != graph_phase::nothing) return first;
    if (s.last == graph_phase::flatten) return graph_phase::done;
    return s.frontier().edges() > 0 ? graph_phase::edges : graph_phase::flatten;
  }
  __host__ __device__ void begin(state& s) const {
    s.sizes[0] = frontier_size::of(s.vertices, s.edges);
  }
  __device__ void end_round(state&) const {}
  __device__ void end_phase(state&, graph_phase) const {}

  template <class Program>
  [[nodiscard]] __device__ hook visitor(const Program& program, const edge_frontier& from) const {
    return {program.out, {labels}, from, is_symmetric};
  }

  // ---- on the host ----

  using report_type = components_report;
  static constexpr bool has_lists = false;  // the frontier is the whole graph

  __host__ __device__ void take(memory_layout& memory, std::size_t n) {
    labels = memory.take<unsigned>(n);
  }
  void complete(report_type& report, const state& s) const { report.components = s.own.components; }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
