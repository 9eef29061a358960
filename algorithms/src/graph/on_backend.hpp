// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's graph algorithms on one backend.

#include <ramify/graph.hpp>
#include <ramify/version.hpp>

#include "facade/kernel_build.hpp"
#include "facade/started_call.hpp"

namespace ramify::detail::facade::inline RAMIFY_ABI {

// All arrays belong to the caller and may be in any memory; null outputs are not computed. nvcc and
// the C++ compiler each compile these functions once. They wait until the outputs are written,
// except those that begin with start_: their arrays must be in memory that kernels can access.

/// Searches breadth-first on one backend.
template <build where>
bfs_report breadth_first_search_on(const graph_view& graph, std::int64_t source,
                                   const bfs_arrays& results, const bfs_options& options,
                                   const environment& env);

/// Starts a breadth-first search on one backend.
template <build where>
started_call<bfs_report> start_breadth_first_search_on(const graph_view& graph, std::int64_t source,
                                                       const bfs_arrays& results,
                                                       const bfs_options& options,
                                                       const environment& env);

/// Searches breadth-first from several sources on one backend.
template <build where>
searches_report breadth_first_searches_on(const graph_view& graph,
                                          std::span<const std::int64_t> sources,
                                          std::span<std::int32_t> levels,
                                          const graph_options& options, const environment& env);

/// Computes shortest paths on one backend, for each type of lengths.
template <build where, edge_length T>
sssp_report shortest_paths_on(const graph_view& graph, std::span<const T> weights,
                              std::int64_t source, const basic_sssp_arrays<T>& results,
                              const sssp_options& options, const environment& env);

/// Starts to compute shortest paths on one backend, for each type of lengths.
template <build where, edge_length T>
started_call<sssp_report> start_shortest_paths_on(const graph_view& graph,
                                                  std::span<const T> weights, std::int64_t source,
                                                  const basic_sssp_arrays<T>& results,
                                                  const sssp_options& options,
                                                  const environment& env);

/// Computes connected components on one backend.
template <build where>
components_report connected_components_on(const graph_view& graph, std::int32_t* components,
                                          const graph_options& options, const environment& env);

/// Starts to compute connected components on one backend.
template <build where>
started_call<components_report> start_connected_components_on(const graph_view& graph,
                                                              std::int32_t* components,
                                                              const graph_options& options,
                                                              const environment& env);

/// Computes PageRank on one backend.
template <build where>
pagerank_report pagerank_on(const graph_view& graph, double* ranks, const pagerank_options& options,
                            const environment& env);

/// Starts to compute PageRank on one backend.
template <build where>
started_call<pagerank_report> start_pagerank_on(const graph_view& graph, double* ranks,
                                                const pagerank_options& options,
                                                const environment& env);

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
