// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// advection: a passive scalar in a given flow, the simplest physics; and two flows.
///
/// The exact solution is known at all times for uniform_velocity, and at the end of the period for
/// reversing_vortex, so that errors can be measured.

#include <cmath>
#include <numbers>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The transport of a concentration q, an amount per volume: d/dt q + div(velocity q) = 0.
/// Primitive and conserved values are the same.
///
/// `Velocity` is a functor `Real operator()(const Real (&where)[dim], Real time, int axis) const`,
/// callable on host and device. It returns the velocity along `axis`, at the centers of faces that
/// are orthogonal to that axis and (for max_wave_speed) at the centers of cells. If the
/// velocities at the faces of each cell have no net outflow, a constant stays constant.
template <class Real, int dim, class Velocity>
struct advection {
  static_assert(1 <= dim && dim <= 3);
  using real = Real;                      ///< the number type
  static constexpr int dimensions = dim;  ///< dimensions of space
  static constexpr int variables = 1;     ///< values of a cell
  using values = state<Real, variables>;  ///< the values of a cell

  Velocity velocity;  ///< the functor of the velocity

  /// Returns the name of the conserved value.
  static constexpr const char* field_name(int /*which*/) { return "concentration"; }

  /// Returns its argument.
  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    return conserved;
  }
  /// Returns its argument.
  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    return primitive;
  }

  /// Returns whether the value is finite.
  [[nodiscard]] __host__ __device__ bool is_valid(const values& conserved) const {
    return std::isfinite(conserved[0]);
  }

  /// Returns true: any number is a concentration.
  [[nodiscard]] __host__ __device__ bool is_positive(const values& /*primitive*/) const {
    return true;
  }

  /// Returns the speed of the flow along `axis`: the current one, or, if the flow has a member
  /// `Real max_speed(const Real (&where)[dim], int axis) const`, its largest speed at any time. A
  /// flow that can be at rest for a moment should have this member: a time step computed at such a
  /// moment would be far too long.
  [[nodiscard]] __host__ __device__ Real max_wave_speed(const values& /*primitive*/, int axis,
                                                        const Real (&where)[dim], Real time) const {
    if constexpr (requires { velocity.max_speed(where, axis); }) {
      return velocity.max_speed(where, axis);
    } else {
      return std::fabs(velocity(where, time, axis));
    }
  }

  /// Returns the upwind flux through a face orthogonal to `axis` and centered at `where`, per area
  /// and time.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&where)[dim], Real time) const {
    const Real speed = velocity(where, time, axis);
    return speed * (speed > 0 ? left : right);
  }

  /// Returns the mirror image of a cell at a wall: the same value.
  [[nodiscard]] __host__ __device__ values reflected(const values& conserved, int /*axis*/) const {
    return conserved;
  }
};

/// The same velocity at all places and times.
template <class Real, int dim>
struct uniform_velocity {
  Real velocity[dim];  ///< along each axis

  /// Returns the velocity along `axis`.
  [[nodiscard]] __host__ __device__ Real operator()(const Real (&/*where*/)[dim], Real /*time*/,
                                                    int axis) const {
    return velocity[axis];
  }
};

/// A vortex in the unit square or cube. It stretches the scalar during the first half of its period
/// and reverses the motion during the second half. No flow crosses the boundary.
///
/// In 2D it is the vortex of R. J. LeVeque, High-resolution conservative algorithms for advection
/// in incompressible flow, SIAM J. Numer. Anal. 33 (1996) 627; customary period 8, or 2. In 3D it
/// is the deformation of the same paper (also in D. Enright et al., J. Comput. Phys. 183 (2002)
/// 83); customary period 3. The largest speed along an axis is 1; in 3D it is 2 along x.
///
/// The velocities are point values. For square (cubic) cells of one size they have no net outflow,
/// up to rounding: the mean over a face is the value at its center times sin(pi h) / (pi h) for
/// each axis in the face, h the edge of the cell, and this factor is the same for all faces. Where
/// cells of two sizes meet the factors differ, and the outflow is of order h^2 relative to the
/// speed.
template <class Real, int dim>
struct reversing_vortex {
  static_assert(dim == 2 || dim == 3);
  Real period = dim == 2 ? Real(8) : Real(3);  ///< > 0

  /// Returns the velocity along `axis` at this place and time.
  [[nodiscard]] __host__ __device__ Real operator()(const Real (&where)[dim], Real time,
                                                    int axis) const {
    constexpr Real pi = std::numbers::pi_v<Real>;
    return initial_velocity(where, axis) * std::cos(pi * time / period);
  }

  /// The largest speed along `axis`: the speed at time 0.
  [[nodiscard]] __host__ __device__ Real max_speed(const Real (&where)[dim], int axis) const {
    return std::fabs(initial_velocity(where, axis));
  }

 private:
  [[nodiscard]] __host__ __device__ Real initial_velocity(const Real (&where)[dim],
                                                          int axis) const {
    constexpr Real pi = std::numbers::pi_v<Real>;
    const Real along = std::sin(pi * where[axis]);
    Real speed = along * along;
    for (int other = 0; other < dim; ++other) {
      if (other != axis) speed *= std::sin(2 * pi * where[other]);
    }
    if (axis > 0) return -speed;
    return dim == 3 ? 2 * speed : speed;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
