// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Declares the facade's graph algorithms on one backend.

#include <ramify/graph.hpp>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade {

/// Searches on one backend. All arrays are the caller's, in any memory. nvcc and the C++ compiler
/// each compile it once.
template <build where>
bfs_report breadth_first_search_on(const graph_view& graph, std::int64_t source,
                                   const bfs_arrays& results, const bfs_options& options);

}  // namespace ramify::detail::facade
