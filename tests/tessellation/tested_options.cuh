// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The options that tessellations are tested with.

#include <ramify/tessellation/config.hpp>

namespace tests {

[[nodiscard]] inline ramify::tessellation_options with_flatness(double flatness,
                                                                unsigned max_depth = 16) {
  return {{}, flatness, max_depth};
}

}  // namespace tests
