// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What launches cost on a device, as measured there; plain C++. Measured by launch_costs.cuh, kept by
/// launch_costs_file.hpp, used by route_plan.hpp.

#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

namespace ramify {

/// Microseconds of one of each, in a row of them. In comments: an NVIDIA H200, CUDA 13.0, driver
/// 580.159.04.
struct launch_costs {
  double host_launch = 0;    ///< 3.2: a grid after another, launched by the host
  double host_round_trip = 0;      ///< 12.8: such a grid, a small read-back, and the wait for both
  double device_launch = 0;  ///< 6.2: a grid after another, launched by one thread of a kernel
  double nested_level = 0;   ///< 12: a grid launched by the one before, fire-and-forget
  double named_level = 0;    ///< 12: the same through a named stream, made for it
  double tail_launch = 0;    ///< 14: a grid launched to follow the one before
  double graph_grid = 0;     ///< 0.7: a grid after another in a graph
  // 0 where the driver has no such loops:
  double graph_turn = 0;  ///< 4.3: a turn of one grid of a graph_loop
  double graph_loop = 0;  ///< 22: making a graph_loop, time of the host's alone
};

// A type of its own, as a compiler warns of what nvcc makes of it elsewhere.
using launch_cost_value = double launch_costs::*;

/// A field by its name in files, and in words.
struct launch_cost_field {
  std::string_view name;
  std::string_view words;
  launch_cost_value value;
  bool can_be_missing;  ///< and is 0 then
};

inline constexpr std::array launch_cost_fields{
    launch_cost_field{"host_launch", "launch by the host", &launch_costs::host_launch, false},
    launch_cost_field{"host_round_trip", "launch and look of the host", &launch_costs::host_round_trip, false},
    launch_cost_field{"device_launch", "launch by a kernel", &launch_costs::device_launch, false},
    launch_cost_field{"nested_level", "nested level, fire-and-forget", &launch_costs::nested_level,
                      false},
    launch_cost_field{"named_level", "nested level, named stream", &launch_costs::named_level,
                      false},
    launch_cost_field{"tail_launch", "tail launch", &launch_costs::tail_launch, false},
    launch_cost_field{"graph_grid", "grid in a graph", &launch_costs::graph_grid, false},
    launch_cost_field{"graph_turn", "turn of a graph's loop", &launch_costs::graph_turn, true},
    launch_cost_field{"graph_loop", "making a graph's loop", &launch_costs::graph_loop, true}};

/// Whether these can be the costs of a device: positive and less than a second, all that must be there.
[[nodiscard]] inline bool are_plausible(const launch_costs& costs) {
  constexpr double most = 1e6;
  for (const launch_cost_field& field : launch_cost_fields) {
    const double value = costs.*field.value;
    const bool missing = field.can_be_missing && value == 0;
    if (!missing && !(value > 0 && value < most)) return false;
  }
  return true;
}

/// One "name: value" line a field, in microseconds.
inline std::ostream& operator<<(std::ostream& out, const launch_costs& costs) {
  for (const launch_cost_field& field : launch_cost_fields) {
    const double value = costs.*field.value;
    out << field.words << ": ";
    if (value == 0) {
      out << "not on this device\n";
    } else {
      out << std::round(value * 100) / 100 << " us\n";
    }
  }
  return out;
}

}  // namespace ramify
