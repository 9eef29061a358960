// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The HLLD flux of a plasma through a face. mhd.cuh calls it.
///
/// Miyoshi: T. Miyoshi, K. Kusano, A multi-state HLL approximate Riemann solver for ideal
/// magnetohydrodynamics, J. Comput. Phys. 208 (2005) 315.

#include <cmath>
#include <ramify/amr/rounding.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A plasma on one side of a face. Entry 0 of a vector is its component through the face.
template <class Real>
struct plasma {
  Real density;
  Real velocity[3];
  Real magnetic[3];
  Real total_pressure;  ///< of the gas and of the magnetic field
  Real energy;          ///< total energy per volume
  Real fast_speed;      ///< of the fast magnetosonic wave through the face
};

/// Returns the speed of the fast wave along an axis, from the squares of the speed of sound, of the
/// Alfven speed, and of the part of the latter that comes from the field across the axis.
template <class Real>
[[nodiscard]] __host__ __device__ Real fast_speed_of(Real sound2, Real alfven2, Real across2) {
  const Real difference = sound2 - alfven2;
  // ((sound2 + alfven2)^2 - 4 sound2 (alfven2 - across2)) as a sum of terms that are not negative.
  const Real root2 = times(difference, difference) + times(4 * sound2, across2);
  const Real root = root2 > 0 ? square_root(root2) : Real(0);
  return square_root(Real(0.5) * ((sound2 + alfven2) + root));
}

// The functions below keep mirror images equal bit by bit, as those of euler.cuh.

template <class Real>
[[nodiscard]] __host__ __device__ Real dot(const Real (&a)[3], const Real (&b)[3]) {
  return (times(a[0], b[0]) + times(a[1], b[1])) + times(a[2], b[2]);
}

/// Returns the flux of a state whose velocity and total pressure are those between the waves around
/// it. Entries: density, three momenta, energy, three components of the field.
template <class Real>
struct plasma_flux {
  Real density;
  Real momentum[3];
  Real energy;
  Real magnetic[3];  ///< entry 0 is 0

  __host__ __device__ explicit plasma_flux(const plasma<Real>& u) {
    const Real along = u.velocity[0];
    const Real normal = u.magnetic[0];
    density = times(u.density, along);
    for (int k = 0; k < 3; ++k) {
      momentum[k] = times(density, u.velocity[k]) - times(normal, u.magnetic[k]);
      magnetic[k] = times(along, u.magnetic[k]) - times(normal, u.velocity[k]);
    }
    momentum[0] += u.total_pressure;
    magnetic[0] = 0;
    energy = times(u.energy + u.total_pressure, along) - times(normal, dot(u.velocity, u.magnetic));
  }
};

/// Returns the state between the fast wave and the Alfven wave (Miyoshi 43-48). The fast wave runs
/// at the speed `wave` into the state `outside`; `contact` and `pressure` are the velocity and the
/// total pressure between the fast waves.
template <class Real>
[[nodiscard]] __host__ __device__ plasma<Real> star_state(const plasma<Real>& outside, Real wave,
                                                          Real contact, Real pressure) {
  const Real normal = outside.magnetic[0];
  const Real into = wave - outside.velocity[0];
  const Real scale = reciprocal(wave - contact);
  const Real mass = times(outside.density, into);
  const Real tension = times(normal, normal);
  const Real inertia = times(mass, wave - contact);
  const Real difference = inertia - tension;
  // If the fast wave is an Alfven wave, too, the field across the face does not change.
  constexpr Real rounding = sizeof(Real) > 4 ? Real(1e-12) : Real(1e-5);
  const bool is_alfven = !(std::fabs(difference) > rounding * (inertia + tension));
  const Real inverse = reciprocal(is_alfven ? Real(1) : difference);
  const Real turn =
      is_alfven ? Real(0) : times(times(normal, contact - outside.velocity[0]), inverse);
  const Real growth = is_alfven ? Real(1) : times(times(mass, into) - tension, inverse);

  plasma<Real> star = outside;
  star.density = times(mass, scale);
  star.velocity[0] = contact;
  for (int k = 1; k < 3; ++k) {
    star.velocity[k] = outside.velocity[k] - times(turn, outside.magnetic[k]);
    star.magnetic[k] = times(growth, outside.magnetic[k]);
  }
  star.total_pressure = pressure;
  const Real work =
      (times(pressure, contact) - times(outside.total_pressure, outside.velocity[0])) +
      times(normal, dot(outside.velocity, outside.magnetic) - dot(star.velocity, star.magnetic));
  star.energy = times(times(into, outside.energy) + work, scale);
  return star;
}

/// Returns the state between an Alfven wave and the contact (Miyoshi 59-63). `here` is the star
/// state of the same side, `left` and `right` are those of both sides.
template <class Real>
[[nodiscard]] __host__ __device__ plasma<Real> inner_state(const plasma<Real>& here, bool is_left,
                                                           const plasma<Real>& left,
                                                           const plasma<Real>& right,
                                                           Real root_left, Real root_right) {
  const Real scale = reciprocal(root_left + root_right);
  const Real sign = here.magnetic[0] < 0 ? Real(-1) : Real(1);
  const Real both = times(root_left, root_right);
  plasma<Real> inner = here;
  for (int k = 1; k < 3; ++k) {
    const Real velocities =
        times(root_left, left.velocity[k]) + times(root_right, right.velocity[k]);
    const Real fields = times(root_left, right.magnetic[k]) + times(root_right, left.magnetic[k]);
    const Real field_jump = sign * (right.magnetic[k] - left.magnetic[k]);
    const Real velocity_jump = sign * (right.velocity[k] - left.velocity[k]);
    inner.velocity[k] = times(velocities + field_jump, scale);
    inner.magnetic[k] = times(fields + times(both, velocity_jump), scale);
  }
  const Real loss = dot(here.velocity, here.magnetic) - dot(inner.velocity, inner.magnetic);
  const Real change = times(is_left ? root_left : root_right, sign * loss);
  inner.energy = is_left ? here.energy - change : here.energy + change;
  return inner;
}

/// Returns the flux between two states with the same field through the face. Five waves separate
/// six states: two fast waves, two Alfven waves and a contact. An isolated contact or Alfven wave
/// is resolved exactly.
/// The densities and the pressures of the gas must be positive.
template <class Real>
[[nodiscard]] __host__ __device__ plasma_flux<Real> hlld_flux(const plasma<Real>& left,
                                                              const plasma<Real>& right) {
  const Real along_left = left.velocity[0];
  const Real along_right = right.velocity[0];
  // Miyoshi 67.
  const Real fast = left.fast_speed > right.fast_speed ? left.fast_speed : right.fast_speed;
  const Real wave_left = (along_left < along_right ? along_left : along_right) - fast;
  const Real wave_right = (along_left < along_right ? along_right : along_left) + fast;
  // Miyoshi 38 and 41. The mass flux through each fast wave, per area: < 0 left, > 0 right.
  const Real into_left = times(left.density, wave_left - along_left);
  const Real into_right = times(right.density, wave_right - along_right);
  const Real scale = reciprocal(into_right - into_left);
  const Real contact = times((times(into_right, along_right) - times(into_left, along_left)) -
                                 (right.total_pressure - left.total_pressure),
                             scale);
  const Real pressure =
      times((times(into_right, left.total_pressure) - times(into_left, right.total_pressure)) +
                times(times(into_right, into_left), along_right - along_left),
            scale);

  const bool all_right = wave_left >= 0;
  const bool all_left = wave_right <= 0;
  if (all_right || all_left) return plasma_flux<Real>(all_right ? left : right);
  const plasma<Real> star_left = star_state(left, wave_left, contact, pressure);
  const plasma<Real> star_right = star_state(right, wave_right, contact, pressure);
  const Real root_left = square_root(star_left.density);
  const Real root_right = square_root(star_right.density);
  const bool is_left = !(contact < 0);
  const plasma<Real> star = is_left ? star_left : star_right;
  const Real alfven =
      times(std::fabs(star.magnetic[0]), reciprocal(is_left ? root_left : root_right));
  const bool is_inner = is_left ? contact - alfven < 0 : contact + alfven > 0;
  if (!is_inner) return plasma_flux<Real>(star);
  return plasma_flux<Real>(
      inner_state(star, is_left, star_left, star_right, root_left, root_right));
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
