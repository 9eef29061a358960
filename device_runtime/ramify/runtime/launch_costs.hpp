// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// launch_costs: the measured costs of launches on a device. Plain C++.
///
/// launch_costs.cuh measures them, launch_costs_file.hpp keeps them on disk, and route_plan.hpp
/// chooses a route by them. benchmarks/launches.md lists the costs of an NVIDIA H200.

#include <array>
#include <cmath>
#include <ostream>
#include <ramify/version.hpp>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// The cost of each kind of launch in microseconds, measured in a sequence of such launches.
struct launch_costs {
  double host_launch = 0;      ///< one of a sequence of grids that the host launches
  double host_round_trip = 0;  ///< a grid launched by the host, a small read-back, and the wait
  double device_launch = 0;    ///< one of a sequence of grids that one thread of a kernel launches
  double nested_level = 0;     ///< a fire-and-forget launch by the previous grid
  double named_level = 0;      ///< a launch by the previous grid into a named stream it creates
  double tail_launch = 0;      ///< a tail launch by the previous grid
  double graph_grid = 0;       ///< one of a sequence of grids in a graph
  // Both are 0 if the driver does not support graph loops.
  double graph_iteration = 0;  ///< an iteration, of one grid, of a graph_loop
  double graph_loop = 0;       ///< the construction of a graph_loop, host time only
};

// A named type: written out in launch_cost_field, nvcc's output for it causes a compiler warning.
using launch_cost_value = double launch_costs::*;  ///< A member of launch_costs.

/// A field of launch_costs: its name in files, and its description.
struct launch_cost_field {
  std::string_view name;         ///< as in the file of launch costs
  std::string_view description;  ///< for a reader
  launch_cost_value value;       ///< the member
  bool can_be_missing;           ///< the value may be 0
};

/// The fields of launch_costs in the order of files.
inline constexpr std::array launch_cost_fields{
    launch_cost_field{"host_launch", "launch by the host", &launch_costs::host_launch, false},
    launch_cost_field{"host_round_trip", "host round trip", &launch_costs::host_round_trip, false},
    launch_cost_field{"device_launch", "launch by a kernel", &launch_costs::device_launch, false},
    launch_cost_field{"nested_level", "nested level, fire-and-forget", &launch_costs::nested_level,
                      false},
    launch_cost_field{"named_level", "nested level, named stream", &launch_costs::named_level,
                      false},
    launch_cost_field{"tail_launch", "tail launch", &launch_costs::tail_launch, false},
    launch_cost_field{"graph_grid", "grid in a graph", &launch_costs::graph_grid, false},
    launch_cost_field{"graph_iteration", "graph iteration", &launch_costs::graph_iteration, true},
    launch_cost_field{"graph_loop", "construction of a graph loop", &launch_costs::graph_loop,
                      true}};

/// Writes one line "description: value" for each field, in microseconds.
inline std::ostream& operator<<(std::ostream& out, const launch_costs& costs) {
  for (const launch_cost_field& field : launch_cost_fields) {
    const double value = costs.*field.value;
    out << field.description << ": ";
    if (value == 0) {
      out << "not on this device\n";
    } else {
      out << std::round(value * 100) / 100 << " us\n";
    }
  }
  return out;
}

}  // namespace ramify::inline RAMIFY_ABI
