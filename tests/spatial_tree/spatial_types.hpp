// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The types that spatial trees are tested with.

#include <boost/mpl/list.hpp>
#include <ramify/spatial_tree.cuh>

#if !RAMIFY_ON_CUDA
#include "spatial_tree/instances.hpp"

RAMIFY_SPATIAL_FUNCTIONS(extern, float, 2)
RAMIFY_SPATIAL_FUNCTIONS(extern, float, 3)
RAMIFY_SPATIAL_FUNCTIONS(extern, double, 2)
RAMIFY_SPATIAL_FUNCTIONS(extern, double, 3)
#endif

namespace tests {

template <class Real, int dimensions>
struct spatial_type {
  using real = Real;
  static constexpr int dim = dimensions;
};
using f2 = spatial_type<float, 2>;
using f3 = spatial_type<float, 3>;
using d2 = spatial_type<double, 2>;
using d3 = spatial_type<double, 3>;
using spatial_types = boost::mpl::list<f2, f3, d2, d3>;

}  // namespace tests
