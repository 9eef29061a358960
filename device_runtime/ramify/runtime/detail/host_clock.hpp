// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The clock of the host, without `<chrono>`, which takes nvcc long to compile. Plain C++.

#include <ctime>
#include <ramify/version.hpp>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// Returns the time of a monotonic clock of the host, in seconds.
[[nodiscard]] inline double host_seconds() {
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &now));
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI
