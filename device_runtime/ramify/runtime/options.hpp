// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What every compiled algorithm can be told about where and how it runs.

#include <cstddef>
#include <ramify/runtime/report.hpp>
#include <stdexcept>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

struct run_options {
  ramify::backend backend = ramify::backend::automatic;
  ramify::route route = ramify::route::automatic;
  /// Sets the backend's pending-launch limit for the time of the call; 0 leaves it alone. The
  /// report tells what was granted. Not while another thread launches.
  std::size_t pending_launches = 0;
  /// Where the grids are to be added that the call launches; null: nowhere. It must outlive what the options
  /// are for: the call, or the object that they make.
  launch_trace* trace = nullptr;
};

/// \throws std::invalid_argument naming the field
inline void validate(const run_options& options) {
  if (to_string(options.backend) == "?") {
    throw std::invalid_argument("run_options.backend is none of the enumerators");
  }
  if (to_string(options.route) == "?") {
    throw std::invalid_argument("run_options.route is none of the enumerators");
  }
}

}  // namespace ramify
