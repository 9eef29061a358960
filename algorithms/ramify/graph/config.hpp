// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graphs, configurations and reports of the graph algorithms. Plain C++.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

/// A graph of n vertices and m directed edges in compressed sparse rows. It refers to the arrays
/// and does not own them. Self-loops and repeated edges are allowed.
///
///     0 --> 1, 0 --> 2, 2 --> 1     offsets  <-- [0, 2, 2, 3]     (edges of v: from offsets[v] on)
///                                   targets  <-- [1, 2, 1]
struct graph_view {
  /// Vertex v has the edges to targets[offsets[v]] ... targets[offsets[v + 1] - 1]. offsets has
  /// n + 1 elements.
  [[nodiscard]] static graph_view directed(std::span<const std::int64_t> offsets,
                                           std::span<const std::int32_t> targets) {
    return {offsets, targets, {}, {}};
  }
  /// A directed graph with its edges by target, too: the edges to vertex v come from
  /// in_sources[in_offsets[v]] ... in_sources[in_offsets[v + 1] - 1].
  [[nodiscard]] static graph_view directed(std::span<const std::int64_t> offsets,
                                           std::span<const std::int32_t> targets,
                                           std::span<const std::int64_t> in_offsets,
                                           std::span<const std::int32_t> in_sources) {
    return {offsets, targets, in_offsets, in_sources};
  }
  /// An undirected graph: for each edge u -> v the arrays also contain v -> u. This is not checked.
  [[nodiscard]] static graph_view symmetric(std::span<const std::int64_t> offsets,
                                            std::span<const std::int32_t> targets) {
    return {offsets, targets, offsets, targets};
  }

  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> targets;
  std::span<const std::int64_t> in_offsets;  ///< empty: the edges by target are not known
  std::span<const std::int32_t> in_sources;

  [[nodiscard]] std::size_t vertices() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  [[nodiscard]] std::size_t edges() const { return targets.size(); }
  [[nodiscard]] bool has_in_edges() const { return !in_offsets.empty(); }
  [[nodiscard]] bool is_symmetric() const {
    return has_in_edges() && in_offsets.data() == offsets.data() &&
           in_sources.data() == targets.data();
  }
};

/// Maximum number of vertices of a graph.
inline constexpr std::size_t max_graph_vertices = (std::size_t{1} << 31) - 1;
/// Maximum number of edges of a graph.
inline constexpr std::size_t max_graph_edges = (std::size_t{1} << 33) - 1;

/// How the edges of a frontier are distributed over threads. In the order of the papers, from the
/// simplest loop on.
enum class edge_strategy {
  thread,      ///< a thread for each vertex
  warp,        ///< a warp for each vertex
  block,       ///< a block for each vertex
  child_grid,  ///< a thread for each vertex; a vertex with many edges gets a child grid
  aggregated,  ///< a thread for each vertex; the vertices of a block with many edges share a child
               ///< grid
  balanced,    ///< the same number of edges for each block
};

/// The direction in which a breadth-first search follows edges.
enum class bfs_direction {
  automatic,   ///< optimizing if the edges by target are known, else top_down
  top_down,    ///< from the vertices of a level to the vertices of the next one
  bottom_up,   ///< from each vertex that is not reached yet to one in the level
  optimizing,  ///< bottom_up in levels with many edges, else top_down
};

[[nodiscard]] constexpr std::string_view to_string(edge_strategy s) {
  return choice_name(s, {"thread", "warp", "block", "child_grid", "aggregated", "balanced"});
}
[[nodiscard]] constexpr std::string_view to_string(bfs_direction d) {
  return choice_name(d, {"automatic", "top_down", "bottom_up", "optimizing"});
}

/// All strategies, in their order.
inline constexpr std::array all_edge_strategies{
    edge_strategy::thread,     edge_strategy::warp,       edge_strategy::block,
    edge_strategy::child_grid, edge_strategy::aggregated, edge_strategy::balanced};

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline edge_strategy parse_edge_strategy(std::string_view text) {
  return parse_choice("strategy", text, all_edge_strategies);
}
/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline bfs_direction parse_bfs_direction(std::string_view text) {
  return parse_choice("direction", text,
                      std::array{bfs_direction::automatic, bfs_direction::top_down,
                                 bfs_direction::bottom_up, bfs_direction::optimizing});
}

/// Configuration of all graph algorithms.
struct graph_config {
  ramify::route route = ramify::route::automatic;
  /// How the flat route launches the rounds. The automatic choice is a graph if the driver supports
  /// it, else the host.
  ramify::flat_loop flat_loop = ramify::flat_loop::automatic;
  edge_strategy strategy = edge_strategy::balanced;
  /// Only for child_grid and aggregated: from this number of edges on, a vertex is visited by a
  /// child grid. Without a launch slot, and on the flat route, the threads that found the vertex
  /// visit its edges. At least 1.
  std::uint32_t heavy_degree = 1024;
  /// false: the arrays are not checked. Faulty ones then have undefined behavior.
  bool check_graph = true;
  /// Receives all grids of the run when the run is complete; null: the run is not traced.
  launch_trace* trace = nullptr;
};

/// Checks a configuration. \throws std::invalid_argument naming the field and its range
inline void validate(const graph_config& config) {
  check_enumerator(config.route, "graph_config.route");
  check_enumerator(config.flat_loop, "graph_config.flat_loop");
  check_enumerator(config.strategy, "graph_config.strategy");
  if (config.heavy_degree == 0) {
    throw std::invalid_argument("graph_config.heavy_degree is 0; it must be at least 1");
  }
}

/// Configuration of breadth_first_search().
struct bfs_config : graph_config {
  bfs_direction direction = bfs_direction::automatic;
  /// optimizing: a level is searched bottom-up if it has more edges than the vertices that are not
  /// reached yet, divided by alpha. Positive.
  double alpha = 15;
  /// optimizing: after a bottom-up level with fewer than n / beta vertices, the search continues
  /// top-down. Positive.
  double beta = 18;
};

/// Checks a configuration. \throws std::invalid_argument naming the field and its range
inline void validate(const bfs_config& config) {
  validate(static_cast<const graph_config&>(config));
  check_enumerator(config.direction, "bfs_config.direction");
  const auto check_positive = [](double value, const char* name) {
    if (value > 0 && std::isfinite(value)) return;
    throw std::invalid_argument(std::string("bfs_config.") + name + " is " + std::to_string(value) +
                                "; it must be positive and finite");
  };
  check_positive(config.alpha, "alpha");
  check_positive(config.beta, "beta");
}

/// Outputs of a breadth-first search, arrays of n elements in device memory. A null array is not
/// computed.
struct bfs_arrays {
  std::int32_t* levels = nullptr;  ///< number of edges of a shortest path; -1: not reached
  /// The vertex before v on a shortest path; -1 for the source and for vertices that are not
  /// reached. A forest of rooted_tree().
  std::int32_t* parents = nullptr;
};

struct graph_report : run_report {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t rounds = 0;  ///< loops over the edges of a frontier
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const graph_report& r) {
  return out << "vertices: " << r.vertices << "\nedges: " << r.edges << '\n'
             << static_cast<const run_report&>(r) << "rounds: " << r.rounds << '\n';
}

struct bfs_report : graph_report {
  std::uint64_t reached = 0;           ///< vertices with a level, with the source
  std::uint64_t levels = 0;            ///< the largest level
  std::uint64_t bottom_up_levels = 0;  ///< levels that were searched bottom-up
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const bfs_report& r) {
  return out << static_cast<const graph_report&>(r) << "reached vertices: " << r.reached
             << "\nlargest level: " << r.levels << "\nbottom-up levels: " << r.bottom_up_levels
             << '\n';
}

}  // namespace ramify

namespace ramify::detail::graph {

/// Throws std::invalid_argument, naming the family.
[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument("graph: " + what);
}

/// An array of a call.
struct argument_array {
  const void* data;
  std::size_t bytes;
  const char* name;
  bool is_output;
};

/// Checks that no output shares memory with another array. \throws std::invalid_argument
inline void check_overlaps(const std::vector<argument_array>& arrays) {
  const auto begins_before_end_of = [](const argument_array& a, const argument_array& b) {
    return std::less<const void*>()(a.data, static_cast<const std::byte*>(b.data) + b.bytes);
  };
  for (auto b = arrays.begin(); b != arrays.end(); ++b) {
    for (auto a = arrays.begin(); a != b; ++a) {
      if (!a->is_output && !b->is_output) continue;
      if (!begins_before_end_of(*a, *b) || !begins_before_end_of(*b, *a)) continue;
      refuse(std::string(a->name) + " and " + b->name + " overlap");
    }
  }
}

/// Checks the sizes of a graph and returns its arrays. It reads no element.
/// \throws std::invalid_argument naming the array
inline std::vector<argument_array> check_shape(const graph_view& graph) {
  if (graph.vertices() > max_graph_vertices) {
    refuse(std::to_string(graph.vertices()) + " vertices; the maximum is " +
           std::to_string(max_graph_vertices));
  }
  if (graph.edges() > max_graph_edges) {
    refuse(std::to_string(graph.edges()) + " edges; the maximum is " +
           std::to_string(max_graph_edges));
  }
  if (graph.offsets.empty() && graph.edges() > 0) {
    refuse("offsets is empty, but there are " + std::to_string(graph.edges()) + " targets");
  }
  if (graph.has_in_edges() && graph.in_offsets.size() != graph.offsets.size()) {
    refuse("in_offsets has " + std::to_string(graph.in_offsets.size()) +
           " elements; it must have as many as offsets, " + std::to_string(graph.offsets.size()));
  }
  if (graph.has_in_edges() && graph.in_sources.size() != graph.targets.size()) {
    refuse("in_sources has " + std::to_string(graph.in_sources.size()) +
           " elements; it must have as many as targets, " + std::to_string(graph.targets.size()));
  }
  std::vector<argument_array> arrays;
  const auto add = [&](const auto& array, const char* name) {
    if (!array.empty()) arrays.push_back({array.data(), array.size_bytes(), name, false});
  };
  add(graph.offsets, "offsets");
  add(graph.targets, "targets");
  if (graph.is_symmetric()) return arrays;
  add(graph.in_offsets, "in_offsets");
  add(graph.in_sources, "in_sources");
  return arrays;
}

/// Checks the arguments of a breadth-first search and returns the arrays of the call.
/// \throws std::invalid_argument naming the field
inline std::vector<argument_array> check_arguments(const graph_view& graph, std::int64_t source,
                                                   const bfs_arrays& results,
                                                   const bfs_config& config) {
  validate(config);
  auto arrays = check_shape(graph);
  const std::size_t n = graph.vertices();
  if (source < 0 || static_cast<std::uint64_t>(source) >= n) {
    refuse("source is " + std::to_string(source) + "; it must be in [0, " + std::to_string(n) +
           ")");
  }
  const bool needs_in_edges =
      config.direction == bfs_direction::bottom_up || config.direction == bfs_direction::optimizing;
  if (needs_in_edges && !graph.has_in_edges()) {
    throw std::invalid_argument("bfs_config.direction " + std::string(to_string(config.direction)) +
                                " needs the edges by target: make the graph by "
                                "graph_view::symmetric(), or by directed() with four arrays");
  }
  const auto add_output = [&](const auto* array, const char* name) {
    if (array != nullptr) arrays.push_back({array, n * sizeof *array, name, true});
  };
  add_output(results.levels, "levels");
  add_output(results.parents, "parents");
  check_overlaps(arrays);
  return arrays;
}

}  // namespace ramify::detail::graph
