// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The checkpoints of the program amr.

#include <cstdint>
#include <filesystem>
#include <ramify/amr.hpp>
#include <vector>

#include "amr_settings.hpp"

namespace common {

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
