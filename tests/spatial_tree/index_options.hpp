// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The options and environments of the indexes in tests.

#include <ramify/spatial_tree.hpp>

#include "backend_under_test.hpp"

namespace tests {

/// Returns options with which a small cloud has many nodes and many grids.
inline ramify::spatial_tree_options options_for(unsigned leaf_size = 6) {
  return {.leaf_size = leaf_size, .block_points = 40};
}

/// Returns the environment of the index.
inline ramify::environment environment_for(ramify::route taken = ramify::route::automatic) {
  return {.backend = backend_under_test(), .route = taken};
}

}  // namespace tests
