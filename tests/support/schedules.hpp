// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Schedules of the CPU executor.

#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <vector>

#include "effort.hpp"

namespace tests {

/// Returns the reproducible schedules of the executor.
[[nodiscard]] inline std::vector<ramify::cpu::executor_config> reproducible_schedules() {
  std::vector<ramify::cpu::executor_config> configs{{.order = ramify::cpu::schedule::eager},
                                                    {.order = ramify::cpu::schedule::late}};
  for (int seed = 0; seed < random_schedules(); ++seed) {
    configs.push_back({.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  }
  return configs;
}

}  // namespace tests
