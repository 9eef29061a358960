// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/graph.hpp>
#include <ramify/graph/arguments.hpp>

#include "facade/backend_choice.hpp"
#include "facade/started_call.hpp"
#include "graph/on_backend.hpp"

namespace ramify::inline RAMIFY_ABI {
namespace {

/// Returns the address of an output, or null if it is empty. \throws std::invalid_argument
template <class T>
T* data_of(std::span<T> output, const graph_view& graph, const char* name) {
  return detail::required_count{"graph", graph.vertices(), "vertices"}.data_of(output, name);
}

/// Checks the arguments of a call, and returns its output arrays. \throws std::invalid_argument
bfs_arrays checked(const graph_view& graph, std::int64_t source, const bfs_spans& results,
                   const bfs_options& options, const environment& env) {
  validate(env);
  const bfs_arrays arrays{data_of(results.levels, graph, "levels"),
                          data_of(results.parents, graph, "parents")};
  static_cast<void>(detail::graph::check_arguments(graph, source, arrays, options));
  return arrays;
}

template <class T>
basic_sssp_arrays<T> checked(const graph_view& graph, std::span<const T> weights,
                             std::int64_t source, const basic_sssp_spans<T>& results,
                             const sssp_options& options, const environment& env) {
  validate(env);
  const basic_sssp_arrays<T> arrays{data_of(results.distances, graph, "distances"),
                                    data_of(results.parents, graph, "parents")};
  static_cast<void>(detail::graph::check_arguments(graph, weights, source, arrays, options));
  return arrays;
}

template <class T, class Options>
T* checked(const graph_view& graph, std::span<T> output, const char* name, const Options& options,
           const environment& env) {
  validate(env);
  T* const to = data_of(output, graph, name);
  static_cast<void>(detail::graph::check_arguments(graph, to, name, options));
  return to;
}

}  // namespace

bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                const bfs_spans& results, const bfs_options& options,
                                const environment& env) {
  const bfs_arrays arrays = checked(graph, source, results, options, env);
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::breadth_first_search_on<where>(graph, source, arrays, options, env);
  });
}

async_run<bfs_report> breadth_first_search_async(const graph_view& graph, std::int64_t source,
                                                 const bfs_spans& results,
                                                 const bfs_options& options,
                                                 const environment& env) {
  const bfs_arrays arrays = checked(graph, source, results, options, env);
  return detail::facade::start_on_backend("breadth_first_search", env, [&](auto where) {
    return detail::facade::start_breadth_first_search_on<where>(graph, source, arrays, options,
                                                                env);
  });
}

searches_report breadth_first_searches(const graph_view& graph,
                                       std::span<const std::int64_t> sources,
                                       std::span<std::int32_t> levels, const graph_options& options,
                                       const environment& env) {
  validate(env);
  static_cast<void>(detail::graph::check_arguments(graph, sources, levels.data(), options));
  if (!levels.empty()) {
    detail::graph::check_same_size("levels", levels.size(), "vertices times sources",
                                   sources.size() * graph.vertices());
  }
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::breadth_first_searches_on<where>(graph, sources, levels, options, env);
  });
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::graph::inline RAMIFY_ABI {

template <edge_length T>
sssp_report paths_of_type(const graph_view& graph, std::span<const T> weights, std::int64_t source,
                          const basic_sssp_spans<T>& results, const sssp_options& options,
                          const environment& env) {
  const basic_sssp_arrays<T> arrays = checked(graph, weights, source, results, options, env);
  return facade::on_backend(env, [&](auto where) {
    return facade::shortest_paths_on<where, T>(graph, weights, source, arrays, options, env);
  });
}

template <edge_length T>
async_run<sssp_report> start_paths_of_type(const graph_view& graph, std::span<const T> weights,
                                           std::int64_t source, const basic_sssp_spans<T>& results,
                                           const sssp_options& options, const environment& env) {
  const basic_sssp_arrays<T> arrays = checked(graph, weights, source, results, options, env);
  return facade::start_on_backend("shortest_paths", env, [&](auto where) {
    return facade::start_shortest_paths_on<where, T>(graph, weights, source, arrays, options, env);
  });
}

// The types of lengths that on_backend.cuh is compiled for.
#define RAMIFY_INSTANTIATE(T)                                                                   \
  template sssp_report paths_of_type(const graph_view&, std::span<const T>, std::int64_t,       \
                                     const basic_sssp_spans<T>&, const sssp_options&,           \
                                     const environment&);                                       \
  template async_run<sssp_report> start_paths_of_type(const graph_view&, std::span<const T>,    \
                                                      std::int64_t, const basic_sssp_spans<T>&, \
                                                      const sssp_options&, const environment&);
RAMIFY_INSTANTIATE(float)
RAMIFY_INSTANTIATE(double)
RAMIFY_INSTANTIATE(std::uint64_t)
#undef RAMIFY_INSTANTIATE

}  // namespace ramify::detail::graph::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

components_report connected_components(const graph_view& graph, std::span<std::int32_t> components,
                                       const graph_options& options, const environment& env) {
  std::int32_t* const to = checked(graph, components, "components", options, env);
  return detail::facade::on_backend(env, [&](auto where) {
    return detail::facade::connected_components_on<where>(graph, to, options, env);
  });
}

async_run<components_report> connected_components_async(const graph_view& graph,
                                                        std::span<std::int32_t> components,
                                                        const graph_options& options,
                                                        const environment& env) {
  std::int32_t* const to = checked(graph, components, "components", options, env);
  return detail::facade::start_on_backend("connected_components", env, [&](auto where) {
    return detail::facade::start_connected_components_on<where>(graph, to, options, env);
  });
}

pagerank_report pagerank(const graph_view& graph, std::span<double> ranks,
                         const pagerank_options& options, const environment& env) {
  double* const to = checked(graph, ranks, "ranks", options, env);
  return detail::facade::on_backend(
      env, [&](auto where) { return detail::facade::pagerank_on<where>(graph, to, options, env); });
}

async_run<pagerank_report> pagerank_async(const graph_view& graph, std::span<double> ranks,
                                          const pagerank_options& options, const environment& env) {
  double* const to = checked(graph, ranks, "ranks", options, env);
  return detail::facade::start_on_backend("pagerank", env, [&](auto where) {
    return detail::facade::start_pagerank_on<where>(graph, to, options, env);
  });
}

}  // namespace ramify::inline RAMIFY_ABI
