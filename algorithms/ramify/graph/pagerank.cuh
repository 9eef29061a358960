// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// PageRank by power iteration.
///
///     edges          for every edge: the target receives the share of the source
///     update_ranks   for every vertex: computes the new rank, its change, and the share that each
///                    edge of the vertex carries
///     write_ranks    writes the output
///
/// Ranks are integers, in units of 2^-62. Sums of integers do not depend on the order of the atomic
/// additions, so results are the same in every run, with every strategy.
///
/// Join: see rounds.cuh. Source: Page, Brin, Motwani, Winograd, "The PageRank citation ranking:
/// bringing order to the web", Stanford, 1999.

#include <ramify/graph/rounds.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// A rank in units of 2^-62.
using rank = unsigned long long;
inline constexpr rank rank_one = rank{1} << 62;

/// The part of PageRank in the state of the chain. The members named _after are sums that the
/// running phase adds to.
struct pagerank_state {
  rank dangling = 0;  ///< sum of the ranks of the vertices without edges
  rank dangling_after = 0;
  rank change = 0;  ///< sum of the absolute changes in the last iteration
  rank change_after = 0;
  unsigned iterations = 0;
};

/// The arrays of the iteration, and the sums over the vertices of a warp.
struct rank_update {
  csr out;
  rank* ranks;
  rank* shares;
  rank* received;
  rank dangling = 0;

  template <class Program>
  __device__ explicit rank_update(const Program& program)
      : out(program.out),
        ranks(program.search.ranks),
        shares(program.search.shares),
        received(program.search.received) {}

  /// Stores the rank of a vertex and the share of its edges, and clears what it received.
  __device__ void store(unsigned v, rank value) {
    const edge_count degree = out.degree(v);
    ranks[v] = value;
    shares[v] = degree > 0 ? value / degree : 0;
    received[v] = 0;
    if (degree == 0) dangling += value;
  }
};

/// Gives each vertex the same rank.
struct initialize_ranks : rank_update {
  static constexpr graph_phase phase = graph_phase::initialize;
  static __device__ const char* name() { return "initialize_ranks"; }

  template <class Program>
  __device__ explicit initialize_ranks(const Program& program)
      : rank_update(program), own(&program.state->own), first(rank_one / program.state->vertices) {}

  __device__ void visit(bool has, unsigned v) {
    if (has) store(v, first);
  }
  __device__ void end() const { add_by_warp(own->dangling_after, dangling); }

  pagerank_state* own;
  rank first;
};

/// Computes the new rank of each vertex.
struct update_ranks : rank_update {
  static constexpr graph_phase phase = graph_phase::update_ranks;
  static __device__ const char* name() { return "update_ranks"; }

  template <class Program>
  __device__ explicit update_ranks(const Program& program)
      : rank_update(program),
        own(&program.state->own),
        damping(program.search.damping),
        // Without fma(), nvcc may fuse different products in kernels of different strategies.
        everywhere(fma(damping, static_cast<double>(own->dangling),
                       (1 - damping) * static_cast<double>(rank_one)) /
                   program.state->vertices) {}

  __device__ void visit(bool has, unsigned v) {
    if (!has) return;
    const rank before = ranks[v];
    const auto after =
        static_cast<rank>(fma(damping, static_cast<double>(received[v]), everywhere));
    change += after > before ? after - before : before - after;
    store(v, after);
  }
  __device__ void end() const {
    add_by_warp(own->dangling_after, dangling);
    add_by_warp(own->change_after, change);
  }

  pagerank_state* own;
  double damping;
  double everywhere;  ///< what each vertex receives from the walks that continue at any vertex
  rank change = 0;
};

/// Writes the output.
struct write_ranks {
  static constexpr graph_phase phase = graph_phase::write_ranks;
  static __device__ const char* name() { return "write_ranks"; }

  template <class Program>
  __device__ explicit write_ranks(const Program& program)
      : to(program.search.to), ranks(program.search.ranks) {}

  __device__ void visit(bool has, unsigned v) const {
    if (has) to[v] = static_cast<double>(ranks[v]) / static_cast<double>(rank_one);
  }

  double* to;
  const rank* ranks;
};

/// Visits an edge: the target receives the share of the source.
struct spread {
  csr out;
  const rank* shares;
  rank* received;
  edge_frontier from;

  __device__ void operator()(bool has, unsigned i, edge_count e) const {
    if (has) atomicAdd(&received[out.target(e)], shares[from.vertex(i)]);
  }
};

/// PageRank, the Search of graph_program.
struct power_iteration {
  using state = round_state<pagerank_state>;
  using phases = vertex_phases<initialize_ranks, update_ranks, write_ranks>;

  double* to;
  rank* ranks;
  rank* shares;
  rank* received;
  double damping;
  rank tolerance;
  unsigned max_iterations;

  [[nodiscard]] __host__ __device__ graph_phase due(const state& s) const {
    if (const graph_phase first = due_first(s); first != graph_phase::nothing) return first;
    if (s.last == graph_phase::write_ranks) return graph_phase::done;
    if (s.last == graph_phase::edges) return graph_phase::update_ranks;
    if (s.last == graph_phase::update_ranks && is_complete(s)) {
      return to == nullptr ? graph_phase::done : graph_phase::write_ranks;
    }
    return s.edges > 0 ? graph_phase::edges : graph_phase::update_ranks;
  }
  [[nodiscard]] __host__ __device__ bool is_complete(const state& s) const {
    return s.own.change <= tolerance || s.own.iterations >= max_iterations;
  }

  __device__ void end_round(state&) const {}
  __device__ void end_phase(state& s, graph_phase phase) const {
    if (phase != graph_phase::initialize && phase != graph_phase::update_ranks) return;
    s.own.dangling = s.own.dangling_after;
    s.own.dangling_after = 0;
    s.own.change = s.own.change_after;
    s.own.change_after = 0;
    if (phase == graph_phase::update_ranks) ++s.own.iterations;
    s.sizes[s.round % 2] = frontier_size::of(s.vertices, s.edges);  // the whole graph
  }

  template <class Program>
  [[nodiscard]] __device__ spread visitor(const Program& program, const edge_frontier& from) const {
    return {program.out, shares, received, from};
  }

  // ---- on the host ----

  using report_type = pagerank_report;
  static constexpr bool has_lists = false;  // the frontier is the whole graph

  __host__ __device__ void take(memory_layout& memory, std::size_t n) {
    for (rank** array : {&ranks, &shares, &received}) *array = memory.take<rank>(n);
  }
  void complete(report_type& report, const state& s) const {
    report.iterations = s.own.iterations;
    report.change = static_cast<double>(s.own.change) / static_cast<double>(rank_one);
    report.converged = s.own.change <= tolerance;
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
