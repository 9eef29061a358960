// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's branch and bound for the backend of the compiler that reads this file.

#include <ramify/branch_and_bound.cuh>
#include <ramify/traverse.cuh>

#include "branch_and_bound/on_backend.hpp"
#include "branch_and_bound/searches.cuh"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// The functor that calls ramify::branch_and_bound().
struct find_best_leaf {
  const branch_and_bound_options& options;

  template <class Node, class Problem>
  branch_and_bound::best_of_search<Node, branch_and_bound_report> operator()(
      const Node& root, const Problem& problem, const branch_and_bound::value_range& values,
      const search_limits& limits) const {
    const branch_and_bound_config config{options, values.lower, values.upper, limits};
    facade_call call(options.pending_launches);
    auto found = ramify::branch_and_bound(root, problem, call.stream(), config);
    return {found.found, found.value, found.solution, found.proof, call.finish(found.report)};
  }
  [[nodiscard]] static bool on_any_rank(bool here) { return here; }
};

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD

namespace ramify::detail::facade {

template <>
branch_and_bound_report knapsack_on<this_build>(const knapsack_instance& instance,
                                                const branch_and_bound_options& options,
                                                knapsack_solution& solution) {
  return branch_and_bound::solve_knapsack(instance, options.limits, solution,
                                          find_best_leaf{options});
}

template <>
branch_and_bound_report flow_shop_on<this_build>(const flow_shop_instance& shop,
                                                 const branch_and_bound_options& options,
                                                 flow_shop_solution& solution) {
  return branch_and_bound::solve_flow_shop(shop, options.limits, solution, find_best_leaf{options});
}

template <>
traverse_report count_queens_on<this_build>(unsigned n, const queens_options& options,
                                            queens_counts& counts) {
  facade_call call(options.pending_launches);
  return branch_and_bound::traverse_queens(
      n, options, counts, call, [&](const auto& root, const auto&... tree) {
        return ramify::traverse(root, tree..., call.stream(), options);
      });
}

}  // namespace ramify::detail::facade
