// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Branch and bound for plain C++: two problems with compiled kernels, on the CUDA backend or on
/// the CPU executor. A third one, n queens, is backtracking: a search without bounds.
///
///     const auto best = ramify::flow_shop(ramify::taillard_flow_shop(20, 5, 873654221));
///     best.makespan;                      // 1278
///     best.order;                         // of the jobs
///     ramify::knapsack({{{3, 4}, {2, 3}, {4, 5}}, 6}).profit  // --> 8: items 1 and 2
///     ramify::count_queens(8).counts.solutions;               // 92
///
/// All results are optimal and the same in each run, except after a limit (options.limits) and for
/// flow shops of more than 20 jobs: result.proof states whether a result is optimal, and a bound. A
/// functor cannot be passed to compiled kernels. For other problems use the header template
/// <ramify/branch_and_bound.cuh>, which describes the algorithm.
///
/// Stream     the call is ordered after earlier work in environment::stream.
/// Memory     that of the environment: run_report::scratch_bytes states how much a call needs, for
///            each capacity and strategy. A resource is the simplest choice.
/// Waits      until the search is complete.
/// Errors     std::invalid_argument for a bad argument, and unavailable for a backend or a route
///            that this machine or build cannot run, both before anything is launched;
///            std::length_error if the frontier exceeded options.capacity; cuda_error,
///            device_launch_error.
/// Complexity exponential in the worst case: the bounds decide how many nodes are visited.

#include <ramify/runtime/detail/requirements.hpp>

#include <optional>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/flow_shop.hpp>
#include <ramify/branch_and_bound/knapsack.hpp>
#include <ramify/branch_and_bound/queens.hpp>
#include <ramify/branch_and_bound/taillard.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// The solution of a knapsack, and the report of the search.
struct knapsack_result : knapsack_solution {
  branch_and_bound_report report;  ///< the report of the run
};

/// Finds the items of most profit whose weight is at most the capacity, and waits for the result.
/// \param env  its memory: see Memory above
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
[[nodiscard]] knapsack_result knapsack(const knapsack_instance& instance,
                                       const branch_and_bound_options& options,
                                       const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline knapsack_result knapsack(const knapsack_instance& instance,
                                              const environment& env = {}) {
  return knapsack(instance, {}, env);
}

/// The solution of a flow shop, and the report of the search.
struct flow_shop_result : flow_shop_solution {
  branch_and_bound_report report;  ///< the report of the run
};

/// Finds an order of the jobs with the smallest makespan, and waits for the result. Of all such
/// orders it is the first one of a depth-first search that chooses the first job, the last job, the
/// second job, the last but one, and so on, and tries the jobs in the order of their numbers. Of
/// more than max_flow_shop_search_jobs jobs it finds a good order, which is the same in each run,
/// by searches in windows of consecutive jobs.
/// \param env  its memory: see Memory above
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
[[nodiscard]] flow_shop_result flow_shop(const flow_shop_instance& shop,
                                         const branch_and_bound_options& options,
                                         const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline flow_shop_result flow_shop(const flow_shop_instance& shop,
                                                const environment& env = {}) {
  return flow_shop(shop, {}, env);
}

/// Options of count_queens(): those of the traversal that visits the boards, and its methods.
struct queens_options : traverse_options {
  /// Uses the eight symmetries of the board (branch_and_bound/queens_symmetry.hpp) if n >= 4.
  bool symmetry = true;
  /// A board with at most so many rows left is a leaf of the traversal: its visit counts all
  /// solutions below it. In [3, max_queens_leaf_rows]; 0: every board is a node; none: on a
  /// GPU automatic_queens_leaf_rows(), on the CPU executor the maximum. With symmetry, leaves begin
  /// below the presets. A leaf of n queens has at most 32 - n rows; before sm_80, at most 8.
  std::optional<unsigned> leaf_rows{};
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const queens_options& options) {
  validate(static_cast<const traverse_options&>(options));
  const unsigned rows = options.leaf_rows.value_or(0);
  if (rows == 0 || (rows >= 3 && rows <= max_queens_leaf_rows)) return;
  throw std::invalid_argument("queens_options.leaf_rows is " + std::to_string(rows) +
                              "; it must be 0 or in [3, " + std::to_string(max_queens_leaf_rows) +
                              "]");
}

/// The counts of n queens, and the report of the traversal.
struct queens_result {
  queens_counts counts;    ///< solutions and visited boards
  traverse_report report;  ///< the report of the run
};

/// Counts all ways to place `n` queens, and waits for the result.
/// \param env  its memory: see Memory above
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
[[nodiscard]] queens_result count_queens(unsigned n, const queens_options& options,
                                         const environment& env = {});
/// Overload with the default options.
[[nodiscard]] inline queens_result count_queens(unsigned n, const environment& env = {}) {
  return count_queens(n, {}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
