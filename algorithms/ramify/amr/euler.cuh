// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// euler: the physics of an ideal gas without viscosity, and the HLLC flux through a face.
///
/// Toro: E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 3rd ed., Springer
/// 2009. Batten: P. Batten, N. Clarke, C. Lambert, D. M. Causon, On the choice of wavespeeds for
/// the HLLC Riemann solver, SIAM J. Sci. Comput. 18 (1997) 1553. Units are the caller's: only
/// consistent ones are asked for.

#include <cmath>
#include <ramify/amr/state.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Euler's equations of gas dynamics in `dim` dimensions, p = (gamma - 1) * internal energy.
///
/// A cell's conserved values are density, momentum along each axis, and total energy (internal and
/// kinetic), all per volume. Its primitive values, in the same order, are density, velocity along
/// each axis, and pressure.
///
/// Reversing an axis reverses the results exactly, bit by bit; so does exchanging x and y.
template <class Real, int dim>
struct euler {
  static_assert(1 <= dim && dim <= 3);
  using real = Real;
  static constexpr int dimensions = dim;
  static constexpr int variables = dim + 2;
  static constexpr int density = 0;
  static constexpr int first_momentum = 1;  ///< first velocity, among the primitive values
  static constexpr int energy = dim + 1;
  static constexpr int pressure = dim + 1;  ///< among the primitive values
  using values = state<Real, variables>;

  Real gamma = Real(1.4);             ///< ratio of specific heats, > 1
  Real density_floor = Real(1e-12);   ///< > 0; a smaller density is taken for this one
  Real pressure_floor = Real(1e-12);  ///< > 0; likewise

  /// The name of a conserved value.
  static constexpr const char* field_name(int which) {
    constexpr const char* momentum[] = {"momentum_x", "momentum_y", "momentum_z"};
    if (which == density) return "density";
    if (which == energy) return "energy";
    return momentum[which - first_momentum];
  }

  /// Density, velocity and pressure, the floors applied. The velocity is momentum over the density
  /// that results. NaN stays NaN: floors do not hide it.
  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    values primitive;
    primitive[density] = at_least(density_floor, conserved[density]);
    const Real volume = reciprocal(primitive[density]);  // one division instead of `dim`
    for (int i = first_momentum; i < first_momentum + dim; ++i) {
      primitive[i] = times(conserved[i], volume);
    }
    const Real internal = conserved[energy] - kinetic_energy(primitive);
    primitive[pressure] = at_least(pressure_floor, times(gamma - 1, internal));
    return primitive;
  }

  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    values conserved;
    conserved[density] = primitive[density];
    for (int i = first_momentum; i < first_momentum + dim; ++i) {
      conserved[i] = times(primitive[density], primitive[i]);
    }
    conserved[energy] = total_energy(primitive);
    return conserved;
  }

  /// Whether a cell holds a gas, before any floor: finite values, density > 0 and pressure > 0.
  [[nodiscard]] __host__ __device__ bool sound(const values& conserved) const {
    for (int i = 0; i < variables; ++i) {
      if (!std::isfinite(conserved[i])) return false;
    }
    if (!(conserved[density] > 0)) return false;
    const Real volume = reciprocal(conserved[density]);
    Real squares = 0;
    for (int i = first_momentum; i < first_momentum + dim; ++i) {
      squares += times(conserved[i], times(conserved[i], volume));
    }
    return conserved[energy] - times(Real(0.5), squares) > 0;
  }

  /// Whether primitive values can be those of a gas: density > 0 and pressure > 0.
  [[nodiscard]] __host__ __device__ bool positive(const values& primitive) const {
    return primitive[density] > 0 && primitive[pressure] > 0;
  }

  /// The largest speed of a signal along `axis`, |velocity| + speed of sound. `where` and `time`
  /// are for physics that depend on them.
  [[nodiscard]] __host__ __device__ Real fastest(const values& primitive, int axis,
                                                 const Real (&/*where*/)[dim],
                                                 Real /*time*/) const {
    return std::fabs(primitive[first_momentum + axis]) + square_root(sound_speed2(primitive));
  }

  /// What flows through a face orthogonal to `axis`, per area and time, between primitive states on
  /// its two sides; density and pressure > 0. HLLC (Toro 10.4), with Batten's wave speeds: isolated
  /// shocks and contacts are resolved exactly, and density and pressure stay positive, of cells
  /// that are constant and of time steps within half the Courant limit. `where` (the face's centre)
  /// and `time` are for physics that depend on them.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&/*where*/)[dim], Real /*time*/) const {
    return turned(flux_along_x(turned(left, axis), turned(right, axis)), axis);
  }

  /// The mirror image of a cell at a wall orthogonal to `axis`.
  [[nodiscard]] __host__ __device__ values reflected(values conserved, int axis) const {
    for (int a = 0; a < dim; ++a) {
      Real& momentum = conserved[first_momentum + a];
      momentum = a == axis ? -momentum : momentum;
    }
    return conserved;
  }

 private:
  // Nothing below has a branch: threads of a warp stay together, and many roots and quotients are
  // under way at once.

  static constexpr int normal = first_momentum;  ///< the velocity through the face

  /// The values with the x axis and another one exchanged.
  [[nodiscard]] __host__ __device__ static values turned(const values& u, int axis) {
    values other = u;
    if constexpr (dim > 1) {
      other[normal] = axis == 1 ? u[normal + 1] : other[normal];
      other[normal + 1] = axis == 1 ? u[normal] : u[normal + 1];
    }
    if constexpr (dim > 2) {
      other[normal] = axis == 2 ? u[normal + 2] : other[normal];
      other[normal + 2] = axis == 2 ? u[normal] : u[normal + 2];
    }
    return other;
  }

  [[nodiscard]] __host__ __device__ values flux_along_x(const values& left,
                                                        const values& right) const {
    const fan waves = waves_between(left, right);
    // The gas that each outer wave runs into, mass per area and time: < 0 left, > 0 right.
    const Real into_left = times(left[density], waves.left - left[normal]);
    const Real into_right = times(right[density], waves.right - right[normal]);
    // Between the outer waves velocity and pressure are one (Toro 10.37).
    const Real contact =
        times((right[pressure] - left[pressure]) +
                  (times(into_left, left[normal]) - times(into_right, right[normal])),
              reciprocal(into_left - into_right));
    const Real from_left = left[pressure] + times(into_left, contact - left[normal]);
    const Real from_right = right[pressure] + times(into_right, contact - right[normal]);
    // The two are equal but for rounding. Between gases that are torn apart they are negative; that
    // is no pressure of the gas, and the energy behind the wave is positive because of it. Of a
    // contact at rest the mean, which does not change when the sides are exchanged.
    const Real between = contact > 0   ? from_left
                         : contact < 0 ? from_right
                                       : Real(0.5) * (from_left + from_right);
    // Where all waves run to one side, what comes from the other one flows through.
    const bool all_right = waves.left >= 0;
    const bool all_left = waves.right <= 0;
    const bool of_left = all_right || (!all_left && !(contact < 0));
    const values outside = chosen(of_left, left, right);
    const Real wave = of_left ? waves.left : waves.right;
    const bool no_wave = all_right || all_left;
    return flux_behind(outside, wave, no_wave ? outside[normal] : contact,
                       no_wave ? outside[pressure] : between, no_wave);
  }

  /// Speeds of the two outer waves.
  struct fan {
    Real left, right;
  };

  [[nodiscard]] __host__ __device__ static values chosen(bool first, const values& a,
                                                         const values& b) {
    values u;
    for (int i = 0; i < variables; ++i) u[i] = first ? a[i] : b[i];
    return u;
  }

  /// NaN if `value` is.
  [[nodiscard]] __host__ __device__ static Real at_least(Real floor, Real value) {
    return value < floor ? floor : value;
  }
  [[nodiscard]] __host__ __device__ static Real at_most(Real ceiling, Real value) {
    return ceiling < value ? ceiling : value;
  }

  /// The same whichever axis is turned to be the first.
  [[nodiscard]] __host__ __device__ static Real kinetic_energy(const values& primitive) {
    Real squares = 0;
    for (int i = normal + 1; i < normal + dim; ++i) squares += times(primitive[i], primitive[i]);
    squares += times(primitive[normal], primitive[normal]);
    return times(Real(0.5) * primitive[density], squares);
  }

  [[nodiscard]] __host__ __device__ Real total_energy(const values& primitive) const {
    return times(primitive[pressure], reciprocal(gamma - 1)) + kinetic_energy(primitive);
  }

  [[nodiscard]] __host__ __device__ Real sound_speed2(const values& primitive) const {
    return times(gamma * primitive[pressure], reciprocal(primitive[density]));
  }

  /// Batten's choice: the slower of what the left state and Roe's average say, and likewise right.
  [[nodiscard]] __host__ __device__ fan waves_between(const values& left,
                                                      const values& right) const {
    const Real left_sound2 = sound_speed2(left);
    const Real right_sound2 = sound_speed2(right);
    const Real left_weight = square_root(left[density]);
    const Real right_weight = square_root(right[density]);
    const Real scale = reciprocal(left_weight + right_weight);
    const Real left_share = times(left_weight, scale);
    const Real right_share = times(right_weight, scale);
    const Real velocity = times(left_share, left[normal]) + times(right_share, right[normal]);
    // Roe's speed of sound as a sum of positive terms (compare Einfeldt's, Toro 10.5).
    const Real jump = right[normal] - left[normal];
    const Real sound2 =
        (times(left_share, left_sound2) + times(right_share, right_sound2)) +
        times(times(Real(0.5) * (gamma - 1), times(left_share, right_share)), times(jump, jump));
    const Real sound = square_root(sound2);

    const Real of_left = left[normal] - square_root(left_sound2);
    const Real of_right = right[normal] + square_root(right_sound2);
    return {at_most(velocity - sound, of_left), at_least(velocity + sound, of_right)};
  }

  /// The flux between the contact and the outer wave that runs at `wave` into `outside`. The jump
  /// conditions across that wave give density and energy (Toro 10.39), and the flux is that of the
  /// state they describe. So it is nothing but pressure where the contact stands still. If there is
  /// no wave, as told, it is the flux of the state outside, whose velocity and pressure are then given.
  [[nodiscard]] __host__ __device__ values flux_behind(const values& outside, Real wave,
                                                       Real contact, Real between,
                                                       bool no_wave) const {
    const Real scale = reciprocal(wave - contact);
    // By so much density and energy grow.
    const Real growth = no_wave ? Real(1) : times(wave - outside[normal], scale);
    const Real work = times(between, contact) - times(outside[pressure], outside[normal]);
    const Real energy_behind = times(total_energy(outside), growth) + times(work, scale);
    const Real mass = times(times(outside[density], growth), contact);
    values flow;
    flow[density] = mass;
    for (int i = first_momentum; i < first_momentum + dim; ++i) flow[i] = times(mass, outside[i]);
    flow[normal] = times(mass, contact) + between;
    flow[energy] = times(energy_behind + between, contact);
    return flow;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
