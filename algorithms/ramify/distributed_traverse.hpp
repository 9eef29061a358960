// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Unbalanced Tree Search with all ranks of a communicator, for plain C++.
///
///     ramify::mpi_session session;
///     ramify::communicator comm;
///     const auto found = ramify::distributed_tree_search(comm, ramify::parse_uts_tree("T1L"));
///     found.counts.nodes;  // 102181082, on all ranks
///
/// For other trees use <ramify/distributed_traverse.cuh>, which also states the algorithm, its cost
/// and how long a rank waits.
///
/// Tree      As for tree_search(). All ranks must pass the same one.
/// Backend   That of the communicator; env.backend must be automatic, or this one.
/// Stream    The search of a rank is ordered after earlier work in its env.stream.
/// Waits     until the search is complete on all ranks.
/// Errors    std::invalid_argument, on all ranks, for a bad argument, and if a rank has another
///           tree or other options than rank 0; else cluster_error, on all ranks.
/// Link      ramify::facade_distributed_traverse

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_traverse/config.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/tree_search/parameters.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// The counts of a tree, and the report of the search by all ranks.
struct distributed_tree_search_result {
  uts_counts counts;                   ///< of all ranks
  distributed_traverse_report report;  ///< the report of the run
};

/// Counts the nodes and leaves of a tree, and finds its depth. All ranks get the result. The
/// options, and the backend, route, loop and limit of the environment, must be the same on all
/// ranks. Collective.
/// \param options   its strategy must be work_sharing
/// \param exchange  how often the ranks exchange nodes
/// \param env       its flat_loop must not be graph; its memory: run_report::scratch_bytes states
///                  how much a rank needs
/// \throws std::invalid_argument, cluster_error
distributed_tree_search_result distributed_tree_search(communicator& comm,
                                                       const uts_parameters& tree,
                                                       const traverse_options& options,
                                                       const exchange_options& exchange,
                                                       const environment& env = {});
/// Overload with the default options.
inline distributed_tree_search_result distributed_tree_search(communicator& comm,
                                                              const uts_parameters& tree,
                                                              const environment& env = {}) {
  return distributed_tree_search(comm, tree, {}, {}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
