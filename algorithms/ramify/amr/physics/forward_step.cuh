// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// forward_step: a wind tunnel with a step, and its gas beyond the sides of the domain.
/// <ramify/amr.cuh> does not include this header.

#include <ramify/amr/physics/solid.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A wind of Mach 3 in a channel with a step. A bow shock develops before the step, and the upper
/// wall reflects it. A. F. Emery, J. Comput. Phys. 2 (1968) 306; P. Woodward, P. Colella, J.
/// Comput. Phys. 54 (1984) 115. Domain: x from 0 to 3, y (and z) from 0 to 1, with walls along y
/// (and z); gamma 1.4; end 4.
///
/// It is the initial state, and the Condition of with_boundary for prescribed sides: the wind. The
/// upper side along x is boundary::outflow. `step` is the Solid of with_solid.
template <class Real, int dim>
struct forward_step {
  using values = state<Real, dim + 2>;  ///< the values of a cell

  /// Returns the step, which begins at x = 0.6 and is 0.2 high, and goes on beyond the domain.
  [[nodiscard]] static solid_box<Real, dim> step() {
    solid_box<Real, dim> box{};
    for (int axis = 0; axis < dim; ++axis) {
      box.lower[axis] = axis == 0 ? Real(0.6) : Real(-9);
      box.upper[axis] = axis == 1 ? Real(0.2) : Real(9);
    }
    return box;
  }

  /// Returns the primitive values of the wind.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&/*where*/)[dim]) const {
    values gas{};
    gas[0] = Real(1.4);
    gas[1] = 3;
    gas[dim + 1] = 1;
    return gas;
  }

  /// Returns the conserved values of a ghost cell.
  template <class Physics>
  [[nodiscard]] __host__ __device__ values operator()(const Physics& physics,
                                                      const values& /*inside*/, int /*axis*/,
                                                      int /*side*/, const Real (&where)[dim],
                                                      Real /*time*/) const {
    return physics.to_conserved((*this)(where));
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
