// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The 0/1 knapsack problem: choose items of the largest total profit whose total weight is at most
/// a given capacity. Plain C++.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/version.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// The maximum number of items of a knapsack problem.
inline constexpr std::size_t max_knapsack_items = 63;

/// An item that may be packed.
struct knapsack_item {
  std::int64_t weight;  ///< in [0, 2^31)
  std::int64_t profit;  ///< in [0, 2^31)
};

/// A knapsack problem. Weights and profits are in [0, 2^31).
struct knapsack_instance {
  std::vector<knapsack_item> items;  ///< all items
  std::int64_t capacity = 0;         ///< at least 0
};

/// Checks an instance. \throws std::invalid_argument naming the item, the field and its range
inline void validate(const knapsack_instance& instance) {
  using detail::check_field;
  const std::size_t n = instance.items.size();
  check_field(n <= max_knapsack_items, "knapsack_instance.items.size()", n, "at most 63");
  check_field(instance.capacity >= 0, "knapsack_instance.capacity", instance.capacity,
              "at least 0");
  constexpr std::int64_t end = std::int64_t{1} << 31;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [weight, profit] = instance.items[i];
    const std::string item = "knapsack_instance.items[" + std::to_string(i) + "].";
    check_field(weight >= 0 && weight < end, item + "weight", weight, "in [0, 2^31)");
    check_field(profit >= 0 && profit < end, item + "profit", profit, "in [0, 2^31)");
  }
}

/// The parameters of random_knapsack(). Instances are harder if profits are close to weights.
struct knapsack_generator {
  std::size_t items = 40;          ///< number of items
  std::int64_t largest = 1000;     ///< weights are uniform in [1, largest]
  std::int64_t correlation = 100;  ///< profits differ from their weights by at most this number
  std::uint64_t seed = 1;          ///< of the random numbers
};

/// Returns a random instance whose capacity is half of the weight of all items: a weakly correlated
/// instance, as in S. Martello, P. Toth: Knapsack problems, 1990. The same seed gives the same
/// instance on all machines. \throws std::invalid_argument naming the field and its range
[[nodiscard]] inline knapsack_instance random_knapsack(const knapsack_generator& g) {
  constexpr std::int64_t most = 1'000'000'000;
  const auto require = [](bool valid, const char* field, const char* range) {
    if (valid) return;
    throw std::invalid_argument(std::string("knapsack_generator.") + field + " must be " + range);
  };
  require(g.items <= max_knapsack_items, "items", "at most 63");
  require(g.largest >= 1 && g.largest <= most, "largest", "in [1, 10^9]");
  require(g.correlation >= 0 && g.correlation <= most, "correlation", "in [0, 10^9]");
  std::mt19937_64 random(g.seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  knapsack_instance instance;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < g.items; ++i) {
    const std::int64_t weight = 1 + below(g.largest);
    const std::int64_t profit = weight - g.correlation + below(2 * g.correlation + 1);
    instance.items.push_back({weight, std::max<std::int64_t>(profit, 1)});
    sum += weight;
  }
  instance.capacity = sum / 2;
  return instance;
}

/// The best items of a knapsack problem.
struct knapsack_solution {
  std::int64_t profit = 0;  ///< of the packed items
  std::int64_t weight = 0;  ///< of the packed items
  /// The indices of the chosen items, in increasing order. If several choices have this profit, it
  /// is the first one that a depth-first search finds. The search decides on the items in the order
  /// of decreasing profit per weight; it first takes an item, then leaves it out.
  std::vector<std::size_t> chosen;
  search_proof proof{};  ///< of knapsack(): no choice has a larger profit than proof.bound
  /// Choices that dynamic programming considered, because the bound of the search did not suffice;
  /// 0 if the search was enough.
  std::uint64_t states = 0;
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI {

/// Returns the indices of the items that fit alone, in the order of decreasing profit per weight.
/// Items of equal profit per weight are in the order of their indices.
[[nodiscard]] inline std::vector<std::size_t> knapsack_order(const knapsack_instance& instance) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < instance.items.size(); ++i) {
    const auto& [weight, profit] = instance.items[i];
    if (weight <= instance.capacity && profit > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
    const auto& a = instance.items[i];
    const auto& b = instance.items[j];
    return a.profit * b.weight > b.profit * a.weight;  // both less than 2^62
  });
  return order;
}

/// Returns the largest weight that a choice among some items may have: the largest multiple of the
/// greatest common divisor of their weights that does not exceed the capacity. A smaller limit
/// gives a better bound.
[[nodiscard]] inline std::int64_t usable_capacity(const knapsack_instance& instance,
                                                  const std::vector<std::size_t>& items) {
  std::int64_t divisor = 0;
  for (const std::size_t i : items) divisor = std::gcd(divisor, instance.items[i].weight);
  return divisor == 0 ? instance.capacity : instance.capacity - instance.capacity % divisor;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI
