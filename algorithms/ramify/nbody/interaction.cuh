// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The interactions of a body with another body and with a node of the tree.

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

/// Returns 1 / sqrt(value) of a normal number, and infinity for a smaller one.
template <class Real>
__device__ Real inverse_square_root(Real value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(Real) == sizeof(float)) {
    // One instruction. rsqrtf() has more, for subnormal numbers.
    float result;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
  } else {
    return rsqrt(value);
  }
#else
  return 1 / std::sqrt(value);
#endif
}

/// The second moments of the masses of a node about its center c, times 3, in units of scale^2:
/// xy = 3 sum m (x - c_x) (y - c_y) / scale^2. In these units their products with powers of the
/// distance stay in the range of Real.
template <class Real>
struct alignas(4 * sizeof(Real)) quadrupole {
  Real xx, yy, zz;
  Real scale;  ///< the longest side of the node's box
  Real xy, xz, yz;
  Real sixth_of_trace;  ///< (xx + yy + zz) / 6
};

/// A node as one source, of order 1: one mass.
template <class Real, int order>
struct far_source {
  point_mass<Real> center;
};

/// A node as one source, of order 2: one mass and the second moments about it.
template <class Real>
struct far_source<Real, 2> {
  point_mass<Real> center;
  quadrupole<Real> second;
};

/// Acceleration and potential of one body, for G = 1: the sum over the interactions so far.
template <class Real>
struct force_accumulator {
  Real x = 0, y = 0, z = 0;  ///< acceleration
  Real potential = 0;

  /// Adds the interaction of another body with a body at `position`. It adds zero if the squared
  /// softened distance is less than the least normal number.
  __device__ void add_body(const point_mass<Real>& source, const point<Real, 3>& position,
                           Real softening2) {
    const Real dx = source.x - position.x[0];
    const Real dy = source.y - position.x[1];
    const Real dz = source.z - position.x[2];
    const Real r2 = softening2 + dx * dx + dy * dy + dz * dz;
    const Real inverse = r2 < real_limits<Real>::least_normal ? Real{0} : inverse_square_root(r2);
    add_mass(source.mass * inverse, inverse, dx * inverse, dy * inverse, dz * inverse);
  }

  /// Adds the interaction of a node with a body at `position`, whose squared distance from the
  /// node's center must be a normal number.
  __device__ void add_node(const far_source<Real, 1>& source, const point<Real, 3>& position,
                           Real softening2) {
    const Real dx = source.center.x - position.x[0];
    const Real dy = source.center.y - position.x[1];
    const Real dz = source.center.z - position.x[2];
    const Real inverse = inverse_square_root(softening2 + dx * dx + dy * dy + dz * dz);
    add_mass(source.center.mass * inverse, inverse, dx * inverse, dy * inverse, dz * inverse);
  }

  /// Adds the interaction of a node, as above. With d the vector to the center, R the softened
  /// distance, u = d / R, and T the matrix of the quadrupole, each term of Taylor's series in
  /// the positions of the node's masses about the center contributes
  ///
  ///     order 0    potential -m / R                                acceleration m u / R^2
  ///     order 2    -(u T u / 2 - trace / 6) / R^3     ((5/2 u T u - trace / 2) u - T u) / R^4
  ///
  /// The term of order 1 is zero. With softening the trace of T counts, so T keeps it.
  __device__ void add_node(const far_source<Real, 2>& source, const point<Real, 3>& position,
                           Real softening2) {
    const quadrupole<Real>& t = source.second;
    const Real dx = source.center.x - position.x[0];
    const Real dy = source.center.y - position.x[1];
    const Real dz = source.center.z - position.x[2];
    const Real inverse = inverse_square_root(softening2 + dx * dx + dy * dy + dz * dz);
    const Real ux = dx * inverse;
    const Real uy = dy * inverse;
    const Real uz = dz * inverse;
    const Real tx = t.xx * ux + t.xy * uy + t.xz * uz;
    const Real ty = t.xy * ux + t.yy * uy + t.yz * uz;
    const Real tz = t.xz * ux + t.yz * uy + t.zz * uz;
    const Real utu = ux * tx + uy * ty + uz * tz;
    const Real ratio = t.scale * inverse;
    const Real ratio2 = ratio * ratio;
    const Real of_potential = Real{0.5} * utu - t.sixth_of_trace;
    const Real inverse2 = inverse * inverse;
    const Real along_u = inverse2 * (ratio2 * (3 * of_potential + utu) + source.center.mass);
    const Real along_tu = inverse2 * ratio2;
    x += along_u * ux;
    y += along_u * uy;
    z += along_u * uz;
    x -= along_tu * tx;
    y -= along_tu * ty;
    z -= along_tu * tz;
    potential -= inverse * (ratio2 * of_potential + source.center.mass);
  }

 private:
  /// Adds a mass over its distance, 1 / distance, and the unit vector to the mass. The cube of a
  /// small distance would leave the range of float.
  __device__ void add_mass(Real m_over_r, Real inverse, Real ux, Real uy, Real uz) {
    const Real m_over_r2 = m_over_r * inverse;
    x += m_over_r2 * ux;
    y += m_over_r2 * uy;
    z += m_over_r2 * uz;
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
