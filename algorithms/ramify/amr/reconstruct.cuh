// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reconstruction of values at the edges of cells from cell averages, by limited slopes (MUSCL).
///
/// A limiter takes the differences between a cell and its two neighbors along an axis, and returns
/// half the slope, the difference between the cell and its edge. For differences of opposite signs
/// it returns 0, so that no new extremum appears. All limiters here keep a mirrored flow mirrored
/// bit by bit: exchanging the two differences changes nothing, and reversing both signs reverses
/// the sign of the slope. (In the code, sum == sum is false if one of the two differences is NaN.)
///
/// Source: R. J. LeVeque, Finite Volume Methods for Hyperbolic Problems, Cambridge 2002, ch. 6.

#include <cmath>
#include <ramify/amr/config.hpp>
#include <ramify/amr/state.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns whether two numbers have the same sign bit, also for zeros and NaN.
template <class Real>
[[nodiscard]] __host__ __device__ bool same_sign(Real left, Real right) {
#if defined(__CUDA_ARCH__)
  // Integer operations, because a GPU executes more of them per cycle than comparisons of doubles.
  if constexpr (sizeof(Real) == 4) {
    return (__float_as_int(left) ^ __float_as_int(right)) >= 0;
  } else {
    return (__double2hiint(left) ^ __double2hiint(right)) >= 0;
  }
#else
  return std::signbit(left) == std::signbit(right);
#endif
}

/// Returns the number that is nearer to 0.
template <class Real>
[[nodiscard]] __host__ __device__ Real smaller_magnitude(Real left, Real right) {
  return std::fabs(left) < std::fabs(right) ? left : right;
}

/// The smaller difference: the most diffusive limiter.
struct minmod {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    const Real sum = left + right;
    return same_sign(left, right) && sum == sum ? Real(0.5) * smaller_magnitude(left, right) : 0;
  }
};

/// The mean, but at most twice the smaller difference (B. van Leer, J. Comput. Phys. 23 (1977)
/// 276). The default: the slope is exactly central where the flow is smooth.
struct monotonized_central {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    const Real sum = left + right;
    const Real half = smaller_magnitude(smaller_magnitude(left, right), Real(0.25) * sum);
    return same_sign(left, right) && sum == sum ? half : 0;
  }
};

/// The harmonic mean (B. van Leer, J. Comput. Phys. 14 (1974) 361): between the other two, and a
/// smooth function of the differences.
struct van_leer {
  template <class Real>
  [[nodiscard]] __host__ __device__ Real operator()(Real left, Real right) const {
    const Real smaller = smaller_magnitude(left, right);
    const Real sum = left + right;
    const Real half = times(smaller, 1 - quotient(smaller, sum));
    return same_sign(left, right) && std::fabs(sum) >= least_sum<Real> ? half : 0;
  }

 private:
  /// A smaller sum, whose reciprocal may be infinite on a GPU, counts as 0. Ahead of a front there
  /// are such differences.
  template <class Real>
  static constexpr Real least_sum = sizeof(Real) == 4 ? Real(0x1p-100) : Real(0x1p-1000);
};

/// Returns half the slopes of several variables, from their differences.
template <class Limiter, class Values>
[[nodiscard]] __host__ __device__ Values half_slopes(const Limiter& limited, const Values& left,
                                                     const Values& right) {
  Values half;
  for (int i = 0; i < Values::size; ++i) half[i] = limited(left[i], right[i]);
  return half;
}

/// Returns half the slopes of several variables, by the configured limiter. There is one branch for
/// all variables, and all threads take the same side of it.
template <class Values>
[[nodiscard]] __host__ __device__ Values half_slopes(limiter selected, const Values& left,
                                                     const Values& right) {
  switch (selected) {
    case limiter::minmod: return half_slopes(minmod{}, left, right);
    case limiter::van_leer: return half_slopes(van_leer{}, left, right);
    case limiter::monotonized_central: break;
  }
  return half_slopes(monotonized_central{}, left, right);
}

/// Primitive values at the two edges of a cell along an axis, inside the cell.
template <class Values>
struct edge_values {
  Values lower, upper;
};

/// Returns the values at the edges of a cell. If density or pressure at an edge is not positive,
/// both edges get the values of the cell.
template <class Physics>
[[nodiscard]] __host__ __device__ edge_values<typename Physics::values> positive_edges(
    const Physics& physics, const typename Physics::values& cell,
    edge_values<typename Physics::values> edges) {
  const bool valid = physics.is_positive(edges.lower) && physics.is_positive(edges.upper);
  for (int i = 0; i < Physics::variables; ++i) {
    edges.lower[i] = valid ? edges.lower[i] : cell[i];
    edges.upper[i] = valid ? edges.upper[i] : cell[i];
  }
  return edges;
}

/// Returns the values at the edges of a cell, from the primitive values of the cell and of its
/// neighbors along an axis. Each lies between the values of the cell and a neighbor, up to
/// rounding.
template <class Physics, class Limiter = monotonized_central>
[[nodiscard]] __host__ __device__ edge_values<typename Physics::values> edges_of_cell(
    const Physics& physics, const typename Physics::values& below,
    const typename Physics::values& cell, const typename Physics::values& above,
    Limiter limited = {}) {
  const auto half = half_slopes(limited, cell - below, above - cell);
  return positive_edges<Physics>(physics, cell, {cell - half, cell + half});
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
