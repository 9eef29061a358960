// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the building of a spatial tree can be told, and what it tells; plain C++.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

/// What a row of neighbours holds where there are no more.
inline constexpr std::uint32_t no_neighbour = 0xffffffffu;

struct spatial_tree_config {
  ramify::route route = ramify::route::automatic;
  /// Points of a leaf at most, in [1, 1024]. Few make a deep tree, many make long scans of leaves.
  unsigned leaf_size = 16;
  /// Points of a subtree that one block builds without a grid, in [1, 65536], and at most
  /// 256 (leaf_size + 1) whatever is asked for.
  unsigned block_points = 2048;
  /// Where grids go on the device route.
  child_streams streams = child_streams::fire_and_forget;
  /// Where the build's grids are to be added, when it is done; null: nowhere.
  launch_trace* trace = nullptr;
};

/// \throws std::invalid_argument naming the field and its range
inline void validate(const spatial_tree_config& config) {
  const auto in_range = [](const char* field, unsigned value, unsigned most) {
    if (value >= 1 && value <= most) return;
    throw std::invalid_argument(std::string("spatial_tree_config.") + field + " is " +
                                std::to_string(value) + "; it must be in [1, " +
                                std::to_string(most) + "]");
  };
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("spatial_tree_config.route is none of the enumerators");
  }
  if (config.streams != child_streams::named && config.streams != child_streams::fire_and_forget) {
    throw std::invalid_argument("spatial_tree_config.streams is none of the enumerators");
  }
  in_range("leaf_size", config.leaf_size, 1024);
  in_range("block_points", config.block_points, 65536);
}

struct spatial_tree_report : run_report {
  std::uint64_t points = 0;
  std::uint64_t nodes = 0;
};

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const spatial_tree_report& r) {
  return out << "points: " << r.points << "\nnodes: " << r.nodes << '\n'
             << static_cast<const run_report&>(r);
}

}  // namespace ramify
