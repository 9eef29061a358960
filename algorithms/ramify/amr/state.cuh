// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// state: the variables of a cell, or a flux. sum_over_corners(), and the operators of reductions.

#include <ramify/amr/rounding.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A vector of `count` variables. Products are rounded before they are added (rounding.cuh).
template <class Real, int count>
struct state {
  static_assert(std::is_floating_point_v<Real> && count > 0);
  static constexpr int size = count;  ///< number of values
  Real v[count];                      ///< the values

  __host__ __device__ Real& operator[](int i) { return v[i]; }              ///< Returns value i.
  __host__ __device__ const Real& operator[](int i) const { return v[i]; }  ///< Returns value i.

  /// Adds each value.
  __host__ __device__ state& operator+=(const state& other) {
    for (int i = 0; i < count; ++i) v[i] += other.v[i];
    return *this;
  }
  /// Subtracts each value.
  __host__ __device__ state& operator-=(const state& other) {
    for (int i = 0; i < count; ++i) v[i] -= other.v[i];
    return *this;
  }
  /// Adds each value.
  __host__ __device__ friend state operator+(state a, const state& b) { return a += b; }
  /// Subtracts each value.
  __host__ __device__ friend state operator-(state a, const state& b) { return a -= b; }
  /// Multiplies each value.
  __host__ __device__ friend state operator*(Real factor, state a) {
    for (int i = 0; i < count; ++i) a.v[i] = detail::amr::times(factor, a.v[i]);
    return a;
  }
  /// Multiplies each value.
  __host__ __device__ friend state operator*(const state& a, Real factor) { return factor * a; }
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the sum of `part(corner)` over the corners of an interval, a square or a cube. Bit a of
/// a corner's number is its side along axis a. Opposite corners are added first, so that a mirror
/// image has the same sum bit by bit, and also a square with x and y exchanged.
template <int corners, class Part>
__host__ __device__ auto sum_over_corners(Part part) {
  static_assert(corners == 2 || corners == 4 || corners == 8);
  const auto pair = [&](int corner) { return part(corner) + part(corners - 1 - corner); };
  if constexpr (corners == 2) {
    return pair(0);
  } else if constexpr (corners == 4) {
    return pair(0) + pair(1);
  } else {
    return (pair(0) + pair(3)) + (pair(1) + pair(2));
  }
}

// The operators of reductions over a block of threads.

struct maximum {
  template <class Real>
  __host__ __device__ Real operator()(Real a, Real b) const {
    return a > b ? a : b;
  }
};

struct plus {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
