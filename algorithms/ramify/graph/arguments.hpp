// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks the arguments of the graph algorithms. No check reads an element of an array. Plain C++.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ramify/graph/config.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::detail::graph {

/// Throws std::invalid_argument with a message that begins with "graph: ".
[[noreturn]] inline void refuse(const std::string& what) {
  throw std::invalid_argument("graph: " + what);
}

/// An array that the caller passes to an algorithm.
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

/// Checks the number of vertices or edges. \throws std::invalid_argument
inline void check_count(const char* of, std::size_t count, std::size_t most) {
  if (count <= most) return;
  refuse(std::to_string(count) + ' ' + of + "; the maximum is " + std::to_string(most));
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

/// Appends an output of n elements, if it is requested.
template <class T>
void add_output(std::vector<argument_array>& arrays, const T* array, std::size_t n,
                const char* name) {
  if (array != nullptr) arrays.push_back({array, n * sizeof(T), name, true});
}

/// Checks that `source` is a vertex. \throws std::invalid_argument
inline void check_source(const graph_view& graph, std::int64_t source) {
  if (source >= 0 && static_cast<std::uint64_t>(source) < graph.vertices()) return;
  refuse("source is " + std::to_string(source) + "; it must be in [0, " +
         std::to_string(graph.vertices()) + ")");
}

/// Checks the arguments of breadth_first_search() and returns the arrays of the call.
/// \throws std::invalid_argument naming the field
inline std::vector<argument_array> check_arguments(const graph_view& graph, std::int64_t source,
                                                   const bfs_arrays& results,
                                                   const bfs_config& config) {
  validate(config);
  auto arrays = check_shape(graph);
  check_source(graph, source);
  const bool needs_in_edges =
      config.direction == bfs_direction::bottom_up || config.direction == bfs_direction::optimizing;
  if (needs_in_edges && !graph.has_in_edges()) {
    throw std::invalid_argument("bfs_config.direction " + std::string(to_string(config.direction)) +
                                " needs the edges by target: make the graph by "
                                "graph_view::symmetric(), or by directed() with four arrays");
  }
  add_output(arrays, results.levels, graph.vertices(), "levels");
  add_output(arrays, results.parents, graph.vertices(), "parents");
  check_overlaps(arrays);
  return arrays;
}

/// Checks the arguments of shortest_paths() and returns the arrays of the call.
/// \throws std::invalid_argument naming the field
inline std::vector<argument_array> check_arguments(const graph_view& graph,
                                                   std::span<const float> weights,
                                                   std::int64_t source, const sssp_arrays& results,
                                                   const sssp_config& config) {
  validate(config);
  auto arrays = check_shape(graph);
  check_source(graph, source);
  if (weights.size() != graph.edges()) {
    refuse("weights has " + std::to_string(weights.size()) +
           " elements; it must have as many as targets, " + std::to_string(graph.edges()));
  }
  if (!weights.empty()) {
    arrays.push_back({weights.data(), weights.size_bytes(), "weights", false});
  }
  add_output(arrays, results.distances, graph.vertices(), "distances");
  add_output(arrays, results.parents, graph.vertices(), "parents");
  check_overlaps(arrays);
  return arrays;
}

/// Checks the arguments of connected_components() or pagerank(), and returns the arrays of the
/// call. `name` is the name of the output. \throws std::invalid_argument naming the field
template <class T, class Config>
std::vector<argument_array> check_arguments(const graph_view& graph, const T* result,
                                            const char* name, const Config& config) {
  validate(config);
  auto arrays = check_shape(graph);
  add_output(arrays, result, graph.vertices(), name);
  check_overlaps(arrays);
  return arrays;
}

}  // namespace ramify::detail::graph
