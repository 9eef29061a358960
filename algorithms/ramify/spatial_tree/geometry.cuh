// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points, boxes and squared distances in two and three dimensions. Public: users and other
/// families may include this header.
///
/// Every operation of a distance is rounded separately: device code does not fuse a product and a
/// sum. A program that adds the squares of the differences, axis by axis, therefore gets the same
/// bits. (A host compiler that may use fused instructions, for example with -march=native, also
/// needs -ffp-contract=off.) Rounding is monotone, so for a point p in a box
///
///     box.min_distance2(q) <= distance2(q, p) <= box.max_distance2(q)
///
/// holds for the computed values: a decision about a box is valid for all its points.

#include <ramify/runtime/cuda.hpp>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Returns sum + a * b, rounded twice.
template <class Real>
__host__ __device__ Real add_product(Real sum, Real a, Real b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<Real, float>) {
    return __fadd_rn(sum, __fmul_rn(a, b));
  } else {
    return __dadd_rn(sum, __dmul_rn(a, b));
  }
#else
  return sum + a * b;
#endif
}

/// Returns sum + d * d, rounded twice.
template <class Real>
__host__ __device__ Real add_square(Real sum, Real d) {
  return add_product(sum, d, d);
}

/// Returns the greater of two numbers. A GPU has an instruction for it.
template <class Real>
__host__ __device__ Real greater_of(Real a, Real b) {
#if defined(__CUDA_ARCH__)
  return max(a, b);
#else
  return a < b ? b : a;
#endif
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// A position. Its layout is that of an array of `dim` numbers, so any struct of `dim` numbers can
/// be read as one.
template <class Real, int dim>
struct point {
  static_assert(std::is_floating_point_v<Real> && (dim == 2 || dim == 3));
  Real x[dim];  ///< the coordinates
};

/// Returns the squared Euclidean distance between `a` and `b`.
template <class Real, int dim>
__host__ __device__ Real distance2(const point<Real, dim>& a, const point<Real, dim>& b) {
  Real sum = 0;
  for (int axis = 0; axis < dim; ++axis) {
    sum = detail::spatial_tree::add_square(sum, b.x[axis] - a.x[axis]);
  }
  return sum;
}

/// An axis-aligned box: all points between two corners, including the corners.
template <class Real, int dim>
struct box {
  point<Real, dim> lower;  ///< the lower corner
  point<Real, dim> upper;  ///< the upper corner

  /// Returns the box of one point.
  [[nodiscard]] __host__ __device__ static box of(const point<Real, dim>& p) { return {p, p}; }

  /// Returns the smallest box that contains both boxes.
  [[nodiscard]] __host__ __device__ static box enclosing(const box& a, const box& b) {
    box both = a;
    for (int axis = 0; axis < dim; ++axis) {
      if (b.lower.x[axis] < both.lower.x[axis]) both.lower.x[axis] = b.lower.x[axis];
      if (both.upper.x[axis] < b.upper.x[axis]) both.upper.x[axis] = b.upper.x[axis];
    }
    return both;
  }

  /// Returns true if all points of the box are equal.
  [[nodiscard]] __host__ __device__ bool is_point() const {
    bool equal = true;
    for (int axis = 0; axis < dim; ++axis) equal = equal && lower.x[axis] == upper.x[axis];
    return equal;
  }

  /// Returns the squared distance from `q` to the nearest point of the box (MINDIST); 0 inside.
  [[nodiscard]] __host__ __device__ Real min_distance2(const point<Real, dim>& q) const {
    return min_distance2(of(q));
  }

  /// Returns the squared distance between the nearest points of two boxes; 0 if they overlap. For
  /// each `q` in `other`, min_distance2(q) is not less, also after rounding.
  [[nodiscard]] __host__ __device__ Real min_distance2(const box& other) const {
    using detail::spatial_tree::greater_of;
    Real sum = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const Real below = lower.x[axis] - other.upper.x[axis];
      const Real above = other.lower.x[axis] - upper.x[axis];
      const Real outside = greater_of(greater_of(below, above), Real{0});
      sum = detail::spatial_tree::add_square(sum, outside);
    }
    return sum;
  }

  /// Returns the squared distance from `q` to the farthest corner.
  [[nodiscard]] __host__ __device__ Real max_distance2(const point<Real, dim>& q) const {
    return max_distance2(of(q));
  }

  /// Returns the squared distance between the farthest corners of two boxes. For each `q` in
  /// `other`, max_distance2(q) is not greater, also after rounding.
  [[nodiscard]] __host__ __device__ Real max_distance2(const box& other) const {
    using detail::spatial_tree::greater_of;
    Real sum = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const Real to_lower = other.upper.x[axis] - lower.x[axis];
      const Real to_upper = upper.x[axis] - other.lower.x[axis];
      sum = detail::spatial_tree::add_square(sum, greater_of(to_lower, to_upper));
    }
    return sum;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
