// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What must hold of the times in a facade's report, however quick the machine is.

#include <ramify/runtime/report.hpp>
#include <string>

namespace tests {

/// Which of the caller's arrays a call had to copy.
struct copied {
  bool in, out;
};

/// What is wrong with the times of a call that has worked, if anything.
[[nodiscard]] inline std::string check_times(const ramify::run_report& r, copied arrays) {
  if (!(r.work_ms > 0)) return "no work";
  if ((r.copy_in_ms > 0) != arrays.in) return "copies in: " + std::to_string(r.copy_in_ms);
  if ((r.copy_out_ms > 0) != arrays.out) return "copies out: " + std::to_string(r.copy_out_ms);
  if (r.copy_in_ms < 0 || r.copy_out_ms < 0) return "a time is negative";
  if (!(r.total_ms > 0)) return "no time in all";
  // One clock on the executor, two on a GPU.
  if (r.ran_on == ramify::backend::cpu && r.copy_in_ms + r.work_ms + r.copy_out_ms > r.total_ms) {
    return "the parts are more than the whole";
  }
  return {};
}

}  // namespace tests
