// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The environment in which tessellations are tested.

#include <cstddef>
#include <ramify/tessellation.hpp>

#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

/// Returns the environment of a route under a pending-launch limit; 0 leaves the limit unchanged.
[[nodiscard]] inline ramify::environment environment_on(
    ramify::route taken = ramify::route::automatic, std::size_t pending_launches = 0) {
  return {.backend = backend_under_test(), .route = taken, .pending_launches = pending_launches};
}

}  // namespace tests::inline RAMIFY_BUILD
