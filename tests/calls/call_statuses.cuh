// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The statuses that the callers of calls from kernels have read, and the report of an arena.

#include <boost/test/unit_test.hpp>
#include <ramify/runtime/call_arena.cuh>
#include <vector>

namespace tests::inline RAMIFY_BUILD {
namespace calls {

/// Adds a call to the counts of the three statuses. `log.status` is its status plus 1. Returns
/// whether the call was refused.
template <class Log>
bool count_status(const Log& log, std::vector<unsigned>& statuses) {
  BOOST_REQUIRE(log.status >= 1);
  ++statuses[log.status - 1];
  return log.status - 1 == unsigned(ramify::call_status::refused);
}

/// Returns the report of an arena, whose counts it compares with those of the statuses.
template <class Arena>
ramify::call_report expect_report(Arena& arena, const std::vector<unsigned>& statuses) {
  const ramify::call_report report = arena.get();
  BOOST_TEST(report.started == statuses[0]);
  BOOST_TEST(report.kept == statuses[1]);
  BOOST_TEST(report.refused == statuses[2]);
  return report;
}

}  // namespace calls
}  // namespace tests::inline RAMIFY_BUILD
