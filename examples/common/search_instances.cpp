// SPDX-License-Identifier: BSD-3-Clause
#include "search_instances.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text_file.hpp"

namespace common {
namespace {

// Reads the lines of a file as rows of whole numbers. Empty lines, and lines that begin with '#',
// are skipped.
std::vector<std::vector<std::int64_t>> read_rows(const std::string& file) {
  std::vector<std::vector<std::int64_t>> rows;
  for_each_line(file, [&](const text_line& line) {
    if (line.text.empty() || line.text.front() == '#') return;
    rows.emplace_back();
    constexpr std::string_view blank = " \t,";
    for (std::string_view rest = line.text;;) {
      rest.remove_prefix(std::min(rest.find_first_not_of(blank), rest.size()));
      if (rest.empty()) break;
      const std::string_view word = rest.substr(0, rest.find_first_of(blank));
      rest.remove_prefix(word.size());
      const auto number = parse<std::int64_t>(word);
      if (!number) line.reject("is not a list of whole numbers");
      rows.back().push_back(*number);
    }
    if (rows.back().size() != rows.front().size()) {
      line.reject("has " + std::to_string(rows.back().size()) + " numbers; the first line has " +
                  std::to_string(rows.front().size()));
    }
  });
  return rows;
}

// Checks an instance from a file. Throws bad_input.
template <class Instance>
Instance checked(const std::string& file, Instance instance) {
  try {
    validate(instance);
  } catch (const std::invalid_argument& e) {
    throw bad_input(name_of_input(file) + ": " + e.what());
  }
  return instance;
}

}  // namespace

ramify::knapsack_instance knapsack_of(const search_command_line& o) {
  if (o.input.empty()) {
    auto instance =
        ramify::random_knapsack({.items = o.items,
                                 .largest = static_cast<std::int64_t>(o.largest),
                                 .correlation = static_cast<std::int64_t>(o.correlation),
                                 .seed = o.seed});
    if (o.weight_limit != search_command_line::no_limit)
      instance.capacity = static_cast<std::int64_t>(o.weight_limit);
    return instance;
  }
  ramify::knapsack_instance instance;
  for (const auto& row : read_rows(o.input)) {
    if (row.size() != 2) {
      throw bad_input(name_of_input(o.input) +
                      ": a line must have two numbers, the weight and the profit");
    }
    instance.items.push_back({row[0], row[1]});
  }
  instance = checked(o.input, std::move(instance));
  for (const auto& item : instance.items) instance.capacity += item.weight;
  instance.capacity = o.weight_limit == search_command_line::no_limit
                          ? instance.capacity / 2
                          : static_cast<std::int64_t>(o.weight_limit);
  return instance;
}

ramify::flow_shop_instance flow_shop_of(const search_command_line& o) {
  if (o.input.empty()) {
    const auto& all = ramify::taillard_benchmarks();
    if (o.taillard > 0) {
      const auto& [machines, seed, optimum] = all[o.taillard - 1];
      return ramify::taillard_flow_shop(20, machines, seed);
    }
    if (o.seed < 1 || o.seed > 2'147'483'646) {
      throw std::invalid_argument("--seed is " + std::to_string(o.seed) +
                                  "; of flow-shop it must be in [1, 2147483646]");
    }
    return ramify::taillard_flow_shop(o.jobs, o.machines, static_cast<std::int64_t>(o.seed));
  }
  const auto rows = read_rows(o.input);
  ramify::flow_shop_instance shop{rows.empty() ? 0 : rows.front().size(), rows.size(), {}};
  for (const auto& row : rows) shop.times.insert(shop.times.end(), row.begin(), row.end());
  return checked(o.input, std::move(shop));
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
