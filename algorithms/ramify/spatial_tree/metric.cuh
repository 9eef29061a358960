// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The metrics of queries: how kernels compute squared distances.
///
/// plain_metric is the arithmetic of geometry.cuh. It serves queries whose squares are in the range
/// of Real. scaled_metric serves all others, and periodic boxes: it multiplies each difference by a
/// power of two, the scale, before it is squared. This does not change the rounding, so the results
/// have the bits that the arithmetic of geometry.cuh would have with exponents of any size.
///
/// Each call has one metric, which the host or a kernel chooses (metric_choice.cuh). All balls of a
/// call have one scale, because they have one radius. A search for neighbors has a scale for each
/// query. Each kernel is compiled for both metrics.
///
/// In a periodic box the distance along an axis is that to the nearest image: min(d, period - d).
/// The axes are independent and every operation is monotone, so decisions about boxes are valid for
/// all their points, as they are in geometry.cuh.

#include <cfloat>
#include <climits>
#include <cmath>
#include <limits>
#include <ramify/spatial_tree/geometry.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Powers of two between which squares are in the range of Real.
template <class Real>
struct square_range {
  using limits = std::numeric_limits<Real>;
  /// Three squares of 2^greatest have a finite sum.
  static constexpr int greatest = limits::max_exponent / 2 - 2;
  /// The square of 2^least is a normal number.
  static constexpr int least = limits::min_exponent / 2;
  /// A normal number with a normal reciprocal.
  static constexpr int largest_scale = limits::max_exponent - 2;
};

/// The exponent of 0 in these functions.
inline constexpr int exponent_of_zero = INT_MIN;

/// Returns the least e with x < 2^e. Requires x >= 0, finite.
__host__ __device__ inline int exponent_of(double x) {
  return x > 0 ? std::ilogb(x) + 1 : exponent_of_zero;
}

/// Returns the exponent of the greatest difference of a coordinate in [lower, upper] and one in
/// [other_lower, other_upper].
__host__ __device__ inline int exponent_of_reach(double lower, double upper, double other_lower,
                                                 double other_upper) {
  const double reach = greater_of(upper - other_lower, other_upper - lower);
  if (reach <= DBL_MAX) return exponent_of(reach);
  // The difference overflows, its half does not.
  return 1 + exponent_of(greater_of(upper / 2 - other_lower / 2, other_upper / 2 - lower / 2));
}

/// Squared distances between points and boxes of the tree and `placed` queries, or boxes around
/// placed queries.
struct plain_metric {
  /// Returns the metric of a query for neighbors.
  template <class Real, int dim>
  [[nodiscard]] __device__ plain_metric of_query(const point<Real, dim>&,
                                                 const box<Real, dim>&) const {
    return {};
  }
  template <class Real, int dim>
  [[nodiscard]] __device__ point<Real, dim> place(const point<Real, dim>& query) const {
    return query;
  }
  template <class Real, int dim>
  [[nodiscard]] __device__ Real distance2(const point<Real, dim>& placed,
                                          const point<Real, dim>& p) const {
    return ramify::distance2(placed, p);
  }
  template <class Real, int dim>
  [[nodiscard]] __device__ Real min_distance2(const box<Real, dim>& bounds,
                                              const point<Real, dim>& placed) const {
    return bounds.min_distance2(placed);
  }
  template <class Real, int dim>
  [[nodiscard]] __device__ Real min_distance2(const box<Real, dim>& bounds,
                                              const box<Real, dim>& placed) const {
    return placed.min_distance2(bounds);
  }
  template <class Real, int dim>
  [[nodiscard]] __device__ Real max_distance2(const box<Real, dim>& bounds,
                                              const point<Real, dim>& placed) const {
    return bounds.max_distance2(placed);
  }
  template <class Real, int dim>
  [[nodiscard]] __device__ Real max_distance2(const box<Real, dim>& bounds,
                                              const box<Real, dim>& placed) const {
    return placed.max_distance2(bounds);
  }
  /// Returns an upper bound of the squared distance between two points of a box of the tree.
  template <class Real, int dim>
  [[nodiscard]] __device__ Real diagonal2(const box<Real, dim>& bounds) const {
    return ramify::distance2(bounds.lower, bounds.upper);
  }
  /// Returns the squared diagonal of a box around placed queries.
  template <class Real, int dim>
  [[nodiscard]] __device__ Real diagonal2_of_placed(const box<Real, dim>& placed) const {
    return placed.max_distance2(placed);
  }
};

/// One axis of a scaled_metric.
template <class Real>
struct metric_axis {
  Real scaled_period = 0;  ///< 0: the axis is not periodic
  Real period = 0;
  Real origin = 0;  ///< the least coordinate of the tree's points
  /// A query from `least` to `greatest` is at most one period away from all points of the tree.
  Real least = 0;
  Real greatest = 0;

  /// Returns the image of a coordinate in [origin, origin + period], up to rounding.
  [[nodiscard]] __device__ Real wrap(Real x) const {
    // Both remainders are exact.
    double rest = fmod(double(x), double(period)) - fmod(double(origin), double(period));
    if (rest < 0) rest += double(period);
    if (rest < 0) rest += double(period);
    if (rest >= double(period)) rest -= double(period);
    return static_cast<Real>(double(origin) + rest);
  }
};

/// Squared distances in another unit, and to the nearest image along periodic axes. Placed queries
/// are multiplied by `before`.
template <class Real, int dim>
struct scaled_metric {
  /// Powers of two, whose product is the scale. Large coordinates are multiplied before they are
  /// subtracted, so that the difference does not overflow; small differences are multiplied after.
  Real before = 1;
  Real after = 1;
  metric_axis<Real> axes[dim];

  /// Returns the metric with the scale 2^exponent, or the nearest possible scale.
  [[nodiscard]] __host__ __device__ scaled_metric with_scale(int exponent) const {
    constexpr int largest = square_range<Real>::largest_scale;
    exponent = exponent < -largest ? -largest : exponent > largest ? largest : exponent;
    scaled_metric metric = *this;
    const Real scale = std::ldexp(Real{1}, exponent);
    metric.before = exponent < 0 ? scale : Real{1};
    metric.after = exponent < 0 ? Real{1} : scale;
    for (auto& axis : metric.axes) axis.scaled_period = axis.period * scale;
    return metric;
  }

  /// Returns the metric of a query for neighbors among points in `bounds`: the greatest distance
  /// has almost the greatest exponent that squares allow.
  [[nodiscard]] __host__ __device__ scaled_metric of_query(const point<Real, dim>& query,
                                                           const box<Real, dim>& bounds) const {
    return with_scale(square_range<Real>::greatest - 1 -
                      exponent_of_reach(box<Real, dim>::of(query), bounds));
  }

  /// Returns the exponent of the greatest difference of coordinates of a query and a point of the
  /// tree, in boxes around the queries and the points.
  [[nodiscard]] __host__ __device__ int exponent_of_reach(const box<Real, dim>& queries,
                                                          const box<Real, dim>& points) const {
    int greatest = exponent_of_zero;
    for (int i = 0; i < dim; ++i) {
      const int along = axes[i].period > 0 ? exponent_of(double(axes[i].period))
                                           : spatial_tree::exponent_of_reach(
                                                 queries.lower.x[i], queries.upper.x[i],
                                                 points.lower.x[i], points.upper.x[i]);
      if (greatest < along) greatest = along;
    }
    return greatest == exponent_of_zero ? 0 : greatest;
  }

  /// Returns the caller's unit of distances.
  [[nodiscard]] __device__ Real unit() const { return 1 / (before * after); }

  /// Changes the squared distances in a row to the caller's unit, and takes their roots unless they
  /// are to stay `squared`.
  __device__ void convert(Real* distances2, unsigned k, bool squared) const {
    const Real by = unit();
    for (unsigned i = 0; i < k; ++i) {
      const Real d = distances2[i];
      distances2[i] = squared ? d * by * by : std::sqrt(d) * by;
    }
  }

  [[nodiscard]] __device__ point<Real, dim> place(const point<Real, dim>& query) const {
    point<Real, dim> placed;
    for (int i = 0; i < dim; ++i) {
      Real x = query.x[i];
      if (axes[i].period > 0 && !(axes[i].least <= x && x <= axes[i].greatest)) {
        x = axes[i].wrap(x);
      }
      placed.x[i] = x * before;
    }
    return placed;
  }
  [[nodiscard]] __device__ Real distance2(const point<Real, dim>& placed,
                                          const point<Real, dim>& p) const {
    Real sum = 0;
    for (int i = 0; i < dim; ++i) {
      const Real d = p.x[i] * before - placed.x[i];
      sum = add_square(sum, nearest_image(i, (d < 0 ? -d : d) * after));
    }
    return sum;
  }
  [[nodiscard]] __device__ Real min_distance2(const box<Real, dim>& bounds,
                                              const point<Real, dim>& placed) const {
    return min_distance2(bounds, box<Real, dim>::of(placed));
  }
  [[nodiscard]] __device__ Real max_distance2(const box<Real, dim>& bounds,
                                              const point<Real, dim>& placed) const {
    return max_distance2(bounds, box<Real, dim>::of(placed));
  }
  [[nodiscard]] __device__ Real min_distance2(const box<Real, dim>& bounds,
                                              const box<Real, dim>& placed) const {
    Real sum = 0;
    for (int i = 0; i < dim; ++i) {
      const range along = range_along(i, bounds, placed);
      Real least = along.least;
      const Real period = axes[i].scaled_period;
      if (period > 0) least = lesser_of(least, period - along.greatest);
      sum = add_square(sum, greater_of(least, Real{0}));
    }
    return sum;
  }
  [[nodiscard]] __device__ Real max_distance2(const box<Real, dim>& bounds,
                                              const box<Real, dim>& placed) const {
    Real sum = 0;
    for (int i = 0; i < dim; ++i) {
      const range along = range_along(i, bounds, placed);
      Real greatest = along.greatest;
      const Real period = axes[i].scaled_period;
      if (period > 0) {
        const Real other_way = period - greater_of(along.least, Real{0});
        greatest = greater_of(lesser_of(lesser_of(greatest, other_way), period / 2), Real{0});
      }
      sum = add_square(sum, greatest);
    }
    return sum;
  }
  [[nodiscard]] __device__ Real diagonal2(const box<Real, dim>& bounds) const {
    return max_distance2(bounds, {scaled(bounds.lower), scaled(bounds.upper)});
  }
  [[nodiscard]] __device__ Real diagonal2_of_placed(const box<Real, dim>& placed) const {
    Real sum = 0;
    for (int i = 0; i < dim; ++i) {
      sum = add_square(sum, (placed.upper.x[i] - placed.lower.x[i]) * after);
    }
    return sum;
  }

 private:
  /// The scaled differences of the coordinates of two boxes. `least` is negative if they overlap.
  struct range {
    Real least;
    Real greatest;
  };

  [[nodiscard]] __device__ static Real lesser_of(Real a, Real b) { return b < a ? b : a; }

  [[nodiscard]] __device__ Real nearest_image(int i, Real d) const {
    const Real period = axes[i].scaled_period;
    return period > 0 ? greater_of(lesser_of(d, period - d), Real{0}) : d;
  }
  [[nodiscard]] __device__ range range_along(int i, const box<Real, dim>& bounds,
                                             const box<Real, dim>& placed) const {
    const Real lower = bounds.lower.x[i] * before;
    const Real upper = bounds.upper.x[i] * before;
    const Real below = lower - placed.upper.x[i];
    const Real above = placed.lower.x[i] - upper;
    const Real to_upper = upper - placed.lower.x[i];
    const Real to_lower = placed.upper.x[i] - lower;
    return {greater_of(below, above) * after, greater_of(to_upper, to_lower) * after};
  }
  [[nodiscard]] __device__ point<Real, dim> scaled(const point<Real, dim>& p) const {
    point<Real, dim> q;
    for (int i = 0; i < dim; ++i) q.x[i] = p.x[i] * before;
    return q;
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
