// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options, report and facade of level_sum(). Plain C++.

#include <cstdint>
#include <ramify/runtime/options.hpp>
#include <span>

namespace ramify {

/// Options of both interfaces.
struct level_sum_options : run_options {
  ramify::flat_loop flat_loop = ramify::flat_loop::automatic;
};

struct level_sum_result {
  std::uint64_t sum;
  run_report report;
};

/// Sums numbers in any memory and waits for the result.
/// \throws std::invalid_argument naming a bad option; unavailable; cuda_error; device_launch_error
[[nodiscard]] level_sum_result level_sum(std::span<const std::uint64_t> numbers,
                                         const level_sum_options& options = {});

}  // namespace ramify
