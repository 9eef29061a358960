// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the program amr is told, and what it needs to go on, as a checkpoint.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ramify/amr.hpp>
#include <string>
#include <vector>

namespace common {

/// A simulation and the moments at which it is written down.
struct amr_settings {
  ramify::amr_options flow;
  std::uint32_t frames = 10;         ///< meshes written until framed_until, but for the first
  double framed_until = 1;           ///< beyond it they are written at the same intervals
  std::uint64_t history_every = 10;  ///< steps a row of the history
  std::string field;                 ///< which pictures show
};

/// By the names of the program's options. Where it runs, and how it is launched, is left out.
[[nodiscard]] nlohmann::ordered_json to_json(const amr_settings& settings);

/// The inverse. \throws std::invalid_argument naming what is missing or bad
[[nodiscard]] amr_settings settings_from_json(const nlohmann::json& json);

/// A simulation that was stopped between two steps.
struct amr_checkpoint {
  amr_settings settings;
  ramify::amr_state state;
  std::uint32_t frames_written = 0;
  std::vector<double> first_totals;  ///< of the conserved fields, when the simulation began
};

/// \throws bad_output naming the file, which is then as it was
void write_amr_checkpoint(const std::filesystem::path& path, const amr_checkpoint& from);

/// \throws bad_input naming the file: it cannot be read, is none of these, or is damaged
[[nodiscard]] amr_checkpoint read_amr_checkpoint(const std::filesystem::path& path);

}  // namespace common
