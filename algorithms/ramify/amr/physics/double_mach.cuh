// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// double_mach: a shock that runs obliquely into a wall, with the sides of its domain.

#include <cmath>
#include <numbers>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A shock of Mach 10 in air runs into a wall at 60 degrees. Two Mach stems, two contacts and a jet
/// along the wall develop. P. Woodward, P. Colella, J. Comput. Phys. 54 (1984) 115. Domain: x from
/// 0 to 4, y from 0 to 1; gamma 1.4; end 0.2. The wall is the lower side along y, right of x = 1/6.
///
/// It is the initial state, and the Condition of with_boundary for prescribed sides: the gas behind
/// the shock on the left and below the wall's begin, the wall, and on the upper side the exact
/// shock, which moves. The upper side along x is boundary::outflow.
template <class Real>
struct double_mach {
  using values = state<Real, 4>;  ///< the values of a cell

  /// Returns the primitive values at time 0.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[2]) const {
    return at(where, 0);
  }

  /// Returns the averages over a cell, by points: the shock is oblique.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, 2>& cell) const {
    const int pieces[2] = {4, 4};
    return average_by_points(*this, physics, cell, pieces);
  }

  /// Returns the conserved values of a ghost cell.
  template <class Physics>
  [[nodiscard]] __host__ __device__ values operator()(const Physics& physics, const values& inside,
                                                      int axis, int side, const Real (&where)[2],
                                                      Real time) const {
    const bool is_wall = axis == 1 && side == 0 && where[0] >= Real(1) / 6;
    return is_wall ? physics.reflected(inside, axis) : physics.to_conserved(at(where, time));
  }

  /// Returns the position of the undisturbed shock at the height y.
  [[nodiscard]] __host__ __device__ static Real shock_at(Real y, Real time) {
    return Real(1) / 6 + (y + 20 * time) / std::numbers::sqrt3_v<Real>;
  }

  /// Returns the primitive values on the two sides of the undisturbed shock.
  [[nodiscard]] __host__ __device__ static values at(const Real (&where)[2], Real time) {
    const Real along_x = Real(8.25) * std::numbers::sqrt3_v<Real> / 2;
    const bool is_behind = where[0] < shock_at(where[1], time);
    return is_behind ? values{8, along_x, Real(-4.125), Real(116.5)} : values{Real(1.4), 0, 0, 1};
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
