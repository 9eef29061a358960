// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// tree_search() for plain C++: Unbalanced Tree Search, compiled, on whatever machine runs it.
///
///     const auto found = ramify::tree_search(ramify::parse_uts_tree("T1"));
///     found.counts.nodes;        // 4130071
///     std::cout << found.report; // on which backend, by which route, and why
///
/// The tree is grown as it is visited: a node is a SHA-1 digest, its children are the digests of it
/// and their number. What makes it a benchmark is that nobody can tell beforehand how large a
/// subtree is. For other implicit trees there is the header template <ramify/traverse.cuh>.
///
/// Waits     until the tree is searched.
/// Errors    std::invalid_argument for a bad argument, and unavailable for a backend or a route
///           that this machine or this build cannot run, both before anything is started;
///           std::length_error if more open nodes than options.capacity wait at a time; cuda_error,
///           device_launch_error.
/// Cost      a SHA-1 and, in geometric trees, a logarithm for each node; memory for
///           options.capacity open nodes, whatever the size of the tree.

#include <cstddef>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/options.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/tree_search/parameters.hpp>

namespace ramify {

struct tree_search_options : run_options {
  /// Most open nodes that may wait at a time; 0 chooses. See traverse_config.
  std::size_t capacity = 0;
};

struct tree_search_result {
  uts_counts counts;
  traverse_report report;
};

/// Counts the nodes and the leaves of the tree, and finds its depth.
tree_search_result tree_search(const uts_parameters& tree, const tree_search_options& options = {});

}  // namespace ramify
