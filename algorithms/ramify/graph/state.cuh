// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The state of the launch chains of the graph algorithms: the phase, the size of the graph, the
/// faults of its arrays, and the sizes of the frontiers.

#include <cstdint>
#include <ramify/graph/frontier.cuh>

namespace ramify::detail::graph::inline RAMIFY_BUILD {

/// The phases of the algorithms.
enum class graph_phase : unsigned {
  nothing,  ///< before the first phase
  check,
  initialize,
  edges,         ///< for every edge of the frontier
  bottom_up,     ///< of breadth-first search
  list_found,    ///< of breadth-first search
  next_bucket,   ///< of shortest paths
  list_source,   ///< of shortest paths
  write_paths,   ///< of shortest paths
  flatten,       ///< of connected components
  update_ranks,  ///< of PageRank
  write_ranks,   ///< of PageRank
  vertices,      ///< an operator of the caller over vertices
  done,
};

/// The index that stands for no fault.
inline constexpr edge_count no_index = ~edge_count{0};

/// Faults of the arrays: the smallest faulty index of each.
struct graph_faults {
  edge_count offset = no_index;  ///< an offset that decreases, or a wrong first or last one
  edge_count target = no_index;  ///< a target that is no vertex
  edge_count in_offset = no_index;
  edge_count in_source = no_index;
  edge_count weight = no_index;  ///< a weight that is negative or not a number

  [[nodiscard]] __host__ __device__ bool any() const {
    return offset != no_index || target != no_index || in_offset != no_index ||
           in_source != no_index || weight != no_index;
  }
};

/// The numbers of vertices and of edges as they are in device memory. They may be too large.
struct graph_size {
  std::uint64_t vertices;
  std::uint64_t edges;
};

/// The state of a chain. `Own` is the algorithm's part. The blocks read the state at the start of
/// each phase. The first 32 bytes, a sector of the cache, have what a top-down search and
/// operators then read, with the first 8 bytes of `own`.
template <class Own>
struct round_state {
  graph_phase last = graph_phase::nothing;  ///< of the last complete phase
  unsigned round = 0;                       ///< rounds that are complete
  frontier_size sizes[2]{};                 ///< of the frontiers: round r visits list r % 2
  Own own{};
  unsigned vertices = 0;
  /// Consecutive phases of visit_rounds() after which a thin round was due.
  unsigned thin_rounds = 0;
  edge_count edges = 0;
  frontier_size aggregated{};  ///< of the list of child_grids
  graph_faults faults;

  /// Returns the size of the frontier of the next round.
  [[nodiscard]] __host__ __device__ frontier_size frontier() const { return sizes[round % 2]; }
};

/// Returns the phase that is due in every algorithm, or `nothing` if the algorithm decides.
template <class State>
[[nodiscard]] __host__ __device__ graph_phase due_first(const State& s) {
  if (s.last == graph_phase::nothing) return graph_phase::check;
  if (s.last == graph_phase::done) return graph_phase::done;  // set by read_graph_size()
  if (s.last != graph_phase::check) return graph_phase::nothing;
  return s.faults.any() ? graph_phase::done : graph_phase::initialize;
}

}  // namespace ramify::detail::graph::inline RAMIFY_BUILD
