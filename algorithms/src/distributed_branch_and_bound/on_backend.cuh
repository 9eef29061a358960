// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's distributed branch and bound for the backend of the compiler that reads
/// this file.

#include <ramify/distributed_branch_and_bound.cuh>
#include <ramify/distributed_traverse.cuh>

#include "branch_and_bound/searches.cuh"
#include "distributed_branch_and_bound/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// The functor that calls ramify::distributed_branch_and_bound().
struct find_best_leaf_on_ranks {
  communicator& comm;
  const distributed_branch_and_bound_options& options;

  template <class Node, class Problem>
  branch_and_bound::best_of_search<Node, distributed_branch_and_bound_report> operator()(
      const Node& root, const Problem& problem, const branch_and_bound::value_range& values,
      const search_limits& limits) const {
    const distributed_branch_and_bound_config config{
        {options, values.lower, values.upper, limits}, options.steps, options.rounds};
    facade_call call(options.pending_launches);
    auto found = ramify::distributed_branch_and_bound(comm, root, problem, call.stream(), config);
    return {found.found, found.value, found.solution, found.proof, call.finish(found.report)};
  }
  [[nodiscard]] bool on_any_rank(bool here) const {
    return comm.all_reduce(here ? 1U : 0U, reduction::max) != 0;
  }
};

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade {

template <>
distributed_branch_and_bound_report distributed_knapsack_on<this_build>(
    communicator& comm, const knapsack_instance& instance,
    const distributed_branch_and_bound_options& options, knapsack_solution& solution) {
  return branch_and_bound::solve_knapsack(instance, options.limits, solution,
                                          find_best_leaf_on_ranks{comm, options});
}

template <>
distributed_branch_and_bound_report distributed_flow_shop_on<this_build>(
    communicator& comm, const flow_shop_instance& shop,
    const distributed_branch_and_bound_options& options, flow_shop_solution& solution) {
  return branch_and_bound::solve_flow_shop(shop, options.limits, solution,
                                           find_best_leaf_on_ranks{comm, options});
}

template <>
distributed_traverse_report distributed_count_queens_on<this_build>(
    communicator& comm, unsigned n, const distributed_queens_options& options,
    queens_counts& counts) {
  const distributed_traverse_config config{options, options.steps, options.rounds};
  facade_call call(options.pending_launches);
  return branch_and_bound::traverse_queens(
      n, options, counts, call, [&](const auto& root, const auto&... tree) {
        return ramify::distributed_traverse(comm, root, tree..., call.stream(), config);
      });
}

}  // namespace ramify::detail::facade
