// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of `quicksort`.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort.hpp>
#include <string>

#include "common/file_options.hpp"

namespace common {

/// The options on the command line.
struct quicksort_command_line {
  std::string input, output, type, distribution, trace, report = "text";
  std::size_t n = 0;
  std::uint64_t seed = 1;
  bool pairs = false;
  bool verify = false;
  bool quiet = false;
  file_options files;
  ramify::sort_order order = ramify::sort_order::ascending;
  ramify::quicksort_options sort;
  ramify::environment env;
};

/// Declares the options, whose values CLI11 writes to `o`.
void declare(CLI::App& app, quicksort_command_line& o);

/// Checks the options. \throws std::invalid_argument naming the option
void check(const quicksort_command_line& o);

}  // namespace common
