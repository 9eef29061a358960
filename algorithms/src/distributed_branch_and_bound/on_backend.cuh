// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's distributed branch and bound for the backend of the compiler that reads
/// this file.

#include <ramify/distributed_branch_and_bound.cuh>
#include <ramify/distributed_traverse.cuh>
#include <ramify/version.hpp>

#include "branch_and_bound/searches.cuh"
#include "distributed_branch_and_bound/on_backend.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// The functor that calls ramify::distributed_branch_and_bound().
struct find_best_leaf_on_ranks {
  communicator& comm;
  const branch_and_bound_options& options;
  const exchange_options& exchange;
  const environment& env;

  template <class Node, class Problem>
  branch_and_bound::best_of_search<Node, distributed_branch_and_bound_report> operator()(
      const Node& root, const Problem& problem, const value_range& range,
      const search_limits& limits) const {
    facade_call call(env);
    auto found = ramify::distributed_branch_and_bound(comm, root, problem, range, {options, limits},
                                                      exchange, env);
    return {found.found, found.value, found.solution, found.proof, call.finish(found.report)};
  }
  [[nodiscard]] bool on_any_rank(bool here) const {
    return comm.all_reduce(here ? 1U : 0U, reduction::max) != 0;
  }
};

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
distributed_branch_and_bound_report distributed_knapsack_on<this_build>(
    communicator& comm, const knapsack_instance& instance, const branch_and_bound_options& options,
    const exchange_options& exchange, const environment& env, knapsack_solution& solution) {
  return branch_and_bound::solve_knapsack(instance, options.limits, solution,
                                          find_best_leaf_on_ranks{comm, options, exchange, env});
}

template <>
distributed_branch_and_bound_report distributed_flow_shop_on<this_build>(
    communicator& comm, const flow_shop_instance& shop, const branch_and_bound_options& options,
    const exchange_options& exchange, const environment& env, flow_shop_solution& solution) {
  return branch_and_bound::solve_flow_shop(shop, options.limits, solution,
                                           find_best_leaf_on_ranks{comm, options, exchange, env});
}

template <>
distributed_traverse_report distributed_count_queens_on<this_build>(
    communicator& comm, unsigned n, const queens_options& options, const exchange_options& exchange,
    const environment& env, queens_counts& counts) {
  facade_call call(env);
  return branch_and_bound::traverse_queens(
      n, options, counts, call, [&](const auto& root, const auto&... tree) {
        return ramify::distributed_traverse(comm, root, tree..., options, exchange, env);
      });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
