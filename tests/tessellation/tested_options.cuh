// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The options that tessellations are tested with.

#include <ramify/tessellation.hpp>

#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

[[nodiscard]] inline ramify::tessellation_options options_on(ramify::route taken, double flatness) {
  ramify::tessellation_options options;
  options.backend = backend_under_test();
  options.route = taken;
  options.flatness = flatness;
  return options;
}

}  // namespace tests::inline RAMIFY_BUILD
