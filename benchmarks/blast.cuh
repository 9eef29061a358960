// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The initial state of the mesh benchmarks.

#include <ramify/amr.cuh>

namespace benchmark {

/// A hot ball in a cold gas.
template <class Real, int dim>
struct blast {
  Real radius;

  __host__ __device__ ramify::state<Real, dim + 2> operator()(const Real (&where)[dim]) const {
    Real distance2 = 0;
    for (int axis = 0; axis < dim; ++axis) {
      distance2 += (where[axis] - Real(0.5)) * (where[axis] - Real(0.5));
    }
    ramify::state<Real, dim + 2> gas{};
    gas[0] = 1;
    gas[dim + 1] = distance2 < radius * radius ? Real(100) : Real(0.1);
    return gas;
  }
};

}  // namespace benchmark
