// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The 0/1 knapsack problem for branch_and_bound(): each level of the tree decides on one item.

#include <cstdint>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/branch_and_bound/knapsack.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD {

/// A choice among the first items.
struct knapsack_node {
  unsigned next;          ///< the first item that is not decided yet
  std::int64_t capacity;  ///< the remaining capacity
  std::int64_t lost;      ///< profit of the items that were left out
  std::uint64_t taken;    ///< bit i: item i is taken
};

/// The problem. Its value is the lost profit, so that a smaller value is better.
///
/// Child 0 takes the next item, and child 1 leaves it out. If the item does not fit, the only child
/// leaves it out. If all remaining items fit, the node is a leaf that takes them.
///
/// The bound is that of Dantzig (1957): if a part of an item may be taken, it is best to take the
/// items in the order of decreasing profit per weight, and a part of the first one that does not
/// fit.
struct knapsack_problem {
  unsigned items;
  std::int64_t weights[max_knapsack_items + 1];  ///< sum of the items before each item
  std::int64_t profits[max_knapsack_items + 1];

  [[nodiscard]] __host__ __device__ std::int64_t weight(unsigned i) const {
    return weights[i + 1] - weights[i];
  }
  [[nodiscard]] __host__ __device__ std::int64_t profit(unsigned i) const {
    return profits[i + 1] - profits[i];
  }

  [[nodiscard]] __host__ __device__ unsigned degree(const knapsack_node& n) const {
    if (weights[items] - weights[n.next] <= n.capacity) return 0;
    return weight(n.next) <= n.capacity ? 2 : 1;
  }

  [[nodiscard]] __host__ __device__ knapsack_node child(const knapsack_node& n, unsigned i) const {
    if (i == 0 && weight(n.next) <= n.capacity) {
      return {n.next + 1, n.capacity - weight(n.next), n.lost,
              n.taken | std::uint64_t{1} << n.next};
    }
    return {n.next + 1, n.capacity, n.lost + profit(n.next), n.taken};
  }

  /// Requires that some of the items do not fit.
  [[nodiscard]] __host__ __device__ std::int64_t bound(const knapsack_node& n) const {
    // 1. Find the first item, `cut`, that does not fit, by binary search.
    unsigned fits = n.next;
    unsigned cut = items - 1;
    while (fits < cut) {
      const unsigned middle = (fits + cut) / 2;
      if (weights[middle + 1] - weights[n.next] <= n.capacity) {
        fits = middle + 1;
      } else {
        cut = middle;
      }
    }
    // 2. Take the part of it that fits. Its profit is rounded down, because profits are whole
    //    numbers. The product is less than 2^62.
    const std::int64_t left = n.capacity - (weights[cut] - weights[n.next]);
    const std::int64_t kept = left * profit(cut) / weight(cut);
    return n.lost + profits[items] - profits[cut] - kept;
  }

  [[nodiscard]] __host__ __device__ std::int64_t value(const knapsack_node& n) const {
    return n.lost;
  }
};

/// The problem of an instance, with its items in the order of the search.
struct ordered_knapsack {
  explicit ordered_knapsack(const knapsack_instance& instance)
      : order(knapsack_order(instance)), root{0, usable_capacity(instance, order), 0, 0} {
    problem.items = static_cast<unsigned>(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      problem.weights[i + 1] = problem.weights[i] + instance.items[order[i]].weight;
      problem.profits[i + 1] = problem.profits[i] + instance.items[order[i]].profit;
    }
  }

  /// Returns the leaf of the greedy choice: it takes each item that fits.
  [[nodiscard]] knapsack_node greedy_leaf() const {
    knapsack_node node = root;
    while (problem.degree(node) > 0) node = problem.child(node, 0);
    return node;
  }
  /// Returns the profit that the greedy choice loses.
  [[nodiscard]] std::int64_t lost_by_greedy() const { return greedy_leaf().lost; }

  /// Returns the choice of a leaf. `instance` must be that of the constructor.
  [[nodiscard]] knapsack_solution solution(const knapsack_node& leaf,
                                           const knapsack_instance& instance) const {
    knapsack_solution result;
    for (unsigned i = 0; i < problem.items; ++i) {
      const bool is_taken = i >= leaf.next || (leaf.taken >> i & 1) != 0;
      if (is_taken) result.chosen.push_back(order[i]);
    }
    std::ranges::sort(result.chosen);
    for (const std::size_t i : result.chosen) {
      result.profit += instance.items[i].profit;
      result.weight += instance.items[i].weight;
    }
    return result;
  }

  std::vector<std::size_t> order;
  knapsack_node root;
  knapsack_problem problem{};
};

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_BUILD
