// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Calls from kernels in which one launch fails, for each launch. On the CPU executor.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/call_arena.cuh>

#include "failed_launches.hpp"

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

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
