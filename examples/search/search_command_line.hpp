// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of `search`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <ramify/branch_and_bound.hpp>
#include <string>
#include <string_view>

#include "common/file_options.hpp"
#include "search_file.hpp"

namespace common {

enum class search_problem { knapsack, flow_shop, queens };

[[nodiscard]] constexpr std::string_view to_string(search_problem p) {
  return ramify::choice_name(p, {"knapsack", "flow-shop", "queens"});
}

/// The options on the command line.
struct search_command_line {
  /// The value of `weight_limit` if --weight-limit is not given.
  static constexpr std::uint64_t no_limit = std::uint64_t{1} << 63;

  search_problem chosen = search_problem::knapsack;
  std::string input, output, trace, report = "text";
  // The numbers have one type, so that CLI11 is compiled for one type of numbers only.
  std::uint64_t items = 40, largest = 1000, correlation = 100, weight_limit = no_limit;
  std::uint64_t taillard = 0, jobs = 10, machines = 5;
  std::uint64_t instance = 0;  ///< of a file with several ones, from 1 on; 0: the only one
  number_format format = number_format::automatic;
  std::uint64_t seed = 1;
  std::uint64_t n = 8;
  ramify::branch_and_bound_options search;
  bool symmetry = true;  ///< of queens
  ramify::environment env;
  bool verify = false;
  bool quiet = false;
  file_options files;
  /// The options that not all problems have.
  std::multimap<search_problem, const CLI::Option*> special;
  const CLI::Option* seed_option = nullptr;

  /// Returns the options of count_queens().
  [[nodiscard]] ramify::queens_options queens() const { return {search, symmetry}; }
};

/// Declares the options, whose values CLI11 writes to `o`.
void declare(CLI::App& app, search_command_line& o);

/// Checks the options. \throws std::invalid_argument naming the option
void check(const search_command_line& o);

}  // namespace common
