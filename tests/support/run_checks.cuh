// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of every run of an algorithm: its report counts all grids, and it leaks no launch slot.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/report.hpp>

#include "backend_under_test.hpp"
#include "effort.hpp"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

/// Returns the environment of a call on the backend under test, by a route and under a
/// pending-launch limit; 0 leaves the limit unchanged.
[[nodiscard]] inline ramify::environment environment_on(
    ramify::route taken = ramify::route::automatic, std::size_t pending_launches = 0) {
  return {.backend = backend_under_test(), .route = taken, .pending_launches = pending_launches};
}

/// Holds a lease of the launch slots for the whole test program. Without a lease the CPU executor
/// resets the number of slots in use, which would hide a leak.
struct slot_leaks_are_noticed {
  ramify::slot_lease lease{2048};
};

/// Calls `run` and returns its report. Checks that the report counts all grids that the CPU
/// executor began, and that no launch slot is in use afterwards.
template <class Run>
auto with_grids_counted(Run run) {
  const std::uint64_t before = ramify::cpu::grids_begun();
  const auto report = run();
  if (!RAMIFY_ON_CUDA) {
    BOOST_TEST(report.host_grids + report.child_grids == ramify::cpu::grids_begun() - before);
  }
  BOOST_TEST(slots_in_use() == 0u);
  return report;
}

/// Checks the route that a run took under a limit of pending launches. The device route requires
/// two launch slots, which a limit below 32 does not give. A GPU may allow more than was requested.
inline void expect_route(ramify::route taken, ramify::route requested, std::size_t limit) {
  if (requested == ramify::route::flat || limit >= 32) {
    BOOST_TEST(taken == requested);
  } else if (!RAMIFY_ON_CUDA) {
    BOOST_TEST(taken == ramify::route::flat);
  }
}

}  // namespace tests::inline RAMIFY_BUILD
