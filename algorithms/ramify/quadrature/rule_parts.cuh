// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The types and functions that all rules of quadrature() use: points, boxes, weights, and pairs of
/// axes.

#include <cfloat>
#include <cmath>
#include <ramify/quadrature/config.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// A point of the integrand's domain.
template <unsigned d>
struct quadrature_point {
  double x[d];  ///< the coordinates
  /// Returns a coordinate.
  [[nodiscard]] __host__ __device__ double operator[](unsigned axis) const { return x[axis]; }
};

/// The domain of an integral. On each axis, low[i] is less than high[i].
template <unsigned d>
struct quadrature_box {
  double low[d];   ///< lower ends
  double high[d];  ///< upper ends
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// The distance of the points near the faces from the face, in units of half the region's length.
/// The integrand may be singular at the face.
inline constexpr double face_distance = 1.0 / (1 << 14);

/// Returns whether an axis from `low` to `high` is long enough for the points of a region: whether
/// all of them lie between the two. The coordinate of a point is the sum of the middle and an
/// offset. The middle and the sum each have a round-off of at most half an ulp, and the points near
/// the faces must be farther from the face than two ulps.
[[nodiscard]] __host__ __device__ inline bool has_points_inside(double low, double high) {
  const double largest = std::fmax(std::fmax(std::fabs(low), std::fabs(high)), DBL_MIN);
  return (high - low) / 2 * face_distance > 2 * DBL_EPSILON * largest;
}

/// The weights of one point. Each rule has its own weight for it.
struct weights {
  double high;       ///< the weight in the rule of high degree
  double low;        ///< the weight in the embedded rule
  double third = 0;  ///< the weight in a third rule, of a lower degree, if the rule has_third
};

/// The axis on which a region is split next, and the error that the points near the faces show.
struct axis_choice {
  unsigned axis = 0;
  double error_at_faces = 0;  ///< a bound of the mean value's error
};

/// Returns `value` if `positive` is not 0, else -value.
[[nodiscard]] __device__ inline double signed_by(unsigned positive, double value) {
  return positive != 0 ? value : -value;
}

/// Sets one coordinate. The loop keeps the point in registers, which cannot be indexed.
template <unsigned d>
__device__ void set_coordinate(quadrature_point<d>& p, unsigned axis, double value) {
  for (unsigned i = 0; i < d; ++i) p.x[i] = i == axis ? value : p.x[i];
}

/// A pair of different axes; `first` is less than `second`.
struct axis_pair {
  unsigned first;
  unsigned second;

  /// Returns pair number `i` of `axes` axes.
  [[nodiscard]] static __device__ axis_pair number(unsigned i, unsigned axes) {
    unsigned first = 0;
    while (i >= axes - 1 - first) i -= axes - 1 - first++;
    return {first, first + 1 + i};
  }
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
