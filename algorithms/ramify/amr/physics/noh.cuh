// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// noh: a cold gas that falls on its center, with the sides of its domain.

#include <cmath>
#include <ramify/amr/physics/ball_overlap.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A cold gas moves toward the origin with speed 1, and stops at a shock that runs outward with
/// speed 1/3. W. F. Noh, J. Comput. Phys. 72 (1987) 78. Inside of the shock the density is 16 in
/// two dimensions and 64 in three. Domain: 0 to 1 along each axis, reflecting lower sides,
/// prescribed upper sides; gamma 5/3; end 2.
///
/// It is the initial state, and the Condition of with_boundary for prescribed sides, which get the
/// exact solution before the shock.
template <class Real, int dim>
struct noh {
  static_assert(dim == 2 || dim == 3);
  using values = state<Real, dim + 2>;  ///< conserved values of a cell

  Real pressure = Real(1e-6);  ///< of the cold gas; the exact solution has 0

  /// Returns the primitive values at time 0.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return before_shock(where, 0);
  }

  /// Returns the conserved values of a ghost cell.
  template <class Physics>
  [[nodiscard]] __host__ __device__ values operator()(const Physics& physics,
                                                      const values& /*inside*/, int /*axis*/,
                                                      int /*side*/, const Real (&where)[dim],
                                                      Real time) const {
    return physics.to_conserved(before_shock(where, time));
  }

  /// Returns the primitive values before the shock: the density is (1 + time / r)^(dim - 1). Mass
  /// that arrives at a smaller sphere is compressed without heat, as the pressure is negligible.
  [[nodiscard]] __host__ __device__ values before_shock(const Real (&where)[dim], Real time) const {
    const Real origin[dim] = {};
    const Real r = std::sqrt(detail::amr::distance2_between(where, origin));
    values gas{};
    const Real growth = r > 0 ? 1 + time / r : Real(1);
    gas[0] = dim == 3 ? growth * growth : growth;
    for (int axis = 0; axis < dim; ++axis) gas[1 + axis] = r > 0 ? -where[axis] / r : Real(0);
    gas[dim + 1] = pressure;
    return gas;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
