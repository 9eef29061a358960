// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// run_options: the options that all compiled algorithms share.

#include <cstddef>
#include <ramify/runtime/report.hpp>

namespace ramify {

/// Where and how a compiled algorithm runs.
struct run_options {
  ramify::backend backend = ramify::backend::automatic;
  ramify::route route = ramify::route::automatic;
  /// The pending-launch limit of the backend during the call; 0 leaves it unchanged. The report
  /// contains the granted limit. No other thread may launch during the call if this is set.
  std::size_t pending_launches = 0;
  /// The trace to which the call appends the grids it launches; null: none. It must outlive the
  /// call, or the object that the call creates.
  launch_trace* trace = nullptr;
};

/// Checks the enumerators. \throws std::invalid_argument naming the field
inline void validate(const run_options& options) {
  check_enumerator(options.backend, "run_options.backend");
  check_enumerator(options.route, "run_options.route");
}

}  // namespace ramify
