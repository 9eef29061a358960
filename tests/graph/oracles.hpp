// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Results of graph algorithms by Boost.Graph and by serial loops. The C++ compiler compiles them
/// for all tests, because nvcc warns about Boost's headers.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tests {

/// Directed edges.
using edge_list = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// Returns the levels of a breadth-first search of a graph of n vertices; -1: not reached.
[[nodiscard]] std::vector<std::int32_t> boost_levels(std::size_t n, const edge_list& edges,
                                                     std::int32_t source);

/// Returns the distances of shortest paths by Dijkstra's algorithm; infinity, or 2^64 - 1: not
/// reached. T is float, double or std::uint64_t.
template <class T>
[[nodiscard]] std::vector<T> boost_distances(std::size_t n, const edge_list& edges,
                                             const std::vector<T>& weights, std::int32_t source);

/// Returns the smallest vertex of the connected component of each vertex. The direction of edges is
/// ignored.
[[nodiscard]] std::vector<std::int32_t> boost_components(std::size_t n, const edge_list& edges);

/// Returns the ranks after `iterations` of PageRank's power iteration.
[[nodiscard]] std::vector<double> serial_ranks(std::size_t n, const edge_list& edges,
                                               double damping, unsigned iterations);

/// Returns the core number of each vertex of a symmetric graph without loops and repeated edges.
[[nodiscard]] std::vector<std::int32_t> boost_cores(std::size_t n, const edge_list& edges);

/// Returns the number of triangles of a symmetric graph without loops and repeated edges.
[[nodiscard]] std::uint64_t serial_triangles(std::size_t n, const edge_list& edges);

/// Returns the betweenness centrality of each vertex, with all vertices as sources.
[[nodiscard]] std::vector<double> boost_betweenness(std::size_t n, const edge_list& edges);

/// Returns the labels after label propagation: a vertex without a seed takes the label of most of
/// its edges, the smallest of several, until no label changes, or for `max_rounds` rounds; -1: no
/// label arrives.
[[nodiscard]] std::vector<int> serial_labels(std::size_t n, const edge_list& edges,
                                             const std::vector<int>& seeds, int labels,
                                             unsigned max_rounds);

}  // namespace tests
