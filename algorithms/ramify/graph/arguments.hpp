// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks the arguments of the graph algorithms. No check reads an element of an array. Plain C++.

#include <cstddef>
#include <cstdint>
#include <ramify/graph/config.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/version.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::detail::graph::inline RAMIFY_ABI {

/// Throws std::invalid_argument with a message that begins with "graph: ".
[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument("graph: " + what);
}

/// Checks the number of vertices or edges. \throws std::invalid_argument
inline void check_count(const char* of, std::size_t count, std::size_t most) {
  if (count <= most) return;
  refuse(std::to_string(count) + ' ' + of + "; the maximum is " + std::to_string(most));
}

/// Checks that two arrays have the same number of elements. \throws std::invalid_argument
inline void check_same_size(const char* name, std::size_t size, const char* as,
                            std::size_t wanted) {
  if (size == wanted) return;
  refuse(std::string(name) + " has " + std::to_string(size) +
         " elements; it must have as many as " + as + ", " + std::to_string(wanted));
}

/// Checks the sizes of a graph and returns its arrays. It reads no element.
/// \throws std::invalid_argument naming the array
inline std::vector<argument_array> check_shape(const graph_view& graph) {
  check_count("vertices", graph.vertices(), max_graph_vertices);
  check_count("edges", graph.edges(), max_graph_edges);
  if (graph.vertices() == 0 && graph.edges() > 0) {
    refuse("offsets has " + std::to_string(graph.offsets.size()) +
           " elements, which means no vertices, but there are " + std::to_string(graph.edges()) +
           " targets");
  }
  if (graph.has_in_edges()) {
    check_same_size("in_offsets", graph.in_offsets.size(), "offsets", graph.offsets.size());
    check_same_size("in_sources", graph.in_sources.size(), "targets", graph.targets.size());
  }
  std::vector<argument_array> arrays;
  add_input(arrays, graph.offsets, "offsets");
  add_input(arrays, graph.targets, "targets");
  if (graph.is_symmetric()) return arrays;
  add_input(arrays, graph.in_offsets, "in_offsets");
  add_input(arrays, graph.in_sources, "in_sources");
  return arrays;
}

/// \throws std::invalid_argument
[[noreturn]] inline void refuse_source(std::int64_t source, std::uint64_t vertices,
                                       const std::string& name = "source") {
  refuse(name + " is " + std::to_string(source) + "; it must be in [0, " +
         std::to_string(vertices) + ")");
}

/// Returns whether `v` is a vertex of a graph, whose number of vertices may be an upper bound.
[[nodiscard]] inline bool is_vertex(const graph_view& graph, std::int64_t v) {
  return v >= 0 && static_cast<std::uint64_t>(v) < graph.vertices();
}

/// Checks that `source` is a vertex. \throws std::invalid_argument
inline void check_source(const graph_view& graph, std::int64_t source) {
  if (!is_vertex(graph, source)) refuse_source(source, graph.vertices());
}

/// Checks the arguments of breadth_first_search() and returns the arrays of the call.
/// \throws std::invalid_argument naming the field
inline std::vector<argument_array> check_arguments(const graph_view& graph, std::int64_t source,
                                                   const bfs_arrays& results,
                                                   const bfs_options& options) {
  validate(options);
  auto arrays = check_shape(graph);
  check_source(graph, source);
  const bool needs_in_edges = options.direction == bfs_direction::bottom_up ||
                              options.direction == bfs_direction::optimizing;
  if (needs_in_edges && !graph.has_in_edges()) {
    throw std::invalid_argument("bfs_options.direction " +
                                std::string(to_string(options.direction)) +
                                " needs the edges by target: make the graph by "
                                "graph_view::symmetric(), or by directed() with four arrays");
  }
  add_output(arrays, results.levels, graph.vertices(), "levels");
  add_output(arrays, results.parents, graph.vertices(), "parents");
  check_overlaps("graph", arrays);
  return arrays;
}

/// Checks the arguments of breadth_first_searches() and returns the arrays of the call.
/// \throws std::invalid_argument naming the field
inline std::vector<argument_array> check_arguments(const graph_view& graph,
                                                   std::span<const std::int64_t> sources,
                                                   const std::int32_t* levels,
                                                   const graph_options& options) {
  validate(options);
  auto arrays = check_shape(graph);
  if (sources.empty() || sources.size() > max_searches) {
    refuse("sources has " + std::to_string(sources.size()) + " elements; it must have 1 to " +
           std::to_string(max_searches));
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (is_vertex(graph, sources[i])) continue;
    refuse_source(sources[i], graph.vertices(), "sources[" + std::to_string(i) + "]");
  }
  add_output(arrays, levels, sources.size() * graph.vertices(), "levels");
  check_overlaps("graph", arrays);
  return arrays;
}

/// Checks the arguments of shortest_paths() and returns the arrays of the call.
/// \throws std::invalid_argument naming the field
template <edge_length T>
std::vector<argument_array> check_arguments(const graph_view& graph, std::span<const T> weights,
                                            std::int64_t source,
                                            const basic_sssp_arrays<T>& results,
                                            const sssp_options& options) {
  validate(options);
  auto arrays = check_shape(graph);
  check_source(graph, source);
  check_same_size("weights", weights.size(), "targets", graph.edges());
  add_input(arrays, weights, "weights");
  add_output(arrays, results.distances, graph.vertices(), "distances");
  add_output(arrays, results.parents, graph.vertices(), "parents");
  check_overlaps("graph", arrays);
  return arrays;
}

/// Checks the arguments of connected_components() or pagerank(), and returns the arrays of the
/// call. `name` is the name of the output. \throws std::invalid_argument naming the field
template <class T, class Options>
std::vector<argument_array> check_arguments(const graph_view& graph, const T* result,
                                            const char* name, const Options& options) {
  validate(options);
  auto arrays = check_shape(graph);
  add_output(arrays, result, graph.vertices(), name);
  check_overlaps("graph", arrays);
  return arrays;
}

}  // namespace ramify::detail::graph::inline RAMIFY_ABI
