// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// tree_search() for plain C++: Unbalanced Tree Search, compiled, on the CUDA backend or the CPU.
///
///     const auto found = ramify::tree_search(ramify::parse_uts_tree("T1"));
///     found.counts.nodes;        // 4130071
///     std::cout << found.report; // the backend and the route that ran, and the reasons
///
/// The tree is generated while it is visited. A node is a SHA-1 digest; a child is the digest of
/// its parent and of its own number. The size of a subtree cannot be predicted, so the tree is a
/// benchmark of load balancing. For other implicit trees use the header template
/// <ramify/traverse.cuh>.
///
/// Waits      until the search is complete.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run, both before anything is launched;
///            std::length_error if the frontier exceeded options.capacity; cuda_error,
///            device_launch_error.
/// Complexity for each node a SHA-1 and, in geometric trees, a logarithm. The memory depends on
///            options.capacity and on the device, and not on the size of the tree.

#include <ramify/runtime/requirements.hpp>

#include <cstddef>
#include <ramify/runtime/error.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/tree_search/parameters.hpp>

namespace ramify {

/// All options of traverse(), and those of a compiled call.
struct tree_search_options : traverse_config {
  ramify::backend backend = ramify::backend::automatic;
  /// Pending-launch limit of the backend during the call; 0 leaves it unchanged. The report states
  /// the limit that was granted. No other thread may launch grids during the call.
  std::size_t pending_launches = 0;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const tree_search_options& options) {
  validate(static_cast<const traverse_config&>(options));
  check_enumerator(options.backend, "tree_search_options.backend");
}

/// The counts of a tree, and the report of the search.
struct tree_search_result {
  uts_counts counts;
  traverse_report report;
};

/// Counts the nodes and leaves of a tree, finds its depth, and waits for the result.
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
tree_search_result tree_search(const uts_parameters& tree, const tree_search_options& options = {});

}  // namespace ramify
