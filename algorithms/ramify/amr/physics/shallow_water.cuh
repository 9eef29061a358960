// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// shallow_water: the physics of waves on water that is shallow, over any bottom, with friction and
/// a tracer. It is the example of README.md: a physics with required and optional members.
///
/// Rogers: B. D. Rogers, A. G. L. Borthwick, P. H. Taylor, Mathematical balancing of flux gradient
/// and source terms prior to using Roe's approximate Riemann solver, J. Comput. Phys. 192 (2003)
/// 422. Toro: E. F. Toro, Shock-Capturing Methods for Free-Surface Shallow Flows, Wiley 2001.

#include <cmath>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// Water that is equally deep at all places.
template <class Real>
struct uniform_depth {
  Real depth = 1;  ///< at all places

  /// Returns the depth.
  [[nodiscard]] __host__ __device__ Real operator()(const Real (&/*where*/)[2]) const {
    return depth;
  }
};

/// The shallow water equations in two dimensions. The caller chooses the units.
///
/// The conserved values are the elevation of the surface above its level at rest, the momentum
/// along each axis divided by the density of water (depth times velocity), and the amount of a
/// tracer per area (depth times concentration). The primitive values are the same. `Depth` is a
/// functor `Real operator()(const Real (&where)[2]) const`, callable on host and device; it returns
/// the depth of the water at rest, so it describes the bottom.
///
/// Fluxes are relative to water at rest (Rogers). Therefore a lake at rest has no fluxes and no
/// source at all, and stays at rest bit by bit, over any bottom and on any mesh.
///
/// The bottom must be under water at all places and times: a run ends with amr_error if the depth
/// at a face is not positive.
template <class Real, class Depth = uniform_depth<Real>>
struct shallow_water {
  // ---- required: types and constants ----
  using real = Real;                      ///< the number type
  static constexpr int dimensions = 2;    ///< dimensions of space
  static constexpr int variables = 4;     ///< values of a cell
  using values = state<Real, variables>;  ///< the values of a cell

  static constexpr int elevation = 0;       ///< index of the elevation
  static constexpr int first_momentum = 1;  ///< index of the momentum along the first axis
  static constexpr int tracer = 3;          ///< index of the amount of the tracer

  Depth depth_at_rest{};      ///< describes the bottom
  Real gravity = Real(9.81);  ///< acceleration
  Real manning = 0;           ///< Manning's coefficient of friction, >= 0

  // ---- required: the values of a cell ----

  /// Returns the name of a conserved value, for output.
  static constexpr const char* field_name(int which) {
    constexpr const char* names[] = {"elevation", "momentum_x", "momentum_y", "tracer"};
    return names[which];
  }
  /// Returns its argument. The values that are returned here are interpolated to faces.
  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    return conserved;
  }
  /// Returns its argument.
  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    return primitive;
  }
  /// Returns whether a run can continue with a cell: whether all values are finite.
  [[nodiscard]] __host__ __device__ bool is_valid(const values& conserved) const {
    for (int v = 0; v < variables; ++v) {
      if (!std::isfinite(conserved[v])) return false;
    }
    return true;
  }
  /// Returns whether interpolated values are allowed: the depth is not known here.
  [[nodiscard]] __host__ __device__ bool is_positive(const values& /*primitive*/) const {
    return true;
  }
  /// Returns the mirror image of a cell at a wall orthogonal to `axis`.
  [[nodiscard]] __host__ __device__ values reflected(values conserved, int axis) const {
    const Real momentum_x = conserved[1];
    const Real momentum_y = conserved[2];
    conserved[1] = axis == 0 ? -momentum_x : momentum_x;
    conserved[2] = axis == 1 ? -momentum_y : momentum_y;
    return conserved;
  }

  // ---- required: waves and fluxes ----

  /// Returns the largest wave speed along `axis`, |velocity| + sqrt(gravity depth).
  [[nodiscard]] __host__ __device__ Real max_wave_speed(const values& u, int axis,
                                                        const Real (&where)[2],
                                                        Real /*time*/) const {
    const water here = water_of(u, axis, depth_at_rest(where));
    return std::fabs(here.along) + here.wave;
  }

  /// Returns the flux through a face orthogonal to `axis` and centered at `where`, per length and
  /// time: that of HLL for mass and momentum along the axis; the mass carries the other momentum
  /// and the tracer with it (Toro).
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&where)[2], Real /*time*/) const {
    const Real at_rest = depth_at_rest(where);
    const water l = water_of(left, axis, at_rest);
    const water r = water_of(right, axis, at_rest);
    // 1. The speeds of the two waves; between two rarefactions they are exact.
    const Real velocity = Real(0.5) * (l.along + r.along) + (l.wave - r.wave);
    const Real wave = Real(0.5) * (l.wave + r.wave) + Real(0.25) * (l.along - r.along);
    const Real to_left = least(least(l.along - l.wave, velocity - wave), Real(0));
    const Real to_right = -least(least(-r.along - r.wave, -velocity - wave), Real(0));
    const Real share = 1 / (to_right - to_left);
    // 2. The fluxes of mass and of momentum along the axis, the latter without that of the water at
    //    rest.
    const int along = first_momentum + axis;
    const auto between = [&](Real from_left, Real from_right, Real jump) {
      return share * (to_right * from_left - to_left * from_right + to_left * to_right * jump);
    };
    const Real mass = between(left[along], right[along], right[elevation] - left[elevation]);
    values flow;
    flow[elevation] = mass;
    flow[along] = between(push(left, along, l, at_rest), push(right, along, r, at_rest),
                          right[along] - left[along]);
    // 3. What the mass carries with it.
    const int across = first_momentum + 1 - axis;
    flow[across] = mass > 0 ? mass * (left[across] / l.depth) : mass * (right[across] / r.depth);
    flow[tracer] = mass > 0 ? mass * (left[tracer] / l.depth) : mass * (right[tracer] / r.depth);
    return flow;
  }

  // ---- optional: sources ----

  /// Returns how fast a cell changes by the slope of the bottom, per time.
  [[nodiscard]] __host__ __device__ values source(const values& u, const Real (&where)[2],
                                                  const Real (&edges)[2], Real /*time*/) const {
    values rate{};
    for (int axis = 0; axis < 2; ++axis) {
      Real side[2] = {where[0], where[1]};
      side[axis] = where[axis] + Real(0.5) * edges[axis];
      const Real above = depth_at_rest(side);
      side[axis] = where[axis] - Real(0.5) * edges[axis];
      const Real slope = (above - depth_at_rest(side)) / edges[axis];
      rate[first_momentum + axis] = gravity * u[elevation] * slope;
    }
    return rate;
  }

  /// Returns the values v = u + dt S(v) of a cell, S the friction at the bottom: Manning's, with
  /// the speed and the depth of `u`. Friction in water that is not deep is stiff.
  [[nodiscard]] __host__ __device__ values implicit_source(values u, const Real (&where)[2],
                                                           const Real (&/*edges*/)[2],
                                                           Real /*time*/, Real dt) const {
    if (manning == 0) return u;
    const Real depth = u[elevation] + depth_at_rest(where);
    const Real speed = std::sqrt(u[1] * u[1] + u[2] * u[2]) / depth;
    const Real rate = gravity * manning * manning * speed / (depth * std::cbrt(depth));
    for (const int momentum : {1, 2}) u[momentum] = u[momentum] / (1 + dt * rate);
    return u;
  }

 private:
  /// The water on one side of a face.
  struct water {
    Real depth;
    Real along;  ///< velocity along the axis
    Real wave;   ///< speed of waves relative to the water
  };

  [[nodiscard]] __host__ __device__ water water_of(const values& u, int axis, Real at_rest) const {
    const Real sum = u[elevation] + at_rest;
    const Real depth = sum > 0 ? sum : Real(NAN);
    return {depth, u[first_momentum + axis] / depth, std::sqrt(gravity * depth)};
  }
  [[nodiscard]] __host__ __device__ static Real least(Real a, Real b) { return b < a ? b : a; }

  /// Returns the flux of momentum along the axis. For depth h = elevation + D, D that at rest, the
  /// pressure g h^2 / 2 - g D^2 / 2 is g elevation (elevation / 2 + D).
  [[nodiscard]] __host__ __device__ Real push(const values& u, int along, const water& here,
                                              Real at_rest) const {
    return u[along] * here.along + gravity * u[elevation] * (Real(0.5) * u[elevation] + at_rest);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
