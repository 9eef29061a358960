// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Runs of an algorithm on the CPU executor, in each of which one launch fails.

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/cpu/executor.hpp>

namespace tests {

/// Returns the present configuration with a schedule under which the blocks of a grid run one after
/// another, so that the launches are the same in each run.
inline ramify::cpu::executor_config one_block_at_a_time() {
  auto config = ramify::cpu::current_executor_config();
  config.order = ramify::cpu::schedule::eager;
  return config;
}

/// Calls run(i) for i = 1, 1 + stride, 1 + 2 * stride, … up to `last`. The executor has the given
/// configuration, and launch number i of its kernels fails. run(i) checks the results, and returns
/// whether the failure interrupted the launches of kernels. Returns the number of failures that
/// did. A test requires a minimum of this number, as its negative control. If the launches
/// depend on the blocks that run at the same time, `config` should be one_block_at_a_time().
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

/// Lets each of the first launches of the executor's kernels fail once: `failures` of them while
/// the blocks of a grid run one after another, and some under random schedules, in which blocks run
/// at the same time and stay for further rounds. check() runs an algorithm, checks its results and
/// returns its report. At least `interrupted` of the first failures must be launches whose work the
/// host or a later grid continues: the negative control.
template <class Check>
void check_failed_launches(unsigned failures, unsigned interrupted, Check check) {
  auto config = one_block_at_a_time();
  const ramify::cpu::scoped_executor_config scope(config);
  const auto whole = check();
  const auto is_interrupted = [&](std::uint64_t) {
    const auto report = check();
    return report.host_grids > whole.host_grids || report.spilled_tasks > 0;
  };
  BOOST_TEST(count_interrupted(failures, config, is_interrupted) >= interrupted);
  config.order = ramify::cpu::schedule::random;
  unsigned of_teams = 0;
  for (config.seed = 1; config.seed <= 2; ++config.seed) {
    of_teams += count_interrupted(4, config, is_interrupted);
  }
  BOOST_TEST(of_teams > 0u);  // negative control
}

}  // namespace tests
