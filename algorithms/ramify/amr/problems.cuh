// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The initial states of standard problems.
///
/// Each is a functor that returns the primitive values at a point: density, velocity along each
/// axis and pressure for euler.cuh, the concentration for advection.cuh. amr_run averages the
/// conserved values over points of each cell. The domains, boundaries and end times in the comments
/// are those of the sources.

#include <cmath>
#include <numbers>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the square of the distance between two points.
template <class Real, int dim>
__host__ __device__ Real distance2_between(const Real (&a)[dim], const Real (&b)[dim]) {
  Real sum = 0;
  for (int i = 0; i < dim; ++i) sum += times(a[i] - b[i], a[i] - b[i]);
  return sum;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

// ---- gas ----

/// Two gases at rest, side by side: a rarefaction runs left, a contact and a shock run right. G. A.
/// Sod, J. Comput. Phys. 27 (1978) 1. Domain 0 to 1, outflow, gamma 1.4, end 0.2.
///
/// With other values on the two sides it is any Riemann problem.
template <class Real, int dim>
struct sod {
  using values = state<Real, dim + 2>;

  int axis = 0;               ///< orthogonal to the plane between the two gases
  Real position = Real(0.5);  ///< position of that plane
  Real left_density = 1;
  Real left_velocity = 0;  ///< along `axis`
  Real left_pressure = 1;
  Real right_density = Real(0.125);
  Real right_velocity = 0;
  Real right_pressure = Real(0.1);

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const bool is_left = where[axis] < position;
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
/// If cells do not resolve the ball, the energy in the mesh differs from `energy`. In this case,
/// scale `energy` or choose a radius of several cells.
template <class Real, int dim>
struct sedov {
  using values = state<Real, dim + 2>;

  /// The energy of the whole ball, also if the domain is only a quadrant; in 2D per length, in 1D
  /// per area.
  Real energy = dim == 1 ? Real(0.134637) : dim == 2 ? Real(0.311357) : Real(0.851072);
  Real radius = Real(0.05);  ///< radius of the ball, > 0
  Real center[dim] = {};
  Real density = 1;
  Real cold_pressure = Real(1e-5);  ///< outside of the ball; far below that of the shock, about 0.1
  Real gamma = Real(1.4);

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    values gas{};
    gas[0] = density;
    const bool inside = detail::amr::distance2_between(where, center) < radius * radius;
    gas[dim + 1] = inside ? (gamma - 1) * energy / volume() : cold_pressure;
    return gas;
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
  using values = state<Real, dim + 2>;

  Real outer_density = 1;
  Real inner_density = 2;           ///< for y between 1/4 and 3/4
  Real outer_velocity = Real(0.5);  ///< along x
  Real inner_velocity = Real(-0.5);
  Real pressure = Real(2.5);
  Real width = Real(0.025);  ///< width over which the streams blend; > 0
  Real ripple = Real(0.01);  ///< largest velocity along y

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
  using values = state<Real, dim + 2>;

  wave_family family = wave_family::sound;
  /// Wavelengths per unit length along each axis, not all 0: the direction of the wave. Whole
  /// numbers make it periodic in the unit square.
  Real crests[dim] = {1};
  Real amplitude = Real(1e-6);  ///< relative to density, and to the speed of sound
  Real density = 1;
  Real velocity[dim] = {};
  Real pressure = Real(0.6);
  Real gamma = Real(5) / Real(3);

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return at(where, 0);
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

// ---- passive scalars ----

/// The value is exp(-r^2 / (2 width^2)), smooth everywhere. Domain: the unit square (cube),
/// periodic. With the default width and the center of the domain as its center, the values at the
/// boundary are negligible. With a uniform_velocity of whole numbers it returns to its initial
/// state at time 1.
template <class Real, int dim>
struct gaussian {
  using values = state<Real, 1>;

  Real center[dim];
  Real width = Real(0.05);  ///< standard deviation, > 0
  Real height = 1;
  Real background = 0;

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real r2 = detail::amr::distance2_between(where, center);
    return {background + detail::amr::times(height, std::exp(-r2 / (2 * width * width)))};
  }
};

/// The value is (1 + cos(pi r / radius)) / 2 inside the radius, and 0 outside. Its slope is
/// continuous. R. J. LeVeque, SIAM J. Numer. Anal. 33 (1996) 627, uses half the height. With
/// reversing_vortex the customary center is (0.5, 0.75), in 3D (0.35, 0.35, 0.35), and the radius
/// 0.15.
template <class Real, int dim>
struct cosine_hump {
  using values = state<Real, 1>;

  Real center[dim];
  Real radius = Real(0.15);  ///< > 0

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real r = std::sqrt(detail::amr::distance2_between(where, center)) / radius;
    if (!(r < 1)) return {Real(0)};
    return {Real(0.5) * (1 + std::cos(std::numbers::pi_v<Real> * r))};
  }
};

/// The value is 1 in a ball and 0 outside. With reversing_vortex it has the center and radius of
/// cosine_hump; in 2D the vortex stretches it to a filament (W. J. Rider, D. B. Kothe, J. Comput.
/// Phys. 141 (1998) 112), in 3D to a sheet (Enright et al., advection.cuh).
template <class Real, int dim>
struct solid_ball {
  using values = state<Real, 1>;

  Real center[dim];
  Real radius = Real(0.15);  ///< > 0

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return {detail::amr::distance2_between(where, center) < radius * radius ? Real(1) : Real(0)};
  }
};

/// The value is 1 in a disc with a slot from below, and 0 outside. S. T. Zalesak, J. Comput. Phys.
/// 31 (1979) 335, scaled to the unit square: radius 0.15 around (0.5, 0.75), a slot 0.05 wide that
/// ends 0.1 above the center. In 3D it is a cylinder along z.
template <class Real, int dim>
struct slotted_disc {
  static_assert(dim == 2 || dim == 3);
  using values = state<Real, 1>;

  Real center[2] = {Real(0.5), Real(0.75)};
  Real radius = Real(0.15);  ///< > 0
  Real slot_width = Real(0.05);
  Real slot_top = Real(0.1);  ///< above the center

  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real here[2] = {where[0], where[1]};
    const bool in_disc = detail::amr::distance2_between(here, center) < radius * radius;
    const bool in_slot =
        std::fabs(where[0] - center[0]) < slot_width / 2 && where[1] - center[1] < slot_top;
    return {in_disc && !in_slot ? Real(1) : Real(0)};
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
