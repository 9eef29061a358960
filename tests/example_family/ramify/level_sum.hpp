// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Result and facade of level_sum(). Plain C++.

#include <cstdint>
#include <ramify/runtime/environment.hpp>
#include <span>

namespace ramify {

/// A sum, and the report of the run.
struct level_sum_result {
  std::uint64_t sum;
  run_report report;
};

/// Sums numbers in any memory and waits for the result.
/// \param env  its memory: level_sum_scratch_bytes() of <ramify/level_sum.cuh>
/// \throws std::invalid_argument naming a bad field; unavailable; cuda_error; device_launch_error
[[nodiscard]] level_sum_result level_sum(std::span<const std::uint64_t> numbers,
                                         const environment& env = {});

}  // namespace ramify
