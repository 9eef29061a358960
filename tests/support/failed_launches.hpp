// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs of an algorithm on the CPU executor, in each of which one launch fails.

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/cpu/executor.hpp>

namespace tests {

/// Calls run(i) for i = 1, 1 + stride, 1 + 2 * stride, … up to `last`. The executor has the given
/// configuration, and launch number i of its kernels fails. run(i) checks the results, and returns
/// whether the failure interrupted the launches of kernels. Returns the number of failures that
/// did. A test requires a minimum of this number, as its negative control.
template <class Run>
unsigned count_interrupted(std::uint64_t last, ramify::cpu::executor_config config, Run run,
                           std::uint64_t stride = 1) {
  unsigned interrupted = 0;
  for (std::uint64_t failing = 1; failing <= last; failing += stride) {
    BOOST_TEST_CONTEXT("launch " << failing) {
      config.failing_launch = failing;
      const ramify::cpu::scoped_executor_config scope(config);
      if (run(failing)) ++interrupted;
    }
  }
  return interrupted;
}

}  // namespace tests
