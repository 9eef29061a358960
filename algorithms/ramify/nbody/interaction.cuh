// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The pull of one mass on one body.

#include <cmath>
#include <limits>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A position and a mass: a body, or the bodies of a cell taken together. One or two wide loads.
template <class Real>
struct alignas(4 * sizeof(Real)) point_mass {
  Real x, y, z, mass;
};

/// Constants, for kernels, which cannot call std::numeric_limits.
template <class Real>
struct limits_of {
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

/// What the masses added so far do to a body, for G = 1.
template <class Real>
struct attraction {
  Real x = 0, y = 0, z = 0;  ///< acceleration
  Real potential = 0;

  /// Adds the pull of `source` on a body at `at`. Where the distance is 0, or so small that its
  /// square is, and nothing is softened, there is none.
  __device__ void add(const point_mass<Real>& source, const point<Real, 3>& at, Real softening2) {
    const Real dx = source.x - at.x[0];
    const Real dy = source.y - at.x[1];
    const Real dz = source.z - at.x[2];
    const Real r2 = dx * dx + dy * dy + dz * dz + softening2;
    const Real inverse = r2 < limits_of<Real>::least_normal ? Real{0} : inverse_square_root(r2);
    // Not m / r^3 times the difference: the cube of a small distance leaves the range of float.
    const Real of_distance = source.mass * inverse;
    const Real strength = of_distance * inverse;
    x += strength * (dx * inverse);
    y += strength * (dy * inverse);
    z += strength * (dz * inverse);
    potential -= of_distance;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
