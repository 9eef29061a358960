// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls from kernels in which one launch fails, for each launch, and under all schedules. On the
/// CPU executor.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <iterator>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/call_arena.cuh>

#include "failed_launches.hpp"
#include "schedules.hpp"

namespace tests::inline RAMIFY_BUILD {
namespace calls {

/// Calls run() at each pending-launch limit, and then once for each launch, which fails. run()
/// makes calls, checks that each is done, and returns the report. At each limit, at least `least`
/// of the failures must have changed the number of grids or of kept calls: otherwise they ended
/// nothing.
template <class Limits, class Run>
void expect_no_call_lost(const Limits& limits, unsigned least, const Run& run) {
  for (const std::size_t limit : limits) {
    const ramify::launch_limits in_force({.pending_launches = limit});
    const auto executor = ramify::cpu::current_executor_config();
    const ramify::call_report usual = run();
    BOOST_TEST(usual.refused == 0u);
    const unsigned interrupted = count_interrupted(usual.child_grids + 5, executor, [&](auto) {
      const ramify::call_report report = run();
      BOOST_TEST(report.refused == 0u);
      return report.child_grids != usual.child_grids || report.kept != usual.kept;
    });
    BOOST_TEST(interrupted >= least);  // negative control: the failures did end launches
  }
}

/// Calls run(seed) under each reproducible schedule, at each of three pending-launch limits.
/// Without all_cases(), each random schedule has one of the limits, so that each limit has a third
/// of the random schedules. run() makes calls, checks that each is done, and returns the report.
template <class Run>
void expect_all_done_under_schedules(const Run& run) {
  constexpr std::size_t limits[] = {32, 128, 2048};
  for (const auto& config : reproducible_schedules()) {
    const ramify::cpu::scoped_executor_config scope(config);
    const bool is_random = config.order == ramify::cpu::schedule::random;
    for (const std::size_t limit : limits) {
      if (is_random && !all_cases() && limit != limits[config.seed % std::size(limits)]) continue;
      const ramify::launch_limits in_force({.pending_launches = limit});
      BOOST_TEST(run(config.seed).refused == 0u);
    }
  }
}

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
