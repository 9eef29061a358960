// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The compiled searches, for one process and for several: what comes before and after the call of
/// a header template.

#include <cstdint>
#include <ramify/branch_and_bound.hpp>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/flow_shop.cuh>
#include <ramify/branch_and_bound/knapsack.cuh>
#include <ramify/branch_and_bound/queens.cuh>
#include <vector>

#include "facade/device_arrays.cuh"
#include "facade/facade_call.cuh"

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// The range of the values of a search. The bound of the root is the smallest possible value, and a
/// leaf with a value of at most `upper` must exist.
struct value_range {
  std::int64_t lower, upper;

  template <class Node, class Problem>
  value_range(const Node& root, const Problem& problem, std::int64_t largest)
      : lower(problem.degree(root) > 0 ? problem.bound(root) : problem.value(root)),
        upper(largest) {}
};

/// Finds the items of most profit, with `find_best(root, problem, range, leaf)`, which stores the
/// best leaf and returns a report.
template <class FindBest>
auto solve_knapsack(const knapsack_instance& instance, knapsack_solution& solution,
                    FindBest find_best) {
  const ordered_knapsack ordered(instance);
  knapsack_node leaf{};
  const value_range values(ordered.root, ordered.problem, ordered.lost_by_greedy());
  auto report = find_best(ordered.root, ordered.problem, values, leaf);
  solution = ordered.solution(leaf, instance);
  return report;
}

/// Finds the best order of the jobs, with `find_best` as of solve_knapsack().
template <class FindBest>
auto solve_flow_shop(const flow_shop_instance& shop, flow_shop_solution& solution,
                     FindBest find_best) {
  const flow_shop_problem problem(shop);
  flow_shop_node leaf{};
  const value_range values(problem.root(), problem, neh_order(shop).makespan);
  auto report = find_best(problem.root(), problem, values, leaf);
  solution = solution_of(shop, leaf);
  return report;
}

/// Counts queens, with `traverse(root, expand, visit, reduce, identity)`, which returns the result
/// of a traversal.
template <class Traverse>
auto traverse_queens(unsigned n, const queens_options& options, queens_counts& counts,
                     facade_call& call, Traverse traverse) {
  const bool symmetric = options.symmetry && n >= min_symmetric_queens;
  std::vector<queens_node> presets;
  if (symmetric) presets = queens_boards_with_presets(n);
  const queens_node root = symmetric ? queens_node{} : empty_queens_board(n);
  const unsigned rows = RAMIFY_ON_CUDA ? automatic_queens_leaf_rows(n) : max_queens_leaf_rows;
  const on_device<const queens_node> boards(presets, call, "the boards with presets");
  const queens_expand tree(n, boards.data(), presets.size(), options.leaf_rows.value_or(rows));
  auto found = traverse(root, tree, queens_visit{tree}, add_queens{}, queens_counts{});
  counts = found.value;
  return call.finish(found.report);
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
