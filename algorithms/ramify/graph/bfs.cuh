// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Breadth-first search. A round finds the vertices of the next level:
///
///     top-down     for every edge of the frontier: a target that is not closed yet is closed and
///                  appended to the next frontier
///     bottom-up    for every open vertex: its edges by target are read until one comes from a
///                  closed vertex. The vertices that are found are closed after the level
///     list_found   before top-down follows bottom-up: lists the vertices that the last level
///                  closed
///
/// A vertex is closed if it is reached, or if it has no edges; otherwise it is open. A bitmap has
/// a bit for each vertex, which is set if it is closed. A bottom-up level needs no bitmap of its
/// frontier: a closed neighbor of an open vertex was closed in the previous level. If it had been
/// closed earlier, a level since then would have closed the open vertex.
///
/// Join: see rounds.cuh. Sources: Beamer, Asanović, Patterson, "Direction-optimizing breadth-first
/// search", SC 2012; Merrill, Garland, Grimshaw, PPoPP 2012.

#include <ramify/graph/rounds.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The part of a search in the state of its chain.
struct bfs_state {
  unsigned bitmap = 0;             ///< index of the bitmap of closed vertices
  unsigned found = 0;              ///< vertices that the last bottom-up level found
  edge_count unexplored = 0;       ///< edges that were in no frontier of a top-down level
  unsigned long long reached = 0;  ///< vertices of the levels before the frontier
  unsigned next_found = 0;         ///< vertices that the running bottom-up level has found so far
  unsigned bottom_up_levels = 0;
};

/// Writes the level and the parent of a vertex; -1: no parent.
__device__ inline void write(const bfs_arrays& to, unsigned v, int level, int parent) {
  if (to.levels != nullptr) to.levels[v] = level;
  if (to.parents != nullptr) to.parents[v] = parent;
}

/// Closes the source and the vertices without edges, and makes the first frontier.
struct initialize_bfs {
  static constexpr graph_phase phase = graph_phase::initialize;
  static __device__ const char* name() { return "initialize_bfs"; }

  template <class Program>
  __device__ explicit initialize_bfs(const Program& program)
      : in(program.in),
        to(program.search.to),
        closed(program.search.closed[0]),
        source(program.search.source),
        first(program.writer_of(0)) {}

  __device__ void visit(bool has, unsigned v) const {
    const bool is_source = has && v == source;
    bool closes = is_source;
    if (has) {
      write(to, v, is_source ? 0 : -1, -1);
      // Only bottom-up levels gain from closed vertices without edges.
      if (in.offsets != nullptr && first.out.degree(v) == 0 && in.degree(v) == 0) closes = true;
    }
    const unsigned word = __ballot_sync(full_warp_mask, closes);
    if (threadIdx.x % 32 == 0) closed[v / 32] = word;
    first.append(is_source, v);
  }

  csr in;
  bfs_arrays to;
  unsigned* closed;
  unsigned source;
  frontier_writer first;
};

/// Searches a level bottom-up.
struct bottom_up {
  static constexpr graph_phase phase = graph_phase::bottom_up;
  static __device__ const char* name() { return "bottom_up"; }

  template <class Program>
  __device__ explicit bottom_up(const Program& program)
      : in(program.in),
        to(program.search.to),
        closed(program.search.closed[program.state->own.bitmap]),
        next_closed(program.search.closed[1 - program.state->own.bitmap]),
        next_found(&program.state->own.next_found),
        level(static_cast<int>(program.state->round) + 1) {}

  [[nodiscard]] __device__ unsigned vertices_of(unsigned word) const {
    next_closed[word] = closed[word];
    return ~closed[word];
  }
  __device__ void visit(bool has, unsigned v) {
    bool is_found = false;
    edge_count e = has ? in.first(v) : 0;
    const edge_count end = has ? e + in.degree(v) : 0;
    for (; e < end && !is_found; ++e) {
      const unsigned u = in.target(e);
      is_found = (closed[u / 32] >> u % 32 & 1) != 0;
      if (is_found) write(to, v, level, static_cast<int>(u));
    }
    const unsigned word = __ballot_sync(full_warp_mask, is_found);
    if (word == 0 || threadIdx.x % 32 != 0) return;
    next_closed[v / 32] = closed[v / 32] | word;
    found += static_cast<unsigned>(__popc(word));
  }
  __device__ void end() const {
    if (found > 0) atomicAdd(next_found, found);
  }

  csr in;
  bfs_arrays to;
  const unsigned* closed;
  unsigned* next_closed;
  unsigned* next_found;
  int level;
  unsigned found = 0;  ///< in lane 0: vertices that the warp found
};

/// Makes the frontier from the vertices that the last bottom-up level found.
struct list_found {
  static constexpr graph_phase phase = graph_phase::list_found;
  static __device__ const char* name() { return "list_found"; }

  template <class Program>
  __device__ explicit list_found(const Program& program)
      : closed(program.search.closed[program.state->own.bitmap]),
        closed_before(program.search.closed[1 - program.state->own.bitmap]),
        frontier(program.writer_of(program.state->round)) {}

  [[nodiscard]] __device__ unsigned vertices_of(unsigned word) const {
    return closed[word] & ~closed_before[word];
  }
  __device__ void visit(bool has, unsigned v) const { frontier.append(has, v); }

  const unsigned* closed;
  const unsigned* closed_before;
  frontier_writer frontier;
};

/// Visits an edge of a top-down level: closes the target if it is open. Of several edges to a
/// vertex, one closes it.
struct top_down {
  bfs_arrays to;
  unsigned* closed;
  frontier_writer next;
  edge_frontier from;

  __device__ void operator()(bool has, unsigned i, edge_count e) const {
    bool is_found = false;
    unsigned v = 0;
    if (has) {
      v = next.out.target(e);
      const unsigned bit = 1u << v % 32;
      // Most targets are closed already, and a read costs less than an atomic operation.
      is_found =
          (load_relaxed(closed[v / 32]) & bit) == 0 && (atomicOr(&closed[v / 32], bit) & bit) == 0;
    }
    if (is_found) {
      write(to, v, static_cast<int>(from.round) + 1, static_cast<int>(from.vertex(i)));
    }
    next.append(is_found, v);
  }
};

/// Breadth-first search, the Search of graph_program.
struct breadth_first {
  using state = round_state<bfs_state>;
  using phases = vertex_phases<initialize_bfs, bottom_up, list_found>;

  bfs_arrays to;
  unsigned* closed[2];  ///< bitmaps
  unsigned source;
  bfs_direction direction;  ///< not automatic
  double alpha, beta;

  [[nodiscard]] __host__ __device__ graph_phase due(const state& s) const {
    if (const graph_phase first = due_first(s); first != graph_phase::nothing) return first;
    if (s.last == graph_phase::bottom_up) {
      if (s.own.found == 0) return graph_phase::done;
      const bool are_few =
          direction == bfs_direction::optimizing && s.own.found * beta < s.vertices;
      return are_few ? graph_phase::list_found : graph_phase::bottom_up;
    }
    const edge_count edges = s.frontier().edges();
    if (edges == 0) return graph_phase::done;
    if (direction == bfs_direction::bottom_up) return graph_phase::bottom_up;
    // A bottom-up level reads the bitmap of all vertices, so it pays only for enough edges.
    const bool has_many =
        s.last != graph_phase::list_found && edges > s.vertices / 16 &&
        static_cast<double>(edges) * alpha > static_cast<double>(s.own.unexplored);
    if (direction == bfs_direction::optimizing && has_many) return graph_phase::bottom_up;
    return graph_phase::edges;
  }

  __host__ __device__ void begin(state& s) const { s.own.unexplored = s.edges; }
  __device__ void end_round(state& s) const {
    s.own.unexplored -= s.frontier().edges();
    s.own.reached += s.frontier().vertices();
  }
  __device__ void end_phase(state& s, graph_phase phase) const {
    if (phase != graph_phase::bottom_up) return;
    s.own.reached += vertices_of_frontier(s);
    s.own.found = s.own.next_found;
    s.own.next_found = 0;
    s.own.bitmap = 1 - s.own.bitmap;
    ++s.own.bottom_up_levels;
    s.sizes[s.round % 2] = {};
    ++s.round;
  }

  /// Returns the number of vertices of the last level.
  [[nodiscard]] static __host__ __device__ unsigned vertices_of_frontier(const state& s) {
    return s.last == graph_phase::bottom_up ? s.own.found : s.frontier().vertices();
  }

  template <class Program>
  [[nodiscard]] __device__ top_down visitor(const Program& program,
                                            const edge_frontier& from) const {
    return {to, closed[program.state->own.bitmap], program.writer_of(from.round + 1), from};
  }

  // ---- on the host ----

  using report_type = bfs_report;
  static constexpr bool has_lists = true;

  __host__ __device__ void take(memory_layout& memory, std::size_t n) {
    for (auto& bitmap : closed) bitmap = memory.take<unsigned>((n + 31) / 32);
  }
  void complete(report_type& report, const state& s) const {
    const unsigned last = vertices_of_frontier(s);
    report.reached = s.own.reached + last;
    report.levels = last > 0 || s.round == 0 ? s.round : s.round - 1;
    report.bottom_up_levels = s.own.bottom_up_levels;
  }
};

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
