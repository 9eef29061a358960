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
///     std::cout << ramify::connected_components(graph, components);
///     components --> [0, 0, 0, 0, 4]
///
/// Memory    ordinary host memory; on the CUDA backend also pinned, managed or device memory. On
///           the CUDA backend host memory is copied to the device and back. Outputs must not
///           overlap the input or one another.
/// Waits     A call returns after the outputs are written.
/// Errors    std::invalid_argument for a bad argument or a faulty graph, naming the field or the
///           smallest index; unavailable for a backend or a route that this machine or this build
///           cannot run; then no output is written. cuda_error, device_launch_error: after these
///           the outputs are undefined.
/// Cost      as <ramify/graph.cuh>; on the CUDA backend, arrays in host memory are also copied.

#include <ramify/runtime/requirements.hpp>

#include <cstddef>
#include <cstdint>
#include <ramify/graph/config.hpp>
#include <ramify/runtime/error.hpp>
#include <span>

namespace ramify {

/// Options that only the facade has.
struct graph_facade_options {
  ramify::backend backend = ramify::backend::automatic;
  /// The backend's pending-launch limit during the call; 0 leaves it unchanged. The report states
  /// the limit that was granted. No other thread must launch meanwhile.
  std::size_t pending_launches = 0;
};

/// Options of connected_components().
struct graph_options : graph_config, graph_facade_options {};
/// Options of breadth_first_search().
struct bfs_options : bfs_config, graph_facade_options {};
/// Options of shortest_paths().
struct sssp_options : sssp_config, graph_facade_options {};
/// Options of pagerank().
struct pagerank_options : pagerank_config, graph_facade_options {};

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
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
bfs_report breadth_first_search(const graph_view& graph, std::int64_t source,
                                const bfs_spans& results, const bfs_options& options = {});

/// Computes the shortest paths from `source`. It ignores graph.in_offsets and graph.in_sources.
/// Distances have the type of the lengths. Sums of float and of double are rounded. Sums of 64-bit
/// integers are exact; 2^64 - 1 stands for infinity, and a distance above 2^64 - 3 is an error.
/// \param weights  m edge lengths, in the order of graph.targets
/// \param results  arrays of n elements each; an empty array is not computed
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
sssp_report shortest_paths(const graph_view& graph, std::span<const float> weights,
                           std::int64_t source, const sssp_spans& results,
                           const sssp_options& options = {});
/// Computes the shortest paths for lengths of type double; see the function for float.
sssp_report shortest_paths(const graph_view& graph, std::span<const double> weights,
                           std::int64_t source, const basic_sssp_spans<double>& results,
                           const sssp_options& options = {});
/// Computes the shortest paths for lengths that are 64-bit integers; see the function for float.
sssp_report shortest_paths(const graph_view& graph, std::span<const std::uint64_t> weights,
                           std::int64_t source, const basic_sssp_spans<std::uint64_t>& results,
                           const sssp_options& options = {});
/// Computes the shortest paths of a graph without edges, for the weights `{}`; see the function for
/// float.
inline sssp_report shortest_paths(const graph_view& graph, no_edge_lengths /*weights*/,
                                  std::int64_t source, const sssp_spans& results,
                                  const sssp_options& options = {}) {
  return shortest_paths(graph, std::span<const float>(), source, results, options);
}

/// Computes the connected components. The direction of edges is ignored.
/// \param components  n elements: the smallest vertex of the component of each vertex. If it is
///                    empty, only the number of components is computed
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
components_report connected_components(const graph_view& graph, std::span<std::int32_t> components,
                                       const graph_options& options = {});

/// Computes the PageRank of all vertices. It ignores graph.in_offsets and graph.in_sources.
/// \param ranks  n elements, whose sum is about 1. If it is empty, only the report is computed
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error; see Errors above
pagerank_report pagerank(const graph_view& graph, std::span<double> ranks,
                         const pagerank_options& options = {});

}  // namespace ramify
