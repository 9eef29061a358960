// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The interaction of one mass with one body.

#include <cmath>
#include <cstdint>
#include <limits>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::detail::nbody::inline RAMIFY_BUILD {

/// A position and a mass: one body, or all bodies of a node. Kernels load it in one or two wide
/// loads.
template <class Real>
struct alignas(4 * sizeof(Real)) point_mass {
  Real x, y, z, mass;
};

/// Constants for kernels, which cannot call the functions of std::numeric_limits.
template <class Real>
struct real_limits {
  static constexpr Real least_normal = std::numeric_limits<Real>::min();
  static constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
};

template <class Real>
__device__ Real inverse_square_root(Real value) {
#if defined(__CUDA_ARCH__)
  return rsqrt(value);
#else
  return 1 / std::sqrt(value);
#endif
}

/// Acceleration and potential of one body, for G = 1: the sum over the interactions so far.
template <class Real>
struct force_accumulator {
  Real x = 0, y = 0, z = 0;  ///< acceleration
  Real potential = 0;

  /// Adds the interaction of `source` with a body at `position`. It adds zero if the squared
  /// softened distance is less than the least normal number.
  __device__ void add_interaction(const point_mass<Real>& source, const point<Real, 3>& position,
                                  Real softening2) {
    const Real dx = source.x - position.x[0];
    const Real dy = source.y - position.x[1];
    const Real dz = source.z - position.x[2];
    const Real r2 = dx * dx + dy * dy + dz * dz + softening2;
    const Real inverse = r2 < real_limits<Real>::least_normal ? Real{0} : inverse_square_root(r2);
    // Not m / r^3 times the difference: the cube of a small distance leaves the range of float.
    const Real m_over_r = source.mass * inverse;
    const Real m_over_r2 = m_over_r * inverse;
    x += m_over_r2 * (dx * inverse);
    y += m_over_r2 * (dy * inverse);
    z += m_over_r2 * (dz * inverse);
    potential -= m_over_r;
  }
};

/// Writes the result of body `i`: the sums times G. `potentials` may be null.
template <class Real>
__device__ void write_result(const force_accumulator<Real>& sum, Real gravitational_constant,
                             std::uint32_t i, point<Real, 3>* accelerations, Real* potentials) {
  const Real g = gravitational_constant;
  accelerations[i] = {{g * sum.x, g * sum.y, g * sum.z}};
  if (potentials != nullptr) potentials[i] = g * sum.potential;
}

}  // namespace ramify::detail::nbody::inline RAMIFY_BUILD
