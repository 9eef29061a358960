// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The command line of `amr`, and the settings from it.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

#include "common/file_options.hpp"
#include "output/amr_checkpoint.hpp"
#include "parameter_file.hpp"

namespace common {

/// The options on the command line. The problem or the checkpoint determines the others.
struct amr_command_line {
  std::optional<ramify::amr_problem> problem;
  std::optional<ramify::amr_criterion> criterion;
  std::optional<ramify::amr_precision> precision;
  std::optional<ramify::limiter> limiter;
  std::optional<ramify::balance> balance;
  std::optional<std::vector<unsigned>> blocks;
  std::optional<std::vector<double>> prob_lo, prob_hi, gravity, range;
  std::optional<std::vector<ramify::boundary>> lo_bc, hi_bc;
  std::optional<int> dim, max_level, buffer_cells;
  std::optional<std::size_t> max_blocks;
  std::optional<unsigned> regrid_every;
  std::optional<double> t_end, refine_above, coarsen_below, cfl, gamma;
  std::optional<std::uint32_t> frames;
  std::optional<std::uint64_t> history_every;
  std::optional<std::string> field, output_dir;
  std::optional<std::vector<std::string>> units;
  std::optional<std::vector<std::string>> slices, lines, probes;
  std::optional<std::vector<ramify::derived_field>> derived;
  bool subcycle = false, no_reflux = false, keep_positive = false;
  bool quiet = false, float32 = false, htg = false;
  ramify::environment env;
  std::string checkpoint, restart, plotfile, report = "text", trace;
  file_options files;
  std::shared_ptr<parameter_file> parameters;  ///< set by declare()
  std::uint64_t checkpoint_every = 100;
  std::uint64_t keep = 1;  ///< checkpoints, the last one included
};

/// Declares the options, whose values CLI11 writes to `o`.
void declare(CLI::App& app, amr_command_line& o);

/// Returns the settings of a new run.
/// \throws std::invalid_argument naming the option; bad_input naming the line of the parameter file
[[nodiscard]] amr_settings settings_of(const amr_command_line& o);

/// Returns the settings of a continued run. Only the end time, the CFL number and the settings of
/// the output may differ from the checkpoint's.
/// \throws std::invalid_argument naming an option that contradicts the checkpoint; bad_input naming
///         the line of the parameter file that does
[[nodiscard]] amr_settings settings_of(const amr_command_line& o, const amr_checkpoint& from);

}  // namespace common
