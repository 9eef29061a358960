// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of `spatial`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <ramify/spatial_tree.hpp>
#include <string>
#include <vector>

#include "common/file_options.hpp"
#include "points.hpp"

namespace common {

/// The options on the command line.
struct spatial_command_line {
  std::string input, queries, tree, output, counts, labels, statistics, trace, report = "text";
  column_list columns;
  std::optional<cloud_kind> kind;
  std::size_t n = 10'000;
  std::uint64_t seed = 1;
  int dimensions = 2;
  unsigned nearest = 0, image_size = 1024;
  std::optional<double> within, cluster;
  std::vector<double> period;  ///< one number for all axes, or one for each
  ramify::spatial_query_options query;
  std::uint32_t min_points = 1;  ///< in the ball around a core point
  bool verify = false, quiet = false;
  ramify::spatial_tree_options build;
  ramify::environment env;
  file_options files;
};

/// Declares the options, whose values CLI11 writes to `o`.
void declare(CLI::App& app, spatial_command_line& o);

/// Checks the options. \throws std::invalid_argument naming the option
void check(const spatial_command_line& o);

}  // namespace common
