// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// advection: a passive scalar in a given flow, the simplest physics there is, and two flows.
///
/// Its exact solution is known at every time of uniform_velocity and at the period's end of
/// reversing_vortex, so errors can be measured.

#include <cmath>
#include <numbers>
#include <ramify/amr/state.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// An amount per volume that is carried along, d/dt q + div(velocity q) = 0. Primitive and
/// conserved values are the same.
///
/// `Velocity` is a functor: `Real operator()(const Real (&where)[dim], Real time, int axis) const`,
/// callable on host and device. It is asked for the velocity along `axis` at the centres of faces
/// that are orthogonal to that axis, and (by `fastest`) of cells. Where the velocities of a cell's
/// faces have no net outflow, constants stay constant.
template <class Real, int dim, class Velocity>
struct advection {
  static_assert(1 <= dim && dim <= 3);
  using real = Real;
  static constexpr int dimensions = dim;
  static constexpr int variables = 1;
  using values = state<Real, variables>;

  Velocity velocity;

  /// The name of a conserved value.
  static constexpr const char* field_name(int /*which*/) { return "concentration"; }

  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    return conserved;
  }
  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    return primitive;
  }

  /// Whether the value is finite.
  [[nodiscard]] __host__ __device__ bool sound(const values& conserved) const {
    return std::isfinite(conserved[0]);
  }

  /// Always: any number is a concentration.
  [[nodiscard]] __host__ __device__ bool positive(const values& /*primitive*/) const {
    return true;
  }

  /// The speed of the flow along `axis`: now, or, if the flow has `Real fastest(const Real
  /// (&where)[dim], int axis) const`, at any time. A flow that stands still for a moment should
  /// have it: a time step that is as long as the speeds of that moment allow would be far too long.
  [[nodiscard]] __host__ __device__ Real fastest(const values& /*primitive*/, int axis,
                                                 const Real (&where)[dim], Real time) const {
    if constexpr (requires { velocity.fastest(where, axis); }) {
      return velocity.fastest(where, axis);
    } else {
      return std::fabs(velocity(where, time, axis));
    }
  }

  /// What flows through a face orthogonal to `axis` and centred at `where`, per area and time: that
  /// of the side from which the flow comes.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&where)[dim], Real time) const {
    const Real speed = velocity(where, time, axis);
    return speed * (speed > 0 ? left : right);
  }

  /// The mirror image of a cell at a wall.
  [[nodiscard]] __host__ __device__ values reflected(const values& conserved, int /*axis*/) const {
    return conserved;
  }
};

/// The same velocity everywhere and always.
template <class Real, int dim>
struct uniform_velocity {
  Real velocity[dim];

  [[nodiscard]] __host__ __device__ Real operator()(const Real (&/*where*/)[dim], Real /*time*/,
                                                    int axis) const {
    return velocity[axis];
  }
};

/// A vortex in the unit square or cube that stretches what it carries until half its period, then
/// takes it back: at the period's end everything is where it began. No flow crosses the boundary.
///
/// In 2D the vortex of R. J. LeVeque, High-resolution conservative algorithms for advection in
/// incompressible flow, SIAM J. Numer. Anal. 33 (1996) 627; customary period 8, or 2.
/// In 3D the deformation of the same paper (also in D. Enright et al., J. Comput. Phys. 183 (2002)
/// 83); customary period 3. The largest speed along an axis is 1; in 3D it is 2, along x.
///
/// These are point values. Between faces of square (cubic) cells of one size they have no net
/// outflow, up to rounding: the mean over a face is the value at its centre times sin(pi h) / (pi
/// h) for each axis in the face, h the cell's edge, which is the same factor for all faces. Where
/// cells of two sizes meet the factors differ, and the outflow is of order h^2 relative to the
/// speed.
template <class Real, int dim>
struct reversing_vortex {
  static_assert(dim == 2 || dim == 3);
  Real period = dim == 2 ? Real(8) : Real(3);  ///< > 0

  [[nodiscard]] __host__ __device__ Real operator()(const Real (&where)[dim], Real time,
                                                    int axis) const {
    constexpr Real pi = std::numbers::pi_v<Real>;
    return first(where, axis) * std::cos(pi * time / period);
  }

  /// The greatest speed along `axis`, which is that at the beginning.
  [[nodiscard]] __host__ __device__ Real fastest(const Real (&where)[dim], int axis) const {
    return std::fabs(first(where, axis));
  }

 private:
  /// The velocity along `axis` at time 0.
  [[nodiscard]] __host__ __device__ Real first(const Real (&where)[dim], int axis) const {
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
