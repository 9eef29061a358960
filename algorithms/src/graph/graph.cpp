// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/graph.hpp>
#include <ramify/graph/arguments.hpp>

#include "facade/backend_choice.hpp"
#include "graph/on_backend.hpp"

namespace ramify {
namespace {

/// Returns the address of an output, or null if it is empty. \throws std::invalid_argument
template <class T>
T* data_of(std::span<T> output, const graph_view& graph, const char* name) {
  return detail::element_count{"graph", graph.vertices(), "vertices"}.data_of(output, name);
}

/// Checks the arguments of shortest_paths(), and runs it on a backend.
template <edge_length T>
sssp_report paths_of_type(const graph_view& graph, std::span<const T> weights, std::int64_t source,
                          const basic_sssp_spans<T>& results, const sssp_options& options) {
  check_enumerator(options.backend, "sssp_options.backend");
  const basic_sssp_arrays<T> arrays{data_of(results.distances, graph, "distances"),
                                    data_of(results.parents, graph, "parents")};
  static_cast<void>(detail::graph::check_arguments(graph, weights, source, arrays, options));
  return detail::facade::on_backend(options, [&](auto where) {
    return detail::facade::shortest_paths_on<where, T>(graph, weights, source, arrays, options);
  });
}

}  // namespace

bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                const bfs_spans& results, const bfs_options& options) {
  check_enumerator(options.backend, "bfs_options.backend");
  const bfs_arrays arrays{data_of(results.levels, graph, "levels"),
                          data_of(results.parents, graph, "parents")};
  static_cast<void>(detail::graph::check_arguments(graph, source, arrays, options));
  return detail::facade::on_backend(options, [&](auto where) {
    return detail::facade::breadth_first_search_on<where>(graph, source, arrays, options);
  });
}

sssp_report shortest_paths(const graph_view& graph, std::span<const float> weights,
                           std::int64_t source, const sssp_spans& results,
                           const sssp_options& options) {
  return paths_of_type(graph, weights, source, results, options);
}

sssp_report shortest_paths(const graph_view& graph, std::span<const double> weights,
                           std::int64_t source, const basic_sssp_spans<double>& results,
                           const sssp_options& options) {
  return paths_of_type(graph, weights, source, results, options);
}

sssp_report shortest_paths(const graph_view& graph, std::span<const std::uint64_t> weights,
                           std::int64_t source, const basic_sssp_spans<std::uint64_t>& results,
                           const sssp_options& options) {
  return paths_of_type(graph, weights, source, results, options);
}

components_report connected_components(const graph_view& graph, std::span<std::int32_t> components,
                                       const graph_options& options) {
  check_enumerator(options.backend, "graph_options.backend");
  std::int32_t* const to = data_of(components, graph, "components");
  static_cast<void>(detail::graph::check_arguments(graph, to, "components", options));
  return detail::facade::on_backend(options, [&](auto where) {
    return detail::facade::connected_components_on<where>(graph, to, options);
  });
}

pagerank_report pagerank(const graph_view& graph, std::span<double> ranks,
                         const pagerank_options& options) {
  check_enumerator(options.backend, "pagerank_options.backend");
  double* const to = data_of(ranks, graph, "ranks");
  static_cast<void>(detail::graph::check_arguments(graph, to, "ranks", options));
  return detail::facade::on_backend(
      options, [&](auto where) { return detail::facade::pagerank_on<where>(graph, to, options); });
}

}  // namespace ramify
