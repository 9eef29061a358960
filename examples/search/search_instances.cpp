// SPDX-License-Identifier: BSD-3-Clause
#include "search_instances.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "search_file.hpp"

namespace common {
ramify::knapsack_instance knapsack_of(const search_command_line& o, std::string& format) {
  ramify::knapsack_instance instance;
  if (o.input.empty()) {
    instance = ramify::random_knapsack({.items = o.items,
                                        .largest = static_cast<std::int64_t>(o.largest),
                                        .correlation = static_cast<std::int64_t>(o.correlation),
                                        .seed = o.seed});
  } else {
    auto read = read_knapsack(o.input, o.format);
    instance = std::move(read.instance);
    format = std::move(read.format);
  }
  if (o.weight_limit != search_command_line::no_limit) {
    instance.capacity = static_cast<std::int64_t>(o.weight_limit);
  }
  return instance;
}

ramify::flow_shop_instance flow_shop_of(const search_command_line& o, std::string& format) {
  if (!o.input.empty()) {
    auto read = read_flow_shop(o.input, o.format, o.instance);
    format = std::move(read.format);
    return std::move(read.instance);
  }
  if (o.taillard > 0) return ramify::taillard_instance(o.taillard).shop();
  if (o.seed < 1 || o.seed > 2'147'483'646) {
    throw std::invalid_argument("--seed is " + std::to_string(o.seed) +
                                "; of flow-shop it must be in [1, 2147483646]");
  }
  return ramify::taillard_flow_shop(o.jobs, o.machines, static_cast<std::int64_t>(o.seed));
}

std::int64_t profit_by_dynamic_programming(const ramify::knapsack_instance& instance) {
  constexpr std::int64_t most = 10'000'000;
  std::int64_t sum = 0;
  for (const auto& item : instance.items) sum += item.weight;
  const std::int64_t limit = std::min(instance.capacity, sum);
  if (limit > most) {
    throw std::invalid_argument("--verify of knapsack needs a maximum weight of at most 10^7");
  }
  std::vector<std::int64_t> best(static_cast<std::size_t>(limit) + 1, 0);
  for (const auto& [weight, profit] : instance.items) {
    for (auto c = limit; c >= weight; --c) {
      auto& here = best[static_cast<std::size_t>(c)];
      here = std::max(here, best[static_cast<std::size_t>(c - weight)] + profit);
    }
  }
  return best.back();
}

}  // namespace common
