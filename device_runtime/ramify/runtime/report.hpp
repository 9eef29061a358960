// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Where a run may go, and what it tells about itself afterwards.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace ramify {

/// Where kernels run.
enum class backend {
  automatic,  ///< a CUDA device if there is one, else the CPU executor
  cuda,
  cpu,
};

/// How a recursion is launched.
enum class route {
  automatic,  ///< device or flat, by cost
  device,     ///< grids launch child grids
  flat,       ///< no launch from the device: one grid for all tasks of a level
};

/// Which streams a grid puts independent children into.
enum class child_streams {
  fire_and_forget,  ///< the fastest
  named,            ///< a named non-blocking stream for each, the classic form
};

[[nodiscard]] std::string_view to_string(backend);
[[nodiscard]] std::string_view to_string(route);

/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] backend parse_backend(std::string_view);
[[nodiscard]] route parse_route(std::string_view);

/// What a run did.
struct run_report {
  backend ran_on = backend::automatic;
  std::string backend_reason;  ///< why it ran there
  route taken = route::automatic;
  std::string route_reason;                 ///< why this route
  std::uint64_t host_grids = 0;             ///< launched by the host
  std::uint64_t child_grids = 0;            ///< launched by kernels
  std::uint32_t deepest_level = 0;          ///< of the launch tree, or of the levels; the root is 0
  std::uint64_t spilled_tasks = 0;          ///< found no launch slot and ran in a flat grid
  std::uint32_t peak_slots = 0;             ///< most launch slots in use at a time, of all runs
  std::uint64_t pending_launch_limit = 0;   ///< the device's, in launches
  std::size_t scratch_bytes = 0;            ///< temporary device memory
};

/// One "name: value" line a field.
std::ostream& operator<<(std::ostream&, const run_report&);

}  // namespace ramify
