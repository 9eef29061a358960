// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A tree with random costs, its best leaf by exhaustive search, and exhaustive searches of small
/// knapsacks and flow shops.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/branch_and_bound.cuh>
#include <ramify/branch_and_bound.hpp>
#include <ramify/runtime/launch.cuh>
#include <vector>

#include "device_vectors.cuh"
#include "effort.hpp"
#include "printing.hpp"
#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

struct cost_node {
  unsigned level;
  std::uint32_t hash;
  std::int64_t cost;

  friend bool operator==(const cost_node&, const cost_node&) = default;
};

/// A tree in which each edge has a random cost from 0 to 3. The value of a leaf is the sum of the
/// costs of its path, so many leaves have the same value. A fifth of the leaves are no solutions.
struct cost_tree {
  unsigned levels;
  unsigned arity;
  std::uint32_t seed = 1;
  std::int64_t offset = 0;  ///< is added to all values
  std::int64_t excess = 0;  ///< is added to all bounds: a wrong bound if it is not 0
  bool is_comb = false;     ///< first children cost 0, others 4; all leaves are solutions

  [[nodiscard]] cost_node root() const { return {0, seed, offset}; }

  [[nodiscard]] __host__ __device__ unsigned degree(const cost_node& n) const {
    if (n.level == levels) return 0;
    return !is_comb && arity > 1 && n.hash % 3 == 0 ? arity - 1 : arity;
  }
  [[nodiscard]] __host__ __device__ cost_node child(const cost_node& n, unsigned i) const {
    std::uint32_t hash = (n.hash + i + 1) * 2'654'435'761u;
    hash ^= hash >> 15;
    hash *= 2'246'822'519u;
    hash ^= hash >> 13;
    const unsigned cost = !is_comb ? hash >> 30 : i == 0 ? 0 : 4;
    return {n.level + 1, hash, n.cost + static_cast<std::int64_t>(cost)};
  }
  [[nodiscard]] __host__ __device__ std::int64_t bound(const cost_node& n) const {
    return n.cost + excess;
  }
  [[nodiscard]] __host__ __device__ std::int64_t value(const cost_node& n) const {
    return !is_comb && n.hash % 5 == 0 ? no_solution : n.cost;
  }
};

using cost_result = branch_and_bound_result<cost_node>;
using cost_run = async_run<cost_result>;

/// The first best leaf of a depth-first search without bounds.
struct best_leaf {
  std::int64_t value = no_solution;
  cost_node leaf{};
  std::size_t nodes = 0;
  std::size_t equal = 0;  ///< number of leaves with this value
};

inline void visit_all(const cost_tree& tree, const cost_node& n, best_leaf& best) {
  ++best.nodes;
  const unsigned degree = tree.degree(n);
  for (unsigned i = 0; i < degree; ++i) visit_all(tree, tree.child(n, i), best);
  if (degree > 0 || tree.value(n) == no_solution) return;
  if (tree.value(n) == best.value) ++best.equal;
  if (tree.value(n) >= best.value) return;
  best.value = tree.value(n);
  best.leaf = n;
  best.equal = 1;
}

[[nodiscard]] inline best_leaf exhaustive_search(const cost_tree& tree) {
  best_leaf best;
  visit_all(tree, tree.root(), best);
  return best;
}

/// Searches a tree, and compares with the exhaustive search.
inline branch_and_bound_report expect_best(const cost_tree& tree, const best_leaf& expected,
                                           const value_range& range,
                                           const branch_and_bound_options& options,
                                           const environment& env = {}) {
  return with_grids_counted([&] {
    const cost_result found = ramify::branch_and_bound(tree.root(), tree, range, options, env);
    BOOST_TEST(found.found == (expected.value != no_solution));
    BOOST_TEST(found.value == expected.value);
    if (found.found) BOOST_TEST(bool(found.solution == expected.leaf));
    return found.report;
  });
}

inline const cost_tree bushy{.levels = effort() < 0.1 ? 5u : 9u, .arity = 3, .seed = 5};

/// Options for each strategy.
inline const branch_and_bound_options all_options[] = {
    {}, {{50'000, traverse_strategy::task_per_node, {granularity::per_grid, 0, 2}}, {}}};

/// Returns the largest profit, by dynamic programming over the capacities.
[[nodiscard]] inline std::int64_t best_profit(const knapsack_instance& instance) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(instance.capacity) + 1, 0);
  for (const auto& [weight, profit] : instance.items) {
    for (auto c = static_cast<std::size_t>(instance.capacity) + 1; c-- > 0;) {
      const auto w = static_cast<std::size_t>(weight);
      if (w <= c) best[c] = std::max(best[c], best[c - w] + profit);
    }
  }
  return best.back();
}

/// Returns the best order of all, and of those the first one in the order of decisions of
/// flow_shop(): first job, last job, second job, and so on.
[[nodiscard]] inline flow_shop_solution best_order(const flow_shop_instance& shop) {
  std::vector<std::size_t> decisions(shop.jobs);
  std::iota(decisions.begin(), decisions.end(), std::size_t{0});
  flow_shop_solution best;
  std::vector<std::size_t> order(shop.jobs);
  do {
    for (std::size_t i = 0; i < shop.jobs; ++i) {
      order[i % 2 == 0 ? i / 2 : shop.jobs - 1 - i / 2] = decisions[i];
    }
    const std::int64_t end = makespan(shop, order);
    if (best.order.empty() || end < best.makespan) best = {end, order};
  } while (std::ranges::next_permutation(decisions).found);
  return best;
}

}  // namespace tests::inline RAMIFY_BUILD
