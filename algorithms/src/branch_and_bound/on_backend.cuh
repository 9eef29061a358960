// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Defines the facade's branch and bound for the backend of the compiler that reads this file.

#include <ramify/branch_and_bound.cuh>
#include <ramify/branch_and_bound/flow_shop.cuh>
#include <ramify/branch_and_bound/knapsack.cuh>
#include <ramify/branch_and_bound/queens.cuh>
#include <ramify/traverse.cuh>
#include <vector>

#include "branch_and_bound/on_backend.hpp"
#include "facade/device_arrays.cuh"
#include "facade/facade_call.cuh"

namespace ramify::detail::facade {

/// Searches a tree for a leaf with a value of at most `upper`, which must exist. Stores the leaf in
/// `leaf`. The bound of the root is the smallest possible value.
template <class Node, class Problem>
branch_and_bound_report find_best(const Node& root, const Problem& problem, std::int64_t upper,
                                  const branch_and_bound_options& options, Node& leaf) {
  branch_and_bound_config config{options};
  config.lower = problem.degree(root) > 0 ? problem.bound(root) : problem.value(root);
  config.upper = upper;
  facade_call call(options.pending_launches);
  auto found = ramify::branch_and_bound(root, problem, call.stream(), config);
  leaf = found.solution;
  return call.finish(found.report);
}

template <>
branch_and_bound_report knapsack_on<this_build>(const knapsack_instance& instance,
                                                const branch_and_bound_options& options,
                                                knapsack_solution& solution) {
  const branch_and_bound::ordered_knapsack ordered(instance);
  branch_and_bound::knapsack_node leaf{};
  auto report = find_best(ordered.root, ordered.problem, ordered.lost_by_greedy(), options, leaf);
  solution = ordered.solution(leaf, instance);
  return report;
}

template <>
branch_and_bound_report flow_shop_on<this_build>(const flow_shop_instance& shop,
                                                 const branch_and_bound_options& options,
                                                 flow_shop_solution& solution) {
  const branch_and_bound::flow_shop_problem problem(shop);
  branch_and_bound::flow_shop_node leaf{};
  auto report = find_best(problem.root(), problem, neh_order(shop).makespan, options, leaf);
  solution = branch_and_bound::solution_of(shop, leaf);
  return report;
}

template <>
traverse_report count_queens_on<this_build>(unsigned n, const queens_options& options,
                                            queens_counts& counts) {
  using branch_and_bound::queens_node;
  const bool symmetric = options.symmetry && n >= branch_and_bound::min_symmetric_queens;
  std::vector<queens_node> presets;
  if (symmetric) presets = branch_and_bound::queens_boards_with_presets(n);
  const queens_node root = symmetric ? queens_node{} : branch_and_bound::empty_queens_board(n);
  const unsigned rows = RAMIFY_ON_CUDA ? automatic_queens_leaf_rows(n) : max_queens_leaf_rows;
  facade_call call(options.pending_launches);
  const on_device<const queens_node> boards(presets, call, "the boards with presets");
  const branch_and_bound::queens_expand tree(n, boards.data(), presets.size(),
                                             options.leaf_rows.value_or(rows));
  auto found =
      ramify::traverse(root, tree, branch_and_bound::queens_visit{tree},
                       branch_and_bound::add_queens{}, queens_counts{}, call.stream(), options);
  counts = found.value;
  return call.finish(found.report);
}

}  // namespace ramify::detail::facade
