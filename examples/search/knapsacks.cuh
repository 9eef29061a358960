// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Many small knapsacks as one batch of branch_and_bound(): a root for each of them, and a problem
/// whose nodes have its number. least_loss() is the check, by dynamic programming.

#include <algorithm>
#include <cstdint>
#include <ramify/branch_and_bound.cuh>
#include <vector>

namespace examples::inline RAMIFY_BUILD {

/// An item of a knapsack.
struct knapsack_item {
  unsigned weight;
  unsigned value;
};

/// A knapsack with a decision for each of the first items.
struct partial_knapsack {
  unsigned problem;
  unsigned decided;
  unsigned capacity;  ///< that is left
  unsigned lost;      ///< value of the items that were left out
};

/// Minimizes the value that is lost, of knapsacks with `items` items each. The bound takes all
/// items that fit on their own.
template <unsigned items>
struct fill_knapsacks {
  const knapsack_item* all;  ///< the items of all problems

  [[nodiscard]] __device__ const knapsack_item& item_of(const partial_knapsack& k,
                                                        unsigned i) const {
    return all[k.problem * items + i];
  }
  [[nodiscard]] __device__ unsigned degree(const partial_knapsack& k) const {
    if (k.decided == items) return 0;
    return item_of(k, k.decided).weight <= k.capacity ? 2 : 1;
  }
  [[nodiscard]] __device__ partial_knapsack child(const partial_knapsack& k, unsigned i) const {
    const knapsack_item& next = item_of(k, k.decided);
    if (i + 1 < degree(k)) return {k.problem, k.decided + 1, k.capacity - next.weight, k.lost};
    return {k.problem, k.decided + 1, k.capacity, k.lost + next.value};
  }
  [[nodiscard]] __device__ std::int64_t bound(const partial_knapsack& k) const {
    std::int64_t lost = k.lost;
    for (unsigned i = k.decided; i < items; ++i) {
      if (item_of(k, i).weight > k.capacity) lost += item_of(k, i).value;
    }
    return lost;
  }
  [[nodiscard]] __device__ std::int64_t value(const partial_knapsack& k) const { return k.lost; }
};

/// Returns the roots of problems 0 to n - 1.
inline std::vector<partial_knapsack> roots_of_knapsacks(unsigned n, unsigned capacity) {
  std::vector<partial_knapsack> roots;
  for (unsigned problem = 0; problem < n; ++problem) roots.push_back({problem, 0, capacity, 0});
  return roots;
}

/// Returns the value that the best choice of items leaves out, by dynamic programming.
inline std::int64_t least_loss(const knapsack_item* of, unsigned items, unsigned capacity) {
  std::vector<std::int64_t> best(capacity + 1, 0);
  std::int64_t sum = 0;
  for (unsigned i = 0; i < items; ++i) {
    sum += of[i].value;
    for (unsigned c = capacity + 1; c-- > of[i].weight;) {
      best[c] = std::max(best[c], best[c - of[i].weight] + of[i].value);
    }
  }
  return sum - best[capacity];
}

}  // namespace examples::inline RAMIFY_BUILD
