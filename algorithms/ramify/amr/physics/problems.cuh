// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The initial states of standard problems of a gas, and those of scalar_problems.cuh.
///
/// Each is a functor that returns the primitive values at a point: density, velocity along each
/// axis and pressure for euler.cuh, the concentration for advection.cuh. amr_run averages the
/// conserved values over each cell. Features that can be smaller than a cell have a member
/// average() (cell_average.cuh): masses and energies do not depend on the mesh. The domains,
/// boundaries and end times in the comments are those of the sources.

#include <cmath>
#include <numbers>
#include <ramify/amr/physics/ball_overlap.cuh>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/physics/scalar_problems.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// Two gases at rest, side by side: a rarefaction runs left, a contact and a shock run right. G. A.
/// Sod, J. Comput. Phys. 27 (1978) 1. Domain 0 to 1, outflow, gamma 1.4, end 0.2.
///
/// With other values on the two sides it is any Riemann problem.
template <class Real, int dim>
struct sod {
  using values = state<Real, dim + 2>;  ///< the values of a cell

  int axis = 0;                      ///< orthogonal to the plane between the two gases
  Real position = Real(0.5);         ///< position of that plane
  Real left_density = 1;             ///< mass per volume
  Real left_velocity = 0;            ///< along `axis`
  Real left_pressure = 1;            ///< of the left gas
  Real right_density = Real(0.125);  ///< mass per volume
  Real right_velocity = 0;           ///< along `axis`
  Real right_pressure = Real(0.1);   ///< of the right gas

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return side(where[axis] < position);
  }

  /// Returns the averages over a cell: exact, also if the plane cuts the cell.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    const Real part = detail::amr::part_below(cell, axis, position);
    return part * physics.to_conserved(side(true)) + (1 - part) * physics.to_conserved(side(false));
  }

 private:
  [[nodiscard]] __host__ __device__ values side(bool is_left) const {
    values gas{};
    gas[0] = is_left ? left_density : right_density;
    gas[1 + axis] = is_left ? left_velocity : right_velocity;
    gas[dim + 1] = is_left ? left_pressure : right_pressure;
    return gas;
  }
};

/// A blast: energy in a small ball of a cold gas at rest. L. I. Sedov, Similarity and Dimensional
/// Methods in Mechanics, 1959. With these energies the shock is at radius 0.5, 0.75 and 1 in one,
/// two and three dimensions at time 1 (J. R. Kamm, F. X. Timmes, LA-UR-07-2849, 2007), gamma 1.4.
/// Domain: -1.2 to 1.2 along each axis, outflow; or one quadrant, 0 to 1.2, with reflecting sides
/// in the planes through the center.
///
/// The energy in the mesh is exact, also if the ball is smaller than a cell: each cell gets the
/// part that is in it. It is `energy`, and that of the cold gas outside of the ball.
template <class Real, int dim>
struct sedov {
  using values = state<Real, dim + 2>;  ///< the values of a cell

  /// The energy of the whole ball, also if the domain is only a quadrant; in 2D per length, in 1D
  /// per area.
  Real energy = dim == 1 ? Real(0.134637) : dim == 2 ? Real(0.311357) : Real(0.851072);
  Real radius = Real(0.05);         ///< radius of the ball, > 0
  Real center[dim] = {};            ///< of the ball
  Real density = 1;                 ///< everywhere
  Real cold_pressure = Real(1e-5);  ///< outside of the ball; far below that of the shock, about 0.1
  Real gamma = Real(1.4);           ///< the adiabatic index

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    values gas{};
    gas[0] = density;
    const bool inside = detail::amr::distance2_between(where, center) < radius * radius;
    gas[dim + 1] = inside ? (gamma - 1) * energy / volume() : cold_pressure;
    return gas;
  }

  /// Returns the averages over a cell, exact up to rounding.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    const auto inside = detail::amr::overlap_of(cell, center, radius);
    if (inside.of_box == 1 || !(inside.of_ball > 0)) return average_by_points(*this, physics, cell);
    double cell_volume = 1;
    for (const Real edge : cell.spacing) cell_volume *= double(edge);
    const double hot = double(gamma - 1) * (double(energy) * inside.of_ball / cell_volume);
    values gas{};
    gas[0] = density;
    gas[dim + 1] = static_cast<Real>(hot + double(cold_pressure) * (1 - inside.of_box));
    return physics.to_conserved(gas);
  }

  /// Returns the volume of the ball.
  [[nodiscard]] __host__ __device__ Real volume() const {
    constexpr Real pi = std::numbers::pi_v<Real>;
    if constexpr (dim == 1) return 2 * radius;
    if constexpr (dim == 2) return pi * radius * radius;
    return 4 * pi / 3 * radius * radius * radius;
  }
};

/// A shear layer: two streams with opposite velocities, and a small velocity along y that grows
/// into rolls.
/// The initial state is smooth, so that resolutions can be compared: C. P. McNally, W. Lyra, J.-C.
/// Passy, A well-posed Kelvin-Helmholtz instability test and comparison, Astrophys. J. Suppl. 201
/// (2012) 18. Domain: the unit square (or cube), periodic; gamma 5/3; end 1.5. In 3D nothing
/// depends on z.
template <class Real, int dim>
struct kelvin_helmholtz {
  static_assert(dim == 2 || dim == 3);
  using values = state<Real, dim + 2>;  ///< the values of a cell

  Real outer_density = 1;            ///< for other y
  Real inner_density = 2;            ///< for y between 1/4 and 3/4
  Real outer_velocity = Real(0.5);   ///< along x
  Real inner_velocity = Real(-0.5);  ///< along x
  Real pressure = Real(2.5);         ///< everywhere
  Real width = Real(0.025);          ///< width over which the streams blend; > 0
  Real ripple = Real(0.01);          ///< largest velocity along y

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real y = where[1];
    const Real from_lower = std::fabs(y - Real(0.25));
    const Real from_upper = std::fabs(y - Real(0.75));
    const Real nearest = from_lower < from_upper ? from_lower : from_upper;
    // The share of the other stream: 1/2 on the two lines between them.
    const Real other = Real(0.5) * std::exp(-nearest / width);
    const bool inner = y >= Real(0.25) && y < Real(0.75);
    const Real inner_share = inner ? 1 - other : other;
    values gas{};
    gas[0] = outer_density + detail::amr::times(inner_share, inner_density - outer_density);
    gas[1] = outer_velocity + detail::amr::times(inner_share, inner_velocity - outer_velocity);
    gas[2] = ripple * std::sin(4 * std::numbers::pi_v<Real> * where[0]);
    gas[dim + 1] = pressure;
    return gas;
  }

  /// Returns the averages over a cell. Cells larger than the layers are divided along y.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    if (!(cell.spacing[1] > 2 * width)) return average_by_points(*this, physics, cell);
    int pieces[dim];
    for (int& each : pieces) each = 1;
    pieces[1] = detail::amr::pieces_of(cell.spacing[1], width, 256);
    return average_by_points(*this, physics, cell, pieces);
  }
};

/// The waves of linear_wave.
enum class wave_family {
  sound,    ///< runs at the speed of sound
  entropy,  ///< changes the density only; moves with the gas
  shear     ///< changes the velocity across the wave's direction; moves with the gas. Not in 1D
};

/// A plane sine wave so small that it keeps its shape. J. M. Stone et al., Athena, Astrophys. J.
/// Suppl. 178 (2008) 137. Domain: the unit square (cube), periodic; gamma 5/3, density 1 and
/// pressure 1 / gamma, so that the speed of sound is 1. In a gas at rest the wave returns to its
/// initial state at time 1 / |crests|. The neglected terms are of order amplitude^2.
template <class Real, int dim>
struct linear_wave {
  using values = state<Real, dim + 2>;  ///< the values of a cell

  wave_family family = wave_family::sound;  ///< the kind of wave
  /// Wavelengths per unit length along each axis, not all 0: the direction of the wave. Whole
  /// numbers make it periodic in the unit square.
  Real crests[dim] = {1};
  Real amplitude = Real(1e-6);     ///< relative to density, and to the speed of sound
  Real density = 1;                ///< of the gas without the wave
  Real velocity[dim] = {};         ///< of the gas without the wave
  Real pressure = Real(0.6);       ///< of the gas without the wave
  Real gamma = Real(5) / Real(3);  ///< the adiabatic index

  /// Returns the primitive values at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return at(where, 0);
  }

  /// Returns the averages over a cell. Cells larger than a quarter of a wavelength are divided.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    int pieces[dim];
    for (int i = 0; i < dim; ++i) {
      const Real waves = std::fabs(detail::amr::times(crests[i], cell.spacing[i]));
      pieces[i] = detail::amr::pieces_of(waves, Real(0.25), 8);
    }
    return average_by_points(*this, physics, cell, pieces);
  }

  /// Returns the exact solution up to terms of order amplitude^2.
  [[nodiscard]] __host__ __device__ values at(const Real (&where)[dim], Real time) const {
    Real cycles = 0;
    for (int i = 0; i < dim; ++i) cycles += detail::amr::times(crests[i], where[i]);
    cycles -= detail::amr::times(frequency(), time);
    const Real wave = amplitude * std::sin(2 * std::numbers::pi_v<Real> * cycles);

    values gas{};
    gas[0] = density;
    for (int i = 0; i < dim; ++i) gas[1 + i] = velocity[i];
    gas[dim + 1] = pressure;
    const Real sound = sound_speed();
    if (family != wave_family::shear) gas[0] += detail::amr::times(density, wave);
    if (family == wave_family::sound) {
      for (int i = 0; i < dim; ++i)
        gas[1 + i] += detail::amr::times(sound * wave, crests[i] / crests_along());
      gas[dim + 1] += detail::amr::times(gamma * pressure, wave);
    }
    if constexpr (dim > 1) {
      if (family == wave_family::shear) {
        // (-y, x, 0) is orthogonal to (x, y, z); a wave along z needs another direction.
        const Real length_in_xy = std::sqrt(detail::amr::times(crests[0], crests[0]) +
                                            detail::amr::times(crests[1], crests[1]));
        gas[1] += detail::amr::times(sound * wave,
                                     length_in_xy > 0 ? -crests[1] / length_in_xy : Real(1));
        gas[2] +=
            detail::amr::times(sound * wave, length_in_xy > 0 ? crests[0] / length_in_xy : Real(0));
      }
    }
    return gas;
  }

  /// Returns the number of wavelengths that pass a point per time; the wave returns to its initial
  /// state after 1 / frequency.
  [[nodiscard]] __host__ __device__ Real frequency() const {
    Real advected = 0;
    for (int i = 0; i < dim; ++i) advected += detail::amr::times(crests[i], velocity[i]);
    if (family != wave_family::sound) return advected;
    return advected + detail::amr::times(crests_along(), sound_speed());
  }

 private:
  [[nodiscard]] __host__ __device__ Real sound_speed() const {
    return std::sqrt(gamma * pressure / density);
  }
  /// Returns the number of wavelengths per unit length along the wave's direction.
  [[nodiscard]] __host__ __device__ Real crests_along() const {
    Real squares = 0;
    for (int i = 0; i < dim; ++i) squares += detail::amr::times(crests[i], crests[i]);
    return std::sqrt(squares);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
