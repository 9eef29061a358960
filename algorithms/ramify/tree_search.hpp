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
/// Stream     the call is ordered after earlier work in environment::stream.
/// Waits      until the search is complete.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run, both before anything is launched;
///            std::length_error if the frontier exceeded options.capacity; cuda_error,
///            device_launch_error.
/// Complexity for each node a SHA-1 and, in geometric trees, a logarithm. The memory depends on
///            options.capacity and on the device, and not on the size of the tree.

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/tree_search/parameters.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// The counts of a tree, and the report of the search.
struct tree_search_result {
  uts_counts counts;       ///< of the tree
  traverse_report report;  ///< the report of the run
};

/// Counts the nodes and leaves of a tree, finds its depth, and waits for the result.
/// \param env  its memory: tree_search_scratch_bytes() of <ramify/tree_search.cuh>
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
tree_search_result tree_search(const uts_parameters& tree, const traverse_options& options,
                               const environment& env = {});
/// Overload with the default options.
inline tree_search_result tree_search(const uts_parameters& tree, const environment& env = {}) {
  return tree_search(tree, {}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
