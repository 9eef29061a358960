// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's branch and bound for the backend of the compiler that reads this file.

#include <ramify/branch_and_bound.cuh>
#include <ramify/traverse.cuh>
#include <ramify/version.hpp>

#include "branch_and_bound/on_backend.hpp"
#include "branch_and_bound/searches.cuh"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// The functor that calls ramify::branch_and_bound().
struct find_best_leaf {
  const branch_and_bound_options& options;
  const environment& env;

  template <class Node, class Problem>
  branch_and_bound::best_of_search<Node, branch_and_bound_report> operator()(
      const Node& root, const Problem& problem, const value_range& range,
      const search_limits& limits) const {
    facade_call call(env);
    auto found = ramify::branch_and_bound(root, problem, range, {options, limits}, env);
    return {found.found, found.value, found.solution, found.proof, call.finish(found.report)};
  }
  [[nodiscard]] static bool on_any_rank(bool here) { return here; }
};

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade::inline RAMIFY_ABI {

template <>
branch_and_bound_report knapsack_on<this_build>(const knapsack_instance& instance,
                                                const branch_and_bound_options& options,
                                                const environment& env,
                                                knapsack_solution& solution) {
  return branch_and_bound::solve_knapsack(instance, options.limits, solution,
                                          find_best_leaf{options, env});
}

template <>
branch_and_bound_report flow_shop_on<this_build>(const flow_shop_instance& shop,
                                                 const branch_and_bound_options& options,
                                                 const environment& env,
                                                 flow_shop_solution& solution) {
  return branch_and_bound::solve_flow_shop(shop, options.limits, solution,
                                           find_best_leaf{options, env});
}

template <>
traverse_report count_queens_on<this_build>(unsigned n, const queens_options& options,
                                            const environment& env, queens_counts& counts) {
  facade_call call(env);
  return branch_and_bound::traverse_queens(n, options, counts, call,
                                           [&](const auto& root, const auto&... tree) {
                                             return ramify::traverse(root, tree..., options, env);
                                           });
}

}  // namespace ramify::detail::facade::inline RAMIFY_ABI
