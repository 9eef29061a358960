// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// rayleigh_taylor: a heavy gas above a light one, in gravity.

#include <cmath>
#include <numbers>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A heavy gas rests on a light one, in hydrostatic equilibrium, with a small vertical velocity
/// that grows into a falling finger: G. I. Taylor, Proc. R. Soc. A 201 (1950) 192. The vertical
/// axis is the last one. Domain: -0.25 to 0.25 along the horizontal axes, periodic; -0.75 to 0.75
/// along the vertical one, reflecting; gamma 1.4; uniform_gravity of -0.1 along the vertical axis;
/// end 12.75. These are the values that the codes Athena and Athena++ use.
///
/// While the finger is small, its velocity grows as exp(s time), with s = sqrt(A g k), A the Atwood
/// number 1/3, g the gravity, and k the wave number, in two dimensions 4 pi.
template <class Real, int dim>
struct rayleigh_taylor {
  static_assert(dim == 2 || dim == 3);
  using values = state<Real, dim + 2>;  ///< conserved values of a cell

  Real upper_density = 2;          ///< of the heavy gas
  Real lower_density = 1;          ///< of the light gas
  Real pressure = Real(2.5);       ///< in the plane between the gases
  Real acceleration = Real(-0.1);  ///< of gravity, along the last axis
  Real velocity = Real(0.01);      ///< the largest one

  /// Returns the initial values at a point.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    constexpr Real pi = std::numbers::pi_v<Real>;
    constexpr int vertical = dim - 1;
    const Real height = where[vertical];
    values gas{};
    gas[0] = height > 0 ? upper_density : lower_density;
    Real wave = velocity * (1 + std::cos(4 * pi / 3 * height)) / 2;
    for (int axis = 0; axis < vertical; ++axis) wave *= (1 + std::cos(4 * pi * where[axis])) / 2;
    gas[1 + vertical] = wave;
    gas[dim + 1] = pressure + gas[0] * acceleration * height;
    return gas;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
