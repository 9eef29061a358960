// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Helper functions of the writers of launch traces.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <nlohmann/json.hpp>
#include <ostream>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/version.hpp>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// Returns the index of the grid that launched grid i, or no_grid if it is not in the trace.
inline std::size_t parent_of(const launch_trace& trace, std::size_t i) {
  const std::size_t parent = trace.grids[i].parent;
  return parent < i ? parent : traced_grid::no_grid;
}

/// Returns grid or block dimensions as text: "64" or "(8, 8, 1)".
inline std::string shape_text(const std::array<std::uint32_t, 3>& e) {
  if (e[1] <= 1 && e[2] <= 1) return std::to_string(e[0]);
  return "(" + std::to_string(e[0]) + ", " + std::to_string(e[1]) + ", " + std::to_string(e[2]) +
         ")";
}

/// Returns JSON text without line breaks. Invalid UTF-8 is replaced by U+FFFD.
inline std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// \throws std::ios_base::failure if a write to `out` has failed
inline void require_written(const std::ostream& out) {
  if (!out) throw std::ios_base::failure("a launch trace could not be written");
}

}  // namespace ramify::inline RAMIFY_ABI
