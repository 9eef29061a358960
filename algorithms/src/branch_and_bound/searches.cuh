// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The compiled searches, for one process and for several: what comes before and after the call of
/// a header template.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <ramify/branch_and_bound.hpp>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/flow_shop.cuh>
#include <ramify/branch_and_bound/knapsack.cuh>
#include <ramify/branch_and_bound/knapsack_lists.cuh>
#include <ramify/branch_and_bound/queens.cuh>
#include <type_traits>
#include <vector>

#include "facade/device_arrays.cuh"
#include "facade/facade_call.cuh"

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// Nodes that a search of a knapsack expands before dynamic programming is tried: some
/// milliseconds on a GPU, about a quarter of a second on the CPU executor.
inline constexpr std::uint64_t knapsack_first_nodes = std::uint64_t{1} << 20;

/// Maximum length of the lists of dynamic programming: 48 MiB each, and as much while an item is
/// added.
inline constexpr std::size_t max_knapsack_states = std::size_t{1} << 21;

/// Returns the range of the values of a search. The bound of the root is the smallest possible
/// value.
template <class Node, class Problem>
value_range range_of(const Node& root, const Problem& problem, std::int64_t largest) {
  return {problem.degree(root) > 0 ? problem.bound(root) : problem.value(root), largest};
}

/// What `find_best(root, problem, range, limits)` returns: the best leaf of a search. All ranks
/// must make the same searches, so find_best.on_any_rank(x) returns whether x is true on any.
template <class Node, class Report>
struct best_of_search {
  bool found;
  std::int64_t value;
  Node leaf;
  search_proof proof;
  Report report;
};

/// The time and the nodes that the searches of one call have left.
class remaining_limits {
 public:
  explicit remaining_limits(const search_limits& limits) : limits_(limits) {}

  void count(std::uint64_t expanded) { expanded_ += expanded; }
  [[nodiscard]] bool is_reached() const {
    return (limits_.max_nodes != 0 && expanded_ >= limits_.max_nodes) ||
           (limits_.max_seconds != 0 && seconds() >= limits_.max_seconds);
  }
  /// Returns the limits of the next search. Requires that none is reached. The time is at least a
  /// nanosecond, because 0 means no limit.
  [[nodiscard]] search_limits rest() const {
    search_limits left = limits_;
    if (left.max_nodes != 0) left.max_nodes -= expanded_;
    if (left.max_seconds != 0) left.max_seconds = std::max(left.max_seconds - seconds(), 1e-9);
    return left;
  }

 private:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  search_limits limits_;
  std::uint64_t expanded_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Adds the report of a further search of the same call.
template <class Report>
void add_search(Report& whole, const Report& part) {
  add_part(whole, part);
  whole.expanded += part.expanded;
  whole.pruned += part.pruned;
  whole.leaves += part.leaves;
  whole.incumbent_updates += part.incumbent_updates;
  whole.unexplored = part.unexplored;
  whole.rounds += part.rounds;
  whole.peak_frontier_nodes = std::max(whole.peak_frontier_nodes, part.peak_frontier_nodes);
  whole.work_ms += part.work_ms;
  whole.total_ms += part.total_ms;
}

/// Finds the items of most profit.
///
///   1. A search, with at most knapsack_first_nodes expanded nodes. Its bound mostly suffices.
///   2. Else dynamic programming, if its lists do not become too long.
///   3. Else a search without the limit of step 1.
template <class FindBest>
auto solve_knapsack(const knapsack_instance& instance, const search_limits& limits,
                    knapsack_solution& solution, FindBest find_best) {
  const ordered_knapsack ordered(instance);
  const knapsack_problem& problem = ordered.problem;
  const std::int64_t all = problem.profits[problem.items];
  remaining_limits left(limits);
  knapsack_node best = ordered.greedy_leaf();
  const auto search = [&](const search_limits& until) {
    auto found =
        find_best(ordered.root, problem, range_of(ordered.root, problem, best.lost), until);
    if (found.found) best = found.leaf;
    left.count(found.report.expanded);
    return found;
  };
  // 1. Search.
  search_limits first = limits;
  if (first.max_nodes == 0) first.max_nodes = knapsack_first_nodes;
  first.max_nodes = std::min(first.max_nodes, knapsack_first_nodes);
  auto found = search(first);
  std::uint64_t states = 0;
  // Also if its profit is proved: the choice may not be the first one with this profit.
  if (found.report.unexplored > 0 && !find_best.on_any_rank(left.is_reached())) {
    // 2. Dynamic programming.
    knapsack_lists lists(problem, ordered.root.capacity, all - best.lost);
    const bool fits = !find_best.on_any_rank(
        !lists.add_items(max_knapsack_states, [&] { return left.is_reached(); }));
    states = lists.states();
    if (fits) {
      best = lists.best();
      found.proof = {true, best.lost};
    } else if (!find_best.on_any_rank(left.is_reached())) {
      // 3. Search.
      auto whole = search(left.rest());
      add_search(found.report, whole.report);
      found.proof = whole.proof;
    }
  }
  solution = ordered.solution(best, instance);
  solution.proof = {found.proof.is_optimal, all - std::min(found.proof.bound, best.lost)};
  solution.states = states;
  return found.report;
}

/// Searches an order of all jobs, as solve_flow_shop() does for shops of few jobs.
template <unsigned machines, class FindBest>
auto order_all_jobs(const flow_shop_instance& shop, const search_limits& limits,
                    flow_shop_solution& solution, FindBest find_best) {
  const flow_shop_problem<machines> problem(shop, all_jobs(shop));
  const auto root = problem.root();
  auto found = find_best(root, problem, range_of(root, problem, solution.makespan), limits);
  if (found.found) {
    solution.order = problem.order_of(found.leaf);
    solution.makespan = makespan(shop, solution.order);
  }
  const std::int64_t bound = std::max(found.proof.bound, flow_shop_bound(shop));
  solution.proof = {bound >= solution.makespan, std::min(bound, solution.makespan)};
  return found.report;
}

/// Improves an order of many jobs: in one window of consecutive jobs after another it finds the
/// best order of these jobs, until no window has a better one or a limit is reached. The windows
/// are small, so that their searches are complete and the result is the same in each run.
template <unsigned machines, class FindBest>
auto order_in_windows(const flow_shop_instance& shop, const search_limits& limits,
                      flow_shop_solution& solution, FindBest find_best) {
  remaining_limits left(limits);
  const std::int64_t bound = flow_shop_bound(shop);
  using node = flow_shop_node<machines>;
  using outcome =
      decltype(find_best(node{}, flow_shop_problem<machines>(shop, {}), value_range{}, limits));
  std::optional<decltype(outcome::report)> report;
  std::size_t unchanged = 0;  // windows since the last improvement
  const std::size_t windows = flow_shop_windows(shop.jobs);
  for (std::size_t w = 0; unchanged < windows; w = (w + 1) % windows, ++unchanged) {
    if (report && (solution.makespan == bound || find_best.on_any_rank(left.is_reached()))) break;
    const job_window window = window_of(shop.jobs, w);
    const flow_shop_problem<machines> problem(
        shop, {solution.order.begin() + window.begin, solution.order.begin() + window.end});
    const node root = problem.root_between(shop, solution.order, window);
    if (report && problem.bound(root) >= solution.makespan) continue;
    const std::int64_t largest = solution.makespan - 1;
    const value_range values{std::min(problem.bound(root), largest), largest};
    auto found = find_best(root, problem, values, left.rest());
    left.count(found.report.expanded);
    if (report) {
      add_search(*report, found.report);
    } else {
      report = found.report;
    }
    if (!found.found) continue;
    std::ranges::copy(problem.order_of(found.leaf), solution.order.begin() + window.begin);
    solution.makespan = makespan(shop, solution.order);
    unchanged = 0;
  }
  solution.proof = {solution.makespan == bound, bound};
  return *report;
}

/// Finds the best order of the jobs, or a good one of many jobs.
template <class FindBest>
auto solve_flow_shop(const flow_shop_instance& shop, const search_limits& limits,
                     flow_shop_solution& solution, FindBest find_best) {
  solution = neh_order(shop);
  const auto solve = [&]<unsigned machines>(std::integral_constant<unsigned, machines>) {
    return shop.jobs <= max_flow_shop_search_jobs
               ? order_all_jobs<machines>(shop, limits, solution, find_best)
               : order_in_windows<machines>(shop, limits, solution, find_best);
  };
  // Nodes and the loops over the machines are small for few machines.
  constexpr unsigned few = 10;
  if (shop.machines <= few) return solve(std::integral_constant<unsigned, few>{});
  return solve(std::integral_constant<unsigned, max_flow_shop_machines>{});
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
