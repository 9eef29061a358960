// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points, boxes and distances in two and three dimensions.
///
/// Distances are squared, and calculated with every operation rounded on its own: a GPU may not fuse
/// a product and a sum. So any program that adds up the squares of the differences, axis by axis,
/// gets the same bits (a host compiler that is told to use fused instructions, as by -march=native,
/// wants -ffp-contract=off beside it). And rounding is monotone, so for a point in a box
///
///     box.nearest2(q) <= distance2(q, p) <= box.farthest2(q)
///
/// holds as calculated: what is decided about a box is decided about its points.

#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// A position. `x` is an array, so that a point of the caller's is any struct of `dim` numbers.
template <class Real, int dim>
struct point {
  static_assert(std::is_floating_point_v<Real> && (dim == 2 || dim == 3));
  Real x[dim];
};

/// sum + d * d, rounded twice.
template <class Real>
__host__ __device__ Real add_square(Real sum, Real d) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Real, float>) {
    return __fadd_rn(sum, __fmul_rn(d, d));
  } else {
    return __dadd_rn(sum, __dmul_rn(d, d));
  }
#else
  return sum + d * d;
#endif
}

template <class Real, int dim>
__host__ __device__ Real distance2(const point<Real, dim>& a, const point<Real, dim>& b) {
  Real sum = 0;
  for (int axis = 0; axis < dim; ++axis) sum = add_square(sum, b.x[axis] - a.x[axis]);
  return sum;
}

/// All points between two corners, the corners included.
template <class Real, int dim>
struct box {
  point<Real, dim> lower;
  point<Real, dim> upper;

  /// The box of one point.
  [[nodiscard]] __host__ __device__ static box of(const point<Real, dim>& p) { return {p, p}; }

  /// The smallest box around both.
  [[nodiscard]] __host__ __device__ static box around(const box& a, const box& b) {
    box both = a;
    for (int axis = 0; axis < dim; ++axis) {
      if (b.lower.x[axis] < both.lower.x[axis]) both.lower.x[axis] = b.lower.x[axis];
      if (both.upper.x[axis] < b.upper.x[axis]) both.upper.x[axis] = b.upper.x[axis];
    }
    return both;
  }

  /// Whether all points in it are equal.
  [[nodiscard]] __host__ __device__ bool is_point() const {
    bool equal = true;
    for (int axis = 0; axis < dim; ++axis) equal = equal && lower.x[axis] == upper.x[axis];
    return equal;
  }

  [[nodiscard]] __host__ __device__ bool contains(const point<Real, dim>& p) const {
    for (int axis = 0; axis < dim; ++axis) {
      if (p.x[axis] < lower.x[axis] || upper.x[axis] < p.x[axis]) return false;
    }
    return true;
  }

  /// The squared distance from `q` to the nearest point of the box; 0 inside.
  [[nodiscard]] __host__ __device__ Real nearest2(const point<Real, dim>& q) const {
    Real sum = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const Real below = lower.x[axis] - q.x[axis];
      const Real above = q.x[axis] - upper.x[axis];
      const Real outside = below < above ? above : below;
      sum = add_square(sum, outside < 0 ? Real{0} : outside);
    }
    return sum;
  }

  /// The squared distance from `q` to the farthest corner.
  [[nodiscard]] __host__ __device__ Real farthest2(const point<Real, dim>& q) const {
    Real sum = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const Real to_lower = q.x[axis] - lower.x[axis];
      const Real to_upper = upper.x[axis] - q.x[axis];
      sum = add_square(sum, to_lower < to_upper ? to_upper : to_lower);
    }
    return sum;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
