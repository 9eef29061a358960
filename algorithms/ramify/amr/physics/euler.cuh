// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// euler: the physics of an ideal gas without viscosity, and the HLLC flux through a face.
///
/// Toro: E. F. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, 3rd ed., Springer
/// 2009. Batten: P. Batten, N. Clarke, C. Lambert, D. M. Causon, On the choice of wavespeeds for
/// the HLLC Riemann solver, SIAM J. Sci. Comput. 18 (1997) 1553.

#include <cmath>
#include <ramify/amr/physics/floors.cuh>
#include <ramify/amr/rounding.cuh>
#include <ramify/amr/state.cuh>
#include <string>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The Euler equations of gas dynamics in `dim` dimensions, p = (gamma - 1) * internal energy.
///
/// The conserved values of a cell are density, momentum along each axis, and total energy (internal
/// and kinetic), all per volume. The primitive values, in the same order, are density, velocity
/// along each axis, and pressure. The caller chooses the units; they must be consistent.
///
/// Floors replace densities and pressures that become smaller during a run, without an error. They
/// must be far below those of the flow in its units, for example 1e-36 for a gas of 1e-24 g/cm^3.
/// An initial state below a floor ends the run with amr_error.
///
/// Mirrored input gives mirrored results, bit by bit. In two dimensions, input with x and y
/// exchanged gives results with x and y exchanged, bit by bit.
template <class Real, int dim>
struct euler {
  static_assert(1 <= dim && dim <= 3);
  using real = Real;                         ///< the number type
  static constexpr int dimensions = dim;     ///< dimensions of space
  static constexpr int variables = dim + 2;  ///< values of a cell
  static constexpr int density = 0;          ///< index of the density
  static constexpr int first_momentum = 1;   ///< first velocity, among the primitive values
  static constexpr int energy = dim + 1;     ///< index of the total energy per volume
  static constexpr int pressure = dim + 1;   ///< among the primitive values
  using values = state<Real, variables>;     ///< the values of a cell

  Real gamma = Real(1.4);             ///< ratio of specific heats, > 1
  Real density_floor = Real(1e-12);   ///< > 0; replaces smaller densities
  Real pressure_floor = Real(1e-12);  ///< > 0; replaces smaller pressures

  /// Returns the name of a conserved value.
  static constexpr const char* field_name(int which) {
    constexpr const char* momentum[] = {"momentum_x", "momentum_y", "momentum_z"};
    if (which == density) return "density";
    if (which == energy) return "energy";
    return momentum[which - first_momentum];
  }

  /// Returns density, velocity and pressure. Floors replace smaller densities and pressures; the
  /// velocity is the momentum divided by the density after the floor. NaN stays NaN.
  [[nodiscard]] __host__ __device__ values to_primitive(const values& conserved) const {
    using detail::amr::at_least, detail::amr::reciprocal, detail::amr::times;
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

  /// Returns the conserved values of a cell with these primitive values.
  [[nodiscard]] __host__ __device__ values to_conserved(const values& primitive) const {
    values conserved;
    conserved[density] = primitive[density];
    for (int i = first_momentum; i < first_momentum + dim; ++i) {
      conserved[i] = detail::amr::times(primitive[density], primitive[i]);
    }
    conserved[energy] = total_energy(primitive);
    return conserved;
  }

  /// Returns whether the values, without floors, are those of a gas: finite, density > 0 and
  /// pressure > 0.
  [[nodiscard]] __host__ __device__ bool is_valid(const values& conserved) const {
    using detail::amr::reciprocal, detail::amr::times;
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

  /// Returns whether the floors leave the density and the pressure unchanged. Rounding may put a
  /// value 1 % below its floor. A run requires it of the cells of its initial state.
  [[nodiscard]] __host__ __device__ bool is_above_floors(const values& conserved) const {
    return detail::amr::is_above_floors_of(*this, conserved);
  }

  /// Returns a text with the density, the pressure and their floors.
  [[nodiscard]] std::string describe_floors(const values& conserved) const {
    return detail::amr::description_of_floors(*this, conserved);
  }

  /// Returns whether primitive values can be those of a gas: density > 0 and pressure > 0.
  [[nodiscard]] __host__ __device__ bool is_positive(const values& primitive) const {
    return primitive[density] > 0 && primitive[pressure] > 0;
  }

  /// Returns the largest wave speed along `axis`, |velocity| + speed of sound. The position and the
  /// time are parameters for physics that depend on them.
  [[nodiscard]] __host__ __device__ Real max_wave_speed(const values& primitive, int axis,
                                                        const Real (&/*where*/)[dim],
                                                        Real /*time*/) const {
    return std::fabs(primitive[first_momentum + axis]) +
           detail::amr::square_root(sound_speed2(primitive));
  }

  /// Returns the flux through a face orthogonal to `axis`, per area and time. `left` and `right`
  /// are the primitive states on its two sides; their densities and pressures must be positive.
  ///
  /// The solver is HLLC (Toro 10.4) with Batten's wave speeds: it resolves isolated shocks and
  /// contacts exactly. It keeps density and pressure positive for cells with constant values and
  /// time steps within half the Courant limit. The center of the face and the time are parameters
  /// for physics that depend on them.
  [[nodiscard]] __host__ __device__ values flux(const values& left, const values& right, int axis,
                                                const Real (&/*where*/)[dim], Real /*time*/) const {
    return rotated(flux_along_x(rotated(left, axis), rotated(right, axis)), axis);
  }

  /// Returns the mirror image of a cell at a wall orthogonal to `axis`.
  [[nodiscard]] __host__ __device__ values reflected(values conserved, int axis) const {
    for (int a = 0; a < dim; ++a) {
      Real& momentum = conserved[first_momentum + a];
      momentum = a == axis ? -momentum : momentum;
    }
    return conserved;
  }

 private:
  // The functions below have no branches: the threads of a warp stay together, and many roots and
  // quotients overlap.

  static constexpr int normal = first_momentum;  ///< the velocity through the face

  /// Returns the values with the x axis and `axis` exchanged.
  [[nodiscard]] __host__ __device__ static values rotated(const values& u, int axis) {
    values other = u;
    RAMIFY_UNROLL
    for (int a = 1; a < dim; ++a) {
      other[normal] = axis == a ? u[normal + a] : other[normal];
      other[normal + a] = axis == a ? u[normal] : u[normal + a];
    }
    return other;
  }

  [[nodiscard]] __host__ __device__ values flux_along_x(const values& left,
                                                        const values& right) const {
    using detail::amr::reciprocal, detail::amr::times;
    const outer_waves waves = wave_speeds(left, right);
    // The mass that each outer wave runs into, per area and time: < 0 left, > 0 right.
    const Real into_left = times(left[density], waves.left - left[normal]);
    const Real into_right = times(right[density], waves.right - right[normal]);
    // Between the outer waves there is one velocity and one pressure (Toro 10.37).
    const Real contact =
        times((right[pressure] - left[pressure]) +
                  (times(into_left, left[normal]) - times(into_right, right[normal])),
              reciprocal(into_left - into_right));
    const Real from_left = left[pressure] + times(into_left, contact - left[normal]);
    const Real from_right = right[pressure] + times(into_right, contact - right[normal]);
    // The two pressures are equal up to rounding. Between gases that move apart fast they are
    // negative; this is not a pressure of the gas, and it makes the energy between the waves
    // positive. For a contact at rest the mean is used, which does not change when the sides are
    // exchanged.
    const Real between = contact > 0   ? from_left
                         : contact < 0 ? from_right
                                       : Real(0.5) * (from_left + from_right);
    // If all waves run to one side, the flux is that of the state on the other side.
    const bool all_right = waves.left >= 0;
    const bool all_left = waves.right <= 0;
    const bool outside_is_left = all_right || (!all_left && !(contact < 0));
    values outside;
    for (int i = 0; i < variables; ++i) outside[i] = outside_is_left ? left[i] : right[i];
    const Real wave = outside_is_left ? waves.left : waves.right;
    const bool no_wave = all_right || all_left;
    return star_flux(outside, wave, no_wave ? outside[normal] : contact,
                     no_wave ? outside[pressure] : between, no_wave);
  }

  /// The speeds of the two outer waves.
  struct outer_waves {
    Real left, right;
  };

  /// Returns NaN if `value` is NaN.
  [[nodiscard]] __host__ __device__ static Real at_most(Real ceiling, Real value) {
    return ceiling < value ? ceiling : value;
  }

  /// Returns the kinetic energy. In two dimensions the sum has the same bits before and after
  /// rotated().
  [[nodiscard]] __host__ __device__ static Real kinetic_energy(const values& primitive) {
    using detail::amr::times;
    Real squares = 0;
    for (int i = normal + 1; i < normal + dim; ++i) squares += times(primitive[i], primitive[i]);
    squares += times(primitive[normal], primitive[normal]);
    return times(Real(0.5) * primitive[density], squares);
  }

  [[nodiscard]] __host__ __device__ Real total_energy(const values& primitive) const {
    using detail::amr::reciprocal, detail::amr::times;
    return times(primitive[pressure], reciprocal(gamma - 1)) + kinetic_energy(primitive);
  }

  [[nodiscard]] __host__ __device__ Real sound_speed2(const values& primitive) const {
    using detail::amr::reciprocal, detail::amr::times;
    return times(gamma * primitive[pressure], reciprocal(primitive[density]));
  }

  /// Returns Batten's wave speeds: on each side, that of the outermost of the waves of the state on
  /// that side and of Roe's average.
  [[nodiscard]] __host__ __device__ outer_waves wave_speeds(const values& left,
                                                            const values& right) const {
    using detail::amr::at_least, detail::amr::reciprocal, detail::amr::square_root,
        detail::amr::times;
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

    const Real leftmost_speed = left[normal] - square_root(left_sound2);
    const Real rightmost_speed = right[normal] + square_root(right_sound2);
    return {at_most(velocity - sound, leftmost_speed), at_least(velocity + sound, rightmost_speed)};
  }

  /// Returns the flux of the star state, which lies between the contact and the outer wave. This
  /// wave runs at the speed `wave` into the state `outside`. The jump conditions across it give
  /// density and energy (Toro 10.39). If the contact is at rest, the flux is only the pressure.
  /// With `no_wave` it is the flux of `outside`; `contact` and `between` must be its velocity and
  /// pressure.
  [[nodiscard]] __host__ __device__ values star_flux(const values& outside, Real wave, Real contact,
                                                     Real between, bool no_wave) const {
    using detail::amr::reciprocal, detail::amr::times;
    const Real scale = reciprocal(wave - contact);
    // The factor by which the wave increases density and energy.
    const Real growth = no_wave ? Real(1) : times(wave - outside[normal], scale);
    const Real work = times(between, contact) - times(outside[pressure], outside[normal]);
    const Real star_energy = times(total_energy(outside), growth) + times(work, scale);
    const Real mass = times(times(outside[density], growth), contact);
    values flow;
    flow[density] = mass;
    for (int i = first_momentum; i < first_momentum + dim; ++i) flow[i] = times(mass, outside[i]);
    flow[normal] = times(mass, contact) + between;
    flow[energy] = times(star_energy + between, contact);
    return flow;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
