// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of the program amr.

#include <array>
#include <cstdint>
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
  bool htg = false;                                ///< meshes are hyper tree grids
  std::vector<ramify::derived_field> derived;      ///< fields of a gas in the files
  std::optional<std::array<double, 2>> range;      ///< of the colors of the pictures
  mesh_units units;                                ///< in the pictures
  std::vector<std::string> slices, lines, probes;  ///< texts that mesh_rows.hpp parses
};

/// Returns the side of that name, or none: periodic, outflow, reflecting, or inflow, which is
/// boundary::prescribed.
[[nodiscard]] std::optional<ramify::boundary> parse_side(std::string_view name);

/// Returns the names of the fields in the files: the primitive ones and the derived ones.
[[nodiscard]] std::vector<std::string> output_fields(const amr_settings& settings);

/// Returns a leaf-by-leaf copy of the values with the fields of `more`, which has the same leaves,
/// after those of `mesh`.
[[nodiscard]] ramify::mesh_snapshot with_fields(const ramify::mesh_snapshot& mesh,
                                                const ramify::mesh_snapshot& more);

/// Returns the leaves of a simulation with the output_fields(). Collective, as snapshot().
template <class Simulation>
[[nodiscard]] ramify::mesh_snapshot output_snapshot(const amr_settings& settings,
                                                    const Simulation& flow) {
  ramify::mesh_snapshot mesh = flow.snapshot(ramify::amr_fields::primitive);
  if constexpr (requires { flow.derived_snapshot(settings.derived); }) {
    if (!settings.derived.empty()) {
      return with_fields(mesh, flow.derived_snapshot(settings.derived));
    }
  }
  return mesh;
}

/// Checks the options of the simulation, the fields and the folder.
/// \throws std::invalid_argument naming the option
void validate(const amr_settings& settings);

/// Returns the settings by the names of the program's options, without the environment.
[[nodiscard]] nlohmann::ordered_json to_json(const amr_settings& settings);

/// Returns the settings that to_json() wrote. \throws std::invalid_argument naming a missing or bad
/// setting
[[nodiscard]] amr_settings settings_from_json(const nlohmann::json& json);

}  // namespace common
