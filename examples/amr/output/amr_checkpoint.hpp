// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of the program amr, and its checkpoints.

#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ramify/amr.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "mesh_image.hpp"

namespace common {

/// A simulation and the times of its output.
struct amr_settings {
  ramify::amr_setup flow;
  ramify::environment env{};  ///< not part of a checkpoint
  std::uint32_t frames = 10;  ///< meshes written until framed_until, without the first one
  /// The end time of the first run. A continued run with a later end keeps the intervals.
  double framed_until = 1;
  std::uint64_t history_every = 10;  ///< steps per row of the history
  std::string field;                 ///< the field in the pictures
  std::string output_dir = "amr_output";
  bool float32 = false;                            ///< fields of the meshes are floats
  std::optional<std::array<double, 2>> range;      ///< of the colors of the pictures
  mesh_units units;                                ///< in the pictures
  std::vector<std::string> slices, lines, probes;  ///< texts that mesh_rows.hpp parses
};

/// Returns the side of that name, or none: periodic, outflow, reflecting, or inflow, which is
/// boundary::prescribed.
[[nodiscard]] std::optional<ramify::boundary> parse_side(std::string_view name);

/// Checks the options of the simulation, the field and the folder.
/// \throws std::invalid_argument naming the option
void validate(const amr_settings& settings);

/// Returns the settings by the names of the program's options, without the environment.
[[nodiscard]] nlohmann::ordered_json to_json(const amr_settings& settings);

/// Returns the settings that to_json() wrote. \throws std::invalid_argument naming a missing or bad
/// setting
[[nodiscard]] amr_settings settings_from_json(const nlohmann::json& json);

/// A simulation between two steps.
struct amr_checkpoint {
  amr_settings settings;
  ramify::amr_state state;
  std::uint32_t frames_written = 0;
  std::vector<double> first_totals;  ///< totals of the conserved fields at the start
};

/// Checks that a checkpoint can contain the settings: texts must be UTF-8.
/// \throws std::invalid_argument naming the option
void check_for_checkpoint(const amr_settings& settings);

/// Writes a checkpoint.
/// \throws bad_output naming the file, which is then unchanged
void write_amr_checkpoint(const std::filesystem::path& path, const amr_checkpoint& from);

/// Keeps `count - 1` earlier checkpoints: before `path` is written, FILE.1 becomes FILE.2, and so
/// on, and FILE.1 another name of FILE. FILE exists at all times.
/// \throws bad_output naming the file
void keep_checkpoints(const std::filesystem::path& path, std::uint64_t count);

/// Reads a checkpoint.
/// \throws bad_input naming the file: it cannot be read, is no checkpoint of amr, or is damaged
[[nodiscard]] amr_checkpoint read_amr_checkpoint(const std::filesystem::path& path);

}  // namespace common
