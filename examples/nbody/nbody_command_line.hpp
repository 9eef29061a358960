// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of `nbody`.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/nbody.hpp>
#include <string>
#include <vector>

#include "common/file_options.hpp"

namespace common {

/// The options on the command line.
struct nbody_command_line {
  std::string input, output, image, collisions, trace, precision = "double", report = "text";
  std::size_t plummer = 2000;
  std::uint64_t seed = 1, steps = 100, energy_every = 10;
  double dt = 0.02, image_side = 0, collide = 0;
  unsigned image_size = 512;
  bool quiet = false;
  file_options files;
  ramify::nbody_options gravity;
  ramify::nbody_field field;
  std::vector<double> uniform{0, 0, 0}, center{0, 0, 0};  // of the field
  ramify::environment env;

  /// Returns whether the bodies that collide are searched for.
  [[nodiscard]] bool finds_collisions() const { return collide > 0 || !collisions.empty(); }
};

/// Declares the options, whose values CLI11 writes to `o`.
void declare(CLI::App& app, nbody_command_line& o);

/// Checks the options, and completes the field. \throws std::invalid_argument naming the option
void check(nbody_command_line& o);

}  // namespace common
