// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// grid_log: a launch trace of all grids that the CPU executor runs. Unlike the recorder of
/// ramify/runtime/trace_recorder.cuh it needs no tickets in kernels, and there is none on a GPU.
///
///     const ramify::cpu::grid_log log;
///     launch(parent, {1, 32}, nullptr, ...);       // any kernels
///     ramify::write_trace_file("tree.html", log.trace());
///
/// The environment variable RAMIFY_CPU_TRACE names a file for the log of a whole process (.html,
/// .json or .dot), which is written at its end. Then the process makes no other log.

#include <cstddef>
#include <limits>
#include <memory>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/version.hpp>

namespace ramify::cpu::inline RAMIFY_ABI {

/// Records each grid that is launched during its life, by the host or by kernels.
///
/// A process has at most one log at a time. No other thread may launch grids during construction
/// and destruction.
class [[nodiscard]] grid_log {
 public:
  /// The number of a grid without a record.
  static constexpr std::size_t no_record = std::numeric_limits<std::size_t>::max();
  struct state;

  /// \throws std::logic_error if there is another log
  grid_log();
  ~grid_log();
  grid_log(const grid_log&) = delete;
  grid_log& operator=(const grid_log&) = delete;

  /// Returns the grids that have begun, in the order in which they began.
  ///
  /// Times are steps, under schedule::parallel too: each launch, begin, end and completion is one
  /// step. Kernels have their names without namespaces and parameters. A grid of a run that a
  /// rule_violation ended may have begun and not ended; then `end` and `complete` are 0. The host
  /// may call it, but no kernel. Complexity: O(n log n) for n grids.
  [[nodiscard]] launch_trace trace() const;

 private:
  std::unique_ptr<state> state_;
};

}  // namespace ramify::cpu::inline RAMIFY_ABI
