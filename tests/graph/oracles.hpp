// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Results of graph algorithms by Boost.Graph. A C++ compiler compiles them: nvcc warns of Boost's
/// headers.

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

}  // namespace tests
