// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Serial checks of the results of graph algorithms. They share no code and no arithmetic with the
/// algorithms.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "graphs.hpp"

namespace common {

/// The distance of a vertex that is not reached.
template <class T>
inline constexpr T infinite = std::is_integral_v<T> ? std::numeric_limits<T>::max()
                                                    : std::numeric_limits<T>::infinity();

/// Checks a breadth-first search as Graph 500 does: (1) parents lead to the source, (2) along
/// parents levels differ by one, (3) along each edge levels differ by at most one, in a directed
/// graph in its direction, (4) exactly the vertices that the source reaches have levels, (5) a
/// parent and its child are joined by an edge. Returns a fault, or an empty string.
[[nodiscard]] std::string search_fault(const stored_graph& graph, std::int32_t source,
                                       std::span<const std::int32_t> levels,
                                       std::span<const std::int32_t> parents);

/// Checks shortest paths in the same way: no edge makes a path shorter, and the distance of each
/// vertex is its parent's distance plus the length of an edge. Integers are compared exactly, float
/// and double in long double, with the rounding of one addition. The lengths of all paths are added
/// again in long double; a distance may differ from its path by the rounding of as many additions
/// as the path has edges.
///
/// \tparam T        float, double or std::uint64_t, the type of graph.lengths
/// \param rounding  null, or a number that is raised to the largest difference between a distance
///                  and the length of its path, relative to the length
/// \return a fault, or an empty string
template <class T>
[[nodiscard]] std::string paths_fault(const stored_graph& graph, std::int32_t source,
                                      std::span<const T> distances,
                                      std::span<const std::int32_t> parents,
                                      double* rounding = nullptr);

/// Compares components with a serial union and find. Returns the first fault, or an empty string.
[[nodiscard]] std::string components_fault(const stored_graph& graph,
                                           std::span<const std::int32_t> components);

/// Compares ranks with as many iterations of a serial PageRank. Returns the first fault, or an
/// empty string.
[[nodiscard]] std::string ranks_fault(const stored_graph& graph, double damping,
                                      std::uint64_t iterations, std::span<const double> ranks);

}  // namespace common
