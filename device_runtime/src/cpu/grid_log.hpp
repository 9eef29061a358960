// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The calls by which the executor's device writes to the grid_log.

#include <cstdint>
#include <ramify/cpu/grid_log.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/version.hpp>
#include <string>

#include "grid.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

/// Makes the record of a grid if there is a log. `parent` is null for a launch by the host.
void log_launch(grid&, const grid* parent, std::uint64_t parent_block, launch_stream);

void set_logged_time(const grid&, std::uint64_t traced_grid::*which);

/// Sets a time of the grid's record to the next step, if the grid has a record.
inline void log_time(const grid& g, std::uint64_t traced_grid::*which) {
  if (g.record != grid_log::no_record) set_logged_time(g, which);
}

/// Makes a log of the process, which is written to a file when main() returns, or at exit() or
/// quick_exit(). If it cannot be written, a message on standard error says so.
/// \throws std::invalid_argument if no writer of traces has the extension of the file
void log_process(const std::string& file);

}  // namespace ramify::cpu::inline RAMIFY_ABI
