// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graphs, options and reports of the graph algorithms. Plain C++.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/device_count.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_ABI {

/// A graph of n vertices and m directed edges in compressed sparse rows. It refers to the arrays
/// and does not own them. Self-loops and repeated edges are allowed.
///
///     0 --> 1, 0 --> 2, 2 --> 1     offsets  <-- [0, 2, 2, 3]     (edges of v: from offsets[v] on)
///                                   targets  <-- [1, 2, 1]
struct graph_view {
  /// Returns a directed graph. Vertex v has edges to targets[offsets[v]] ...
  /// targets[offsets[v + 1] - 1]. offsets has n + 1 elements.
  [[nodiscard]] static graph_view directed(std::span<const std::int64_t> offsets,
                                           std::span<const std::int32_t> targets) {
    return {offsets, targets, {}, {}};
  }
  /// Returns a directed graph that also has its edges by target: the edges to vertex v come from
  /// in_sources[in_offsets[v]] ... in_sources[in_offsets[v + 1] - 1].
  [[nodiscard]] static graph_view directed(std::span<const std::int64_t> offsets,
                                           std::span<const std::int32_t> targets,
                                           std::span<const std::int64_t> in_offsets,
                                           std::span<const std::int32_t> in_sources) {
    return {offsets, targets, in_offsets, in_sources};
  }
  /// Returns an undirected graph. For each edge u -> v the arrays must also contain v -> u; this is
  /// not checked. A self-loop is its own opposite, so it is stored once, as in SciPy.
  [[nodiscard]] static graph_view symmetric(std::span<const std::int64_t> offsets,
                                            std::span<const std::int32_t> targets) {
    return {offsets, targets, offsets, targets};
  }

  /// The edges of vertex v are [offsets[v], offsets[v + 1]); n + 1 numbers.
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> targets;     ///< the vertex at which each edge ends
  std::span<const std::int64_t> in_offsets;  ///< empty: the graph has no edges by target
  std::span<const std::int32_t> in_sources;  ///< the vertex at which each of these edges begins
  /// Whether only the device has the number of edges: it is the last offset.
  bool edges_on_device = false;
  /// The number of vertices, if only the device has it.
  std::optional<device_count> vertices_on_device{};

  /// Returns the same graph with a number of edges that only the device has: it is the last offset,
  /// and the size of targets is its upper bound.
  [[nodiscard]] graph_view with_edges_on_device() const {
    graph_view graph = *this;
    graph.edges_on_device = true;
    return graph;
  }
  /// Returns the graph of the first `count` vertices. Only the device has their number, and that of
  /// the edges, which is the offset after the last vertex. No other offset and target is read.
  /// \throws std::invalid_argument if there are fewer vertices than the upper bound
  [[nodiscard]] graph_view with_vertices(const device_count& count) const {
    if (offsets.empty() || count.upper_bound > vertices()) {
      throw std::invalid_argument("graph_view: " + std::to_string(vertices()) +
                                  " vertices, but the upper bound of their number is " +
                                  std::to_string(count.upper_bound));
    }
    graph_view graph = with_edges_on_device();
    graph.offsets = offsets.first(count.upper_bound + 1);
    if (has_in_edges()) graph.in_offsets = in_offsets.first(count.upper_bound + 1);
    graph.vertices_on_device = count;
    return graph;
  }

  /// Returns the number of vertices, or its upper bound if only the device has the number.
  [[nodiscard]] std::size_t vertices() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  /// Returns the number of edges, or its upper bound.
  [[nodiscard]] std::size_t edges() const { return targets.size(); }
  /// Returns whether the edges that end at each vertex are known.
  [[nodiscard]] bool has_in_edges() const { return !in_offsets.empty(); }
  /// Returns the same graph without the edges by target.
  [[nodiscard]] graph_view outgoing() const {
    return {offsets, targets, {}, {}, edges_on_device, vertices_on_device};
  }
  /// Returns whether each edge also exists in the other direction.
  [[nodiscard]] bool is_symmetric() const {
    return has_in_edges() && in_offsets.data() == offsets.data() &&
           in_sources.data() == targets.data();
  }
};

/// Maximum number of vertices of a graph.
inline constexpr std::size_t max_graph_vertices = (std::size_t{1} << 31) - 1;
/// Maximum number of edges of a graph.
inline constexpr std::size_t max_graph_edges = (std::size_t{1} << 33) - 1;

/// Maximum number of searches of a call of breadth_first_searches().
inline constexpr std::size_t max_searches = 64;

/// How the edges of a frontier are distributed over threads.
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
  automatic,   ///< optimizing if the graph has its edges by target, else top_down
  top_down,    ///< from the vertices of a level to the vertices of the next one
  bottom_up,   ///< from each vertex that is not reached yet to one in the level
  optimizing,  ///< bottom_up in levels with many edges, else top_down
};

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(edge_strategy s) {
  return choice_name(s, {"thread", "warp", "block", "child_grid", "aggregated", "balanced"});
}
/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(bfs_direction d) {
  return choice_name(d, {"automatic", "top_down", "bottom_up", "optimizing"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline edge_strategy parse_edge_strategy(std::string_view text) {
  return parse_choice<edge_strategy>("strategy", text);
}
/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline bfs_direction parse_bfs_direction(std::string_view text) {
  return parse_choice<bfs_direction>("direction", text);
}

/// Options of all graph algorithms.
struct graph_options {
  edge_strategy strategy = edge_strategy::balanced;  ///< which threads process which edges
  /// Only for child_grid and aggregated: a vertex with at least this number of edges is visited by
  /// a child grid. Without a launch slot, and on the flat route, the warp or the block that found
  /// the vertex visits its edges. At least 1.
  std::uint32_t heavy_degree = 1024;
  /// false: the arrays are not checked, and a faulty graph causes undefined behavior.
  bool check_graph = true;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const graph_options& options) {
  check_enumerator(options.strategy, "graph_options.strategy");
  detail::check_field(options.heavy_degree >= 1, "graph_options.heavy_degree", options.heavy_degree,
                      "at least 1");
}

/// Options of breadth_first_search().
struct bfs_options : graph_options {
  bfs_direction direction = bfs_direction::automatic;  ///< in which levels edges are read backwards
  /// optimizing: a level is searched bottom-up if it has more than n / 16 edges, and if its number
  /// of edges times alpha exceeds the number of edges that no top-down level visited. Positive.
  double alpha = 15;
  /// optimizing: after a bottom-up level with fewer than n / beta vertices, the search continues
  /// top-down. Positive.
  double beta = 18;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const bfs_options& options) {
  validate(static_cast<const graph_options&>(options));
  check_enumerator(options.direction, "bfs_options.direction");
  const auto check_positive = [](double value, const char* field) {
    detail::check_field(value > 0 && std::isfinite(value), field, value, "positive and finite");
  };
  check_positive(options.alpha, "bfs_options.alpha");
  check_positive(options.beta, "bfs_options.beta");
}

/// Outputs of a breadth-first search, arrays of n elements in device memory. A null array is not
/// computed.
struct bfs_arrays {
  std::int32_t* levels = nullptr;  ///< number of edges of a shortest path; -1: not reached
  /// The vertex before v on a shortest path; -1 for the source and for vertices that are not
  /// reached. rooted_tree() accepts this array.
  std::int32_t* parents = nullptr;
};

/// Options of shortest_paths().
struct sssp_options : graph_options {
  /// The width of a bucket of distances. Vertices at distances within a bucket are visited in any
  /// order, so some are visited several times; each bucket takes at least one round. 0: the maximum
  /// width is computed from the mean degree and from the mean length of the first edge of each
  /// vertex; a bucket is narrower while the frontier has many edges, unless the strategy launches
  /// child grids. The width is rounded to the type of the lengths, for integers to at least 1.
  double delta = 0;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const sssp_options& options) {
  validate(static_cast<const graph_options&>(options));
  detail::check_field(options.delta >= 0 && std::isfinite(options.delta), "sssp_options.delta",
                      options.delta, "0 (automatic) or positive and finite");
}

/// The types of the lengths of edges and of distances: float, double, std::uint64_t.
template <class T>
concept edge_length =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::uint64_t>;

/// The type of the lengths in an array, such as float for std::vector<float>.
template <class Array>
using length_in = std::remove_cvref_t<decltype(*std::data(std::declval<const Array&>()))>;

/// An array of edge lengths: a std::span, std::vector, std::array.
template <class Array>
concept edge_lengths = edge_length<length_in<Array>> &&
    std::convertible_to<const Array&, std::span<const length_in<Array>>>;

/// Maximum distance in 64-bit integers. The largest integer, 2^64 - 1, stands for infinity.
inline constexpr std::uint64_t max_path_length = ~std::uint64_t{0} - 2;

/// Outputs of shortest_paths(), arrays of n elements in device memory. A null array is not
/// computed.
template <edge_length T>
struct basic_sssp_arrays {
  /// Length of a shortest path. A vertex that is not reached has infinity, or 2^64 - 1.
  T* distances = nullptr;
  /// The vertex before v on a shortest path; -1 for the source and for vertices that are not
  /// reached. rooted_tree() accepts this array.
  std::int32_t* parents = nullptr;
};
/// Outputs of shortest_paths() for edge lengths of type float.
using sssp_arrays = basic_sssp_arrays<float>;

/// Options of pagerank().
struct pagerank_options : graph_options {
  /// The probability that the random walk follows an edge, in [0, 1). Otherwise, and at vertices
  /// without edges, the walk continues at a random vertex.
  double damping = 0.85;
  /// The iteration ends when the sum of the absolute changes of all ranks is at most this number.
  /// Positive.
  double tolerance = 1e-6;
  std::uint32_t max_iterations = 100;  ///< at least 1
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const pagerank_options& options) {
  validate(static_cast<const graph_options&>(options));
  using detail::check_field;
  check_field(options.damping >= 0 && options.damping < 1, "pagerank_options.damping",
              options.damping, "in [0, 1)");
  check_field(options.tolerance > 0, "pagerank_options.tolerance", options.tolerance, "positive");
  check_field(options.max_iterations >= 1, "pagerank_options.max_iterations",
              options.max_iterations, "at least 1");
}

/// Report of all graph algorithms.
struct graph_report : run_report {
  std::uint64_t vertices = 0;  ///< number of vertices
  std::uint64_t edges = 0;     ///< number of edges
  std::uint64_t rounds = 0;    ///< visited frontiers, and searches for the next bucket
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const graph_report& r) {
  return out << "vertices: " << r.vertices << "\nedges: " << r.edges << '\n'
             << static_cast<const run_report&>(r) << "rounds: " << r.rounds << '\n';
}

/// Report of breadth_first_search().
struct bfs_report : graph_report {
  std::uint64_t reached = 0;           ///< vertices with a level, including the source
  std::uint64_t levels = 0;            ///< the largest level
  std::uint64_t bottom_up_levels = 0;  ///< levels that were searched bottom-up
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const bfs_report& r) {
  return out << static_cast<const graph_report&>(r) << "reached vertices: " << r.reached
             << "\nlargest level: " << r.levels << "\nbottom-up levels: " << r.bottom_up_levels
             << '\n';
}

/// Report of breadth_first_searches(). A level takes two rounds.
struct searches_report : graph_report {
  std::uint64_t levels = 0;  ///< the largest level of all searches
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const searches_report& r) {
  return out << static_cast<const graph_report&>(r) << "largest level: " << r.levels << '\n';
}

/// Report of shortest_paths().
struct sssp_report : graph_report {
  std::uint64_t reached = 0;        ///< vertices with a finite distance, including the source
  std::uint64_t buckets = 0;        ///< buckets that were not empty
  std::uint64_t visited_edges = 0;  ///< a repeated visit of an edge counts again
  double delta = 0;                 ///< the width of a bucket, or its maximum
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const sssp_report& r) {
  return out << static_cast<const graph_report&>(r) << "reached vertices: " << r.reached
             << "\nbuckets: " << r.buckets << "\nvisited edges: " << r.visited_edges
             << "\ndelta: " << r.delta << '\n';
}

/// Report of connected_components().
struct components_report : graph_report {
  std::uint64_t components = 0;  ///< number of components
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const components_report& r) {
  return out << static_cast<const graph_report&>(r) << "components: " << r.components << '\n';
}

/// Report of pagerank().
struct pagerank_report : graph_report {
  std::uint64_t iterations = 0;  ///< until the end
  double change = 0;       ///< the sum of the absolute changes of all ranks in the last iteration
  bool converged = false;  ///< `change` is at most the tolerance
};

/// Writes one "name: value" line per field.
inline std::ostream& operator<<(std::ostream& out, const pagerank_report& r) {
  return out << static_cast<const graph_report&>(r) << "iterations: " << r.iterations
             << "\nchange: " << r.change << "\nconverged: " << (r.converged ? "yes" : "no") << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI
