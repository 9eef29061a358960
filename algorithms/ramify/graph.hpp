// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Graph algorithms for plain C++: a compiled facade over std::span.
///
///     std::vector<std::int64_t> offsets = {0, 2, 4, 5, 6, 6};
///     std::vector<std::int32_t> targets = {1, 2, 0, 3, 0, 1}, levels(5);
///     const auto graph = ramify::graph_view::symmetric(offsets, targets);
///     std::cout << ramify::breadth_first_search(graph, 0, {.levels = levels});
///     levels --> [0, 1, 1, 2, -1]
///
///     std::vector<std::int32_t> components(5);
///     const ramify::environment env{.route = ramify::route::flat};
///     std::cout << ramify::connected_components(graph, components, env);
///     components --> [0, 0, 0, 0, 4]
///
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. On
///           the CUDA backend host memory is copied to the device and back. Outputs must not
///           overlap the input or one another.
/// Stream    A call is ordered after earlier work in environment::stream, by default the legacy
///           default stream.
/// Waits     A call returns after the outputs are written, except functions whose names end in
///           _async: work that enters the stream after such a call sees the outputs, and get() of
///           the run waits. On the CUDA backend their arrays must be in device, managed or pinned
///           memory, and exist until get() has returned. The CPU executor completes them before
///           they return.
/// Capture   A graph can capture the _async functions. Arrays and run must exist as long as the
///           graph may be launched. If no memory is handed in, the run has memory of its own.
/// Errors    std::invalid_argument for a bad argument or a faulty graph, naming the field or the
///           smallest index; unavailable for a backend or a route that this machine or this build
///           cannot run; then no output is written. cuda_error, device_launch_error: after these
///           the outputs are undefined.
/// Cost      as <ramify/graph.cuh>; on the CUDA backend, arrays in host memory are also copied.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <ramify/graph/config.hpp>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <span>

namespace ramify::inline RAMIFY_ABI {

/// Outputs of a breadth-first search, arrays of n elements each. An empty array is not computed.
struct bfs_spans {
  std::span<std::int32_t> levels{};   ///< number of edges of a shortest path; -1: not reached
  std::span<std::int32_t> parents{};  ///< see bfs_arrays
};

/// Outputs of shortest paths, arrays of n elements each. An empty array is not computed.
template <edge_length T>
struct basic_sssp_spans {
  std::span<T> distances{};           ///< see basic_sssp_arrays
  std::span<std::int32_t> parents{};  ///< see basic_sssp_arrays
};
/// Outputs of shortest paths for edge lengths of type float.
using sssp_spans = basic_sssp_spans<float>;

/// Searches breadth-first from `source`.
/// \param results  arrays of n elements each; an empty array is not computed
/// \param env      its memory: bfs_scratch_bytes() of <ramify/graph.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                const bfs_spans& results, const bfs_options& options,
                                const environment& env = {});
/// Overload with the default options.
inline bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                       const bfs_spans& results, const environment& env = {}) {
  return breadth_first_search(graph, source, results, bfs_options{}, env);
}
/// Starts breadth_first_search(), and does not wait. \throws as breadth_first_search(); get()
/// throws for a faulty graph
async_run<bfs_report> breadth_first_search_async(const graph_view& graph, std::int64_t source,
                                                 const bfs_spans& results,
                                                 const bfs_options& options,
                                                 const environment& env = {});
/// Overload with the default options.
inline async_run<bfs_report> breadth_first_search_async(const graph_view& graph,
                                                        std::int64_t source,
                                                        const bfs_spans& results,
                                                        const environment& env = {}) {
  return breadth_first_search_async(graph, source, results, bfs_options{}, env);
}

/// Searches breadth-first from several sources at once; the searches share the reads of edges. It
/// ignores graph.in_offsets and graph.in_sources.
/// \param sources  k vertices in host memory, 1 <= k <= 64; they may repeat
/// \param levels   k rows of n elements: levels[i * n + v] is the number of edges of a shortest
///                 path from sources[i] to v; -1: not reached. An empty array is not computed
/// \param env      its memory: searches_scratch_bytes() of <ramify/graph.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
searches_report breadth_first_searches(const graph_view& graph,
                                       std::span<const std::int64_t> sources,
                                       std::span<std::int32_t> levels, const graph_options& options,
                                       const environment& env = {});
/// Overload with the default options.
inline searches_report breadth_first_searches(const graph_view& graph,
                                              std::span<const std::int64_t> sources,
                                              std::span<std::int32_t> levels,
                                              const environment& env = {}) {
  return breadth_first_searches(graph, sources, levels, graph_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::graph::inline RAMIFY_ABI {

/// Computes shortest paths; compiled for each type of lengths.
template <edge_length T>
sssp_report paths_of_type(const graph_view& graph, std::span<const T> weights, std::int64_t source,
                          const basic_sssp_spans<T>& results, const sssp_options& options,
                          const environment& env);
/// Starts to compute shortest paths; compiled for each type of lengths.
template <edge_length T>
async_run<sssp_report> start_paths_of_type(const graph_view& graph, std::span<const T> weights,
                                           std::int64_t source, const basic_sssp_spans<T>& results,
                                           const sssp_options& options, const environment& env);

}  // namespace ramify::detail::graph::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Computes the shortest paths from `source`. It ignores graph.in_offsets and graph.in_sources.
/// Distances have the type of the lengths. Sums of float and of double are rounded. Sums of 64-bit
/// integers are exact; 2^64 - 1 stands for infinity, and a distance above 2^64 - 3 is an error.
/// \param weights  m edge lengths of type float, double or std::uint64_t, in the order of
///                 graph.targets; `{}` has the type float
/// \param results  arrays of n elements each; an empty array is not computed
/// \param env      its memory: sssp_scratch_bytes() of <ramify/graph.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
template <edge_lengths Weights = std::span<const float>>
sssp_report shortest_paths(const graph_view& graph, const Weights& weights, std::int64_t source,
                           const basic_sssp_spans<length_in<Weights>>& results,
                           const sssp_options& options, const environment& env = {}) {
  using T = length_in<Weights>;
  return detail::graph::paths_of_type<T>(graph, weights, source, results, options, env);
}
/// Overload with the default options.
template <edge_lengths Weights = std::span<const float>>
sssp_report shortest_paths(const graph_view& graph, const Weights& weights, std::int64_t source,
                           const basic_sssp_spans<length_in<Weights>>& results,
                           const environment& env = {}) {
  return shortest_paths(graph, weights, source, results, sssp_options{}, env);
}
/// Starts shortest_paths(), and does not wait. \throws as shortest_paths(); get() throws for a
/// faulty graph and for a bad length
template <edge_lengths Weights = std::span<const float>>
async_run<sssp_report> shortest_paths_async(const graph_view& graph, const Weights& weights,
                                            std::int64_t source,
                                            const basic_sssp_spans<length_in<Weights>>& results,
                                            const sssp_options& options,
                                            const environment& env = {}) {
  using T = length_in<Weights>;
  return detail::graph::start_paths_of_type<T>(graph, weights, source, results, options, env);
}
/// Overload with the default options.
template <edge_lengths Weights = std::span<const float>>
async_run<sssp_report> shortest_paths_async(const graph_view& graph, const Weights& weights,
                                            std::int64_t source,
                                            const basic_sssp_spans<length_in<Weights>>& results,
                                            const environment& env = {}) {
  return shortest_paths_async(graph, weights, source, results, sssp_options{}, env);
}

/// Computes the connected components. The direction of edges is ignored.
/// \param components  n elements: the smallest vertex of the component of each vertex. If it is
///                    empty, only the number of components is computed
/// \param env         its memory: components_scratch_bytes() of <ramify/graph.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
components_report connected_components(const graph_view& graph, std::span<std::int32_t> components,
                                       const graph_options& options, const environment& env = {});
/// Overload with the default options.
inline components_report connected_components(const graph_view& graph,
                                              std::span<std::int32_t> components,
                                              const environment& env = {}) {
  return connected_components(graph, components, graph_options{}, env);
}
/// Starts connected_components(), and does not wait. \throws as connected_components(); get()
/// throws for a faulty graph
async_run<components_report> connected_components_async(const graph_view& graph,
                                                        std::span<std::int32_t> components,
                                                        const graph_options& options,
                                                        const environment& env = {});
/// Overload with the default options.
inline async_run<components_report> connected_components_async(const graph_view& graph,
                                                               std::span<std::int32_t> components,
                                                               const environment& env = {}) {
  return connected_components_async(graph, components, graph_options{}, env);
}

/// Computes the PageRank of all vertices. It ignores graph.in_offsets and graph.in_sources.
/// \param ranks  n elements, whose sum is about 1. If it is empty, only the report is computed
/// \param env    its memory: pagerank_scratch_bytes() of <ramify/graph.cuh>
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
pagerank_report pagerank(const graph_view& graph, std::span<double> ranks,
                         const pagerank_options& options, const environment& env = {});
/// Overload with the default options.
inline pagerank_report pagerank(const graph_view& graph, std::span<double> ranks,
                                const environment& env = {}) {
  return pagerank(graph, ranks, pagerank_options{}, env);
}
/// Starts pagerank(), and does not wait. \throws as pagerank(); get() throws for a faulty graph
async_run<pagerank_report> pagerank_async(const graph_view& graph, std::span<double> ranks,
                                          const pagerank_options& options,
                                          const environment& env = {});
/// Overload with the default options.
inline async_run<pagerank_report> pagerank_async(const graph_view& graph, std::span<double> ranks,
                                                 const environment& env = {}) {
  return pagerank_async(graph, ranks, pagerank_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
