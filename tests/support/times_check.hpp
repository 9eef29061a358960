// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the times in a facade's report that hold on every machine.

#include <ramify/runtime/report.hpp>
#include <string>

namespace tests {

/// Whether a call had to copy input arrays, and whether it had to copy output arrays.
struct copied {
  bool in, out;
};

/// Checks the times of a successful call. Returns what is wrong, or an empty string.
[[nodiscard]] inline std::string check_times(const ramify::run_report& r, copied arrays) {
  if (!(r.work_ms > 0)) return "no work";
  if ((r.copy_in_ms > 0) != arrays.in) return "copies in: " + std::to_string(r.copy_in_ms);
  if ((r.copy_out_ms > 0) != arrays.out) return "copies out: " + std::to_string(r.copy_out_ms);
  if (r.copy_in_ms < 0 || r.copy_out_ms < 0) return "a time is negative";
  if (!(r.total_ms > 0)) return "no total time";
  // On the executor all times come from one clock; on a GPU they come from two.
  if (r.ran_on == ramify::backend::cpu && r.copy_in_ms + r.work_ms + r.copy_out_ms > r.total_ms) {
    return "the parts are longer than the total";
  }
  return {};
}

}  // namespace tests
