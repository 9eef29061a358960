// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The compiled searches of <ramify/branch_and_bound.hpp> with all ranks of a communicator, for
/// plain C++.
///
///     ramify::mpi_session session;
///     ramify::communicator comm;
///     const auto shop = ramify::taillard_flow_shop(20, 5, 873654221);
///     ramify::distributed_flow_shop(comm, shop).makespan;            // 1278, on all ranks
///     ramify::distributed_count_queens(comm, 8).counts.solutions;    // 92, on all ranks
///
/// The options, and the backend, route, loop and limit of the environment, must be the same on all
/// ranks. `options.strategy` must be work_sharing, and `env.flat_loop` must not be graph.
///
/// For other problems use <ramify/distributed_branch_and_bound.cuh> and
/// <ramify/distributed_traverse.cuh>, which also state the algorithm, its cost and how long a rank
/// waits.
///
/// Instance  As for the function of one process. All ranks must pass the same one.
/// Result    That of one process, on all ranks. After a limit (options.limits) it is the best one
///           so far; the ranks compare their numbers between rounds, so that all end together.
/// Backend   That of the communicator; env.backend must be automatic, or this one.
/// Stream    The search of a rank is ordered after earlier work in its env.stream.
/// Memory    That of the environment: run_report::scratch_bytes states how much a rank needs, for
///           each capacity. A resource is the simplest choice.
/// Waits     until the search is complete on all ranks.
/// Errors    std::invalid_argument, on all ranks, for a bad argument, and if a rank has another
///           instance or other options than rank 0; else cluster_error, on all ranks.
/// Link      ramify::facade_distributed_branch_and_bound

#include <ramify/runtime/detail/requirements.hpp>

#include <ramify/branch_and_bound.hpp>
#include <ramify/cluster/communicator.hpp>
#include <ramify/distributed_branch_and_bound/config.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// The solution of a knapsack, and the report of the search by all ranks.
struct distributed_knapsack_result : knapsack_solution {
  distributed_branch_and_bound_report report;  ///< the report of the run
};

/// Finds the items of most profit, as knapsack() does. Collective.
/// \param exchange  how often the ranks exchange nodes
/// \param env       its memory: see Memory above
/// \throws std::invalid_argument, cluster_error
[[nodiscard]] distributed_knapsack_result distributed_knapsack(
    communicator& comm, const knapsack_instance& instance, const branch_and_bound_options& options,
    const exchange_options& exchange, const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline distributed_knapsack_result distributed_knapsack(
    communicator& comm, const knapsack_instance& instance, const environment& env = {}) {
  return distributed_knapsack(comm, instance, {}, {}, env);
}

/// The solution of a flow shop, and the report of the search by all ranks.
struct distributed_flow_shop_result : flow_shop_solution {
  distributed_branch_and_bound_report report;  ///< the report of the run
};

/// Finds an order of the jobs with the smallest makespan, the one that flow_shop() finds.
/// Collective.
/// \param exchange  how often the ranks exchange nodes
/// \param env       its memory: see Memory above
/// \throws std::invalid_argument, cluster_error
[[nodiscard]] distributed_flow_shop_result distributed_flow_shop(
    communicator& comm, const flow_shop_instance& shop, const branch_and_bound_options& options,
    const exchange_options& exchange, const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline distributed_flow_shop_result distributed_flow_shop(
    communicator& comm, const flow_shop_instance& shop, const environment& env = {}) {
  return distributed_flow_shop(comm, shop, {}, {}, env);
}

/// The counts of n queens, and the report of the traversal by all ranks.
struct distributed_queens_result {
  queens_counts counts;                ///< solutions and visited boards of all ranks
  distributed_traverse_report report;  ///< the report of the run
};

/// Counts all ways to place `n` queens, as count_queens() does. Collective.
/// \param exchange  how often the ranks exchange nodes
/// \param env       its memory: see Memory above
/// \throws std::invalid_argument, cluster_error
[[nodiscard]] distributed_queens_result distributed_count_queens(communicator& comm, unsigned n,
                                                                 const queens_options& options,
                                                                 const exchange_options& exchange,
                                                                 const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline distributed_queens_result distributed_count_queens(
    communicator& comm, unsigned n, const environment& env = {}) {
  return distributed_count_queens(comm, n, {}, {}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
