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
    const Real volume = 1 / primitive[density];  // one division instead of `dim`
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
    Real squares = 0;
    for (int i = first_momentum; i < first_momentum + dim; ++i) {
      squares += times(conserved[i], conserved[i] / conserved[density]);
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
    return std::fabs(primitive[first_momentum + axis]) + std::sqrt(sound_speed2(primitive));
  }

  /// What flows through a face orthogonal to `axis`, per area and time, between primitive states on
  /// its two sides; density and pressure > 0. HLLC (Toro 10.4), with Batten's wave speeds: isolated
  /// shocks and contacts are resolved exactly, and density and pressure stay positive, of cells
  /// that are constant and of time steps within half the Courant limit. `where` (the face's centre)
  /// and `time` are for physics that depend on them.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&/*where*/)[dim], Real /*time*/) const {
    const int normal = first_momentum + axis;
    const fan waves = waves_between(left, right, normal);
    if (waves.left >= 0 || waves.right <= 0) {
      return flux_within(chosen(waves.left >= 0, left, right), normal);
    }
    // The gas that each outer wave runs into, mass per area and time: < 0 left, > 0 right.
    const Real into_left = left[density] * (waves.left - left[normal]);
    const Real into_right = right[density] * (waves.right - right[normal]);
    // Between the outer waves velocity and pressure are one (Toro 10.37).
    const Real contact = ((right[pressure] - left[pressure]) +
                          (times(into_left, left[normal]) - times(into_right, right[normal]))) /
                         (into_left - into_right);
    const Real from_left = left[pressure] + times(into_left, contact - left[normal]);
    const Real from_right = right[pressure] + times(into_right, contact - right[normal]);
    // The two are equal but for rounding. Between gases that are torn apart they are negative; that
    // is no pressure of the gas, and the energy behind the wave is positive because of it. Of a
    // contact at rest the mean, which does not change when the sides are exchanged.
    const Real between = contact > 0   ? from_left
                         : contact < 0 ? from_right
                                       : Real(0.5) * (from_left + from_right);
    const bool of_left = !(contact < 0);
    return flux_behind(chosen(of_left, left, right), of_left ? waves.left : waves.right,
                       of_left ? into_left : into_right, contact, between, normal);
  }

  /// The mirror image of a cell at a wall orthogonal to `axis`.
  [[nodiscard]] __host__ __device__ values reflected(values conserved, int axis) const {
    conserved[first_momentum + axis] = -conserved[first_momentum + axis];
    return conserved;
  }

 private:
  /// Speeds of the two outer waves.
  struct fan {
    Real left, right;
  };

  /// One of two states, without a branch: threads of a warp stay together.
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

  [[nodiscard]] __host__ __device__ static Real kinetic_energy(const values& primitive) {
    Real squares = 0;
    for (int i = first_momentum; i < first_momentum + dim; ++i) {
      squares += times(primitive[i], primitive[i]);
    }
    return times(Real(0.5) * primitive[density], squares);
  }

  [[nodiscard]] __host__ __device__ Real total_energy(const values& primitive) const {
    return primitive[pressure] / (gamma - 1) + kinetic_energy(primitive);
  }

  [[nodiscard]] __host__ __device__ Real sound_speed2(const values& primitive) const {
    return gamma * primitive[pressure] / primitive[density];
  }

  /// Batten's choice: the slower of what the left state and Roe's average say, and likewise right.
  [[nodiscard]] __host__ __device__ fan waves_between(const values& left, const values& right,
                                                      int normal) const {
    const Real left_sound2 = sound_speed2(left);
    const Real right_sound2 = sound_speed2(right);
    const Real left_weight = std::sqrt(left[density]);
    const Real right_weight = std::sqrt(right[density]);
    const Real scale = 1 / (left_weight + right_weight);
    const Real left_share = times(left_weight, scale);
    const Real right_share = times(right_weight, scale);
    const Real velocity = times(left_share, left[normal]) + times(right_share, right[normal]);
    // Roe's speed of sound as a sum of positive terms (compare Einfeldt's, Toro 10.5).
    const Real jump = right[normal] - left[normal];
    const Real sound2 =
        (times(left_share, left_sound2) + times(right_share, right_sound2)) +
        times(times(Real(0.5) * (gamma - 1), times(left_share, right_share)), times(jump, jump));
    const Real sound = std::sqrt(sound2);

    const Real of_left = left[normal] - std::sqrt(left_sound2);
    const Real of_right = right[normal] + std::sqrt(right_sound2);
    return {at_most(velocity - sound, of_left), at_least(velocity + sound, of_right)};
  }

  [[nodiscard]] __host__ __device__ static Real at_most(Real ceiling, Real value) {
    return ceiling < value ? ceiling : value;
  }

  /// The flux of a constant state.
  [[nodiscard]] __host__ __device__ values flux_within(const values& primitive, int normal) const {
    const Real mass = times(primitive[density], primitive[normal]);
    values flow;
    flow[density] = mass;
    for (int i = first_momentum; i < first_momentum + dim; ++i) flow[i] = times(mass, primitive[i]);
    flow[normal] += primitive[pressure];
    flow[energy] = times(primitive[normal], total_energy(primitive) + primitive[pressure]);
    return flow;
  }

  /// The flux between the contact and the outer wave that runs at `wave` into `outside`. The jump
  /// conditions across that wave give density and energy (Toro 10.39), and the flux is that of the
  /// state they describe. So it is nothing but pressure where the contact stands still.
  [[nodiscard]] __host__ __device__ values flux_behind(const values& outside, Real wave, Real into,
                                                       Real contact, Real between,
                                                       int normal) const {
    const Real scale = 1 / (wave - contact);
    const Real energy_behind =
        times(times(total_energy(outside), wave - outside[normal]) +
                  (times(between, contact) - times(outside[pressure], outside[normal])),
              scale);
    const Real mass = times(times(into, scale), contact);
    values flow;
    flow[density] = mass;
    for (int i = first_momentum; i < first_momentum + dim; ++i) flow[i] = times(mass, outside[i]);
    flow[normal] = times(mass, contact) + between;
    flow[energy] = times(energy_behind + between, contact);
    return flow;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
