// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The options of the indexes in tests.

#include <ramify/spatial_tree.hpp>

#include "backend_under_test.hpp"

namespace tests {

/// Returns options with which a small cloud has many nodes and many grids.
inline ramify::spatial_tree_options options_for(ramify::route taken = ramify::route::automatic,
                                                unsigned leaf_size = 6) {
  ramify::spatial_tree_options options;
  options.backend = backend_under_test();
  options.route = taken;
  options.leaf_size = leaf_size;
  options.block_points = 40;
  return options;
}

}  // namespace tests
