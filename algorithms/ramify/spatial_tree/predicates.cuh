// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The predicates of query(): which points each query finds. Public: <ramify/spatial_tree.cuh>
/// includes this header.
///
///     in_balls(centers, n, radius)                    one radius
///     in_balls_of(centers, radii, n)                  a radius for each ball
///     in_boxes(boxes, n)                              axis-aligned boxes, closed
///     near_segments(from, to, n, radius)              points near a segment
///     near_rays(origins, directions, n, radius)       points near a ray: see Rays
///     in_regions(n, region_of)                        regions of the caller
///     nearest_to(queries, n, k, filter)               the k nearest points that a filter accepts
///     pairs_within(radius)                            pairs of points of the tree, each once
///
/// Arrays     in device, managed or pinned memory, which are only read. n is a number or a
///            device_count.
/// Rays       a point has no extent, so a ray hits none. A query finds the points at a distance of
///            at most the radius from the ray, or from the segment.
/// Balls      of one radius are those of radius_count(), to the bit: see queries.cuh, Range and
///            Period. in_balls_of() finds the same points for equal radii. A ball with a negative
///            radius or a NaN contains no point.
/// Boxes      of any magnitude. Coordinates may be infinite. A box whose lower corner exceeds the
///            upper one along some axis contains no point.
/// Segments   and rays: t = (p - from) . d / (d . d) is limited to [0, 1], for rays to t >= 0, and
///            distance2 is that of p and from + t * d. Each operation is rounded separately. If
///            d . d is 0, so is t. All squares must be in the range of Real.
/// Nearest    in ascending order of the distance, then of the index, as nearest() finds them. The
///            filter has a device function that returns whether a point is accepted:
///            `bool operator()(std::uint32_t query, std::uint32_t point) const`. nearest() has more
///            kernels, and is faster for most k.
/// Pairs      two different points at a distance of at most the radius. `query` and `point` of a
///            match are the indices of both points, of which the tree has `query` first. All calls
///            for pairs with the same `query` come from one thread.
/// Regions    are structs of device functions:
///
///     struct half_space {
///       float greatest;
///       // Whether no point of the box is in the region. False is always right.
///       __device__ bool excludes(const box<float, 3>& b) const { return b.lower.x[0] > greatest; }
///       __device__ bool contains(const point<float, 3>& p) const { return p.x[0] <= greatest; }
///     };
///
///            Optional: `Real distance2(const point<Real, dim>& p) const`, which a match has; else
///            it is 0. `point<Real, dim> anchor(const box<Real, dim>& all) const`, a point near the
///            region in the box around all points; with anchors the queries are sorted, and a query
///            whose anchor is not finite is an error. Without them the caller's order is kept.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/spatial_tree/metric_choice.cuh>
#include <ramify/spatial_tree/morton.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Returns x, limited to [least, greatest]. A NaN stays one.
template <class Real>
[[nodiscard]] __device__ Real limited(Real x, Real least, Real greatest) {
  return x < least ? least : greatest < x ? greatest : x;
}

/// The Region of in_boxes().
template <class Real, int dim>
struct box_region {
  box<Real, dim> bounds;

  [[nodiscard]] __device__ bool excludes(const box<Real, dim>& b) const {
    bool apart = false;
    for (int i = 0; i < dim; ++i) {
      apart = apart || b.upper.x[i] < bounds.lower.x[i] || bounds.upper.x[i] < b.lower.x[i];
    }
    return apart;
  }
  [[nodiscard]] __device__ bool contains(const point<Real, dim>& p) const {
    bool inside = true;
    for (int i = 0; i < dim; ++i) {
      inside = inside && bounds.lower.x[i] <= p.x[i] && p.x[i] <= bounds.upper.x[i];
    }
    return inside;
  }
  /// Returns the center of the part of the box that may have points.
  [[nodiscard]] __device__ point<Real, dim> anchor(const box<Real, dim>& all) const {
    point<Real, dim> center;
    for (int i = 0; i < dim; ++i) {
      center.x[i] = limited(bounds.lower.x[i], all.lower.x[i], all.upper.x[i]) / 2 +
                    limited(bounds.upper.x[i], all.lower.x[i], all.upper.x[i]) / 2;
    }
    return center;
  }
};

/// The Region of in_balls_of(): its radius determines the scale of its metric.
template <class Real, int dim>
struct ball_region {
  query_metric<Real, scaled_metric<Real, dim>> of_ball;
  point<Real, dim> center;
  point<Real, dim> placed;

  __device__ ball_region(const point<Real, dim>& c, Real radius)
      : of_ball(metric_of(radius)), center(c), placed(of_ball.metric.place(c)) {}

  [[nodiscard]] __device__ bool excludes(const box<Real, dim>& b) const {
    return !(of_ball.radius >= 0) || of_ball.metric.min_distance2(b, placed) > of_ball.radius2;
  }
  [[nodiscard]] __device__ bool contains(const point<Real, dim>& p) const {
    return of_ball.metric.distance2(placed, p) <= of_ball.radius2;
  }
  [[nodiscard]] __device__ Real distance2(const point<Real, dim>& p) const {
    const Real unit = of_ball.metric.unit();
    return of_ball.metric.distance2(placed, p) * unit * unit;
  }
  [[nodiscard]] __device__ point<Real, dim> anchor(const box<Real, dim>&) const { return center; }

 private:
  [[nodiscard]] static __device__ query_metric<Real, scaled_metric<Real, dim>> metric_of(
      Real radius) {
    const query_metric<Real, scaled_metric<Real, dim>> unscaled{radius, 0, nullptr, {}};
    return unscaled.with_scale(radius < infinite<Real> ? exponent_of_ball(radius) : 0);
  }
};

/// The Region of near_segments() and near_rays(): the points near from + t * d, for t in
/// [0, greatest].
template <class Real, int dim>
struct line_region {
  point<Real, dim> from;
  point<Real, dim> d;
  Real greatest;  ///< 1 or infinity
  Real radius;

  static constexpr Real rounding = 64 * std::numeric_limits<Real>::epsilon();

  /// Limits t to where the line is in the box, which is extended by the radius and by the rounding
  /// errors.
  [[nodiscard]] __device__ bool excludes(const box<Real, dim>& b) const {
    Real largest = radius;
    for (int i = 0; i < dim; ++i) {
      largest = greater_of(largest, greater_of(b.upper.x[i], -b.lower.x[i]));
      largest = greater_of(largest, greater_of(from.x[i], -from.x[i]));
    }
    // Squares of smaller distances may be rounded to 0.
    const Real tiny = std::ldexp(Real{1}, square_range<Real>::least);
    const Real more = radius + rounding * largest + tiny;
    Real first = 0;
    Real last = greatest;
    for (int i = 0; i < dim; ++i) {
      const Real lower = b.lower.x[i] - more - from.x[i];
      const Real upper = b.upper.x[i] + more - from.x[i];
      if (d.x[i] == 0) {
        if (lower > 0 || upper < 0) return true;
        continue;
      }
      const Real enters = (d.x[i] > 0 ? lower : upper) / d.x[i];
      const Real leaves = (d.x[i] > 0 ? upper : lower) / d.x[i];
      if (enters > first) first = enters;
      if (leaves < last) last = leaves;
    }
    return first > last;
  }
  [[nodiscard]] __device__ bool contains(const point<Real, dim>& p) const {
    return distance2(p) <= radius * radius;
  }
  [[nodiscard]] __device__ Real distance2(const point<Real, dim>& p) const {
    Real along = 0;
    Real length2 = 0;
    for (int i = 0; i < dim; ++i) {
      along = add_product(along, p.x[i] - from.x[i], d.x[i]);
      length2 = add_square(length2, d.x[i]);
    }
    const Real t = length2 > 0 ? limited(along / length2, Real{0}, greatest) : Real{0};
    point<Real, dim> nearest;
    for (int i = 0; i < dim; ++i) nearest.x[i] = add_product(from.x[i], t, d.x[i]);
    return ramify::distance2(p, nearest);
  }
  [[nodiscard]] __device__ point<Real, dim> anchor(const box<Real, dim>&) const {
    point<Real, dim> at = from;
    for (int i = 0; i < dim; ++i) {
      // The middle of a segment. For a ray: its origin, or a NaN if its direction is not finite.
      at.x[i] += greatest == 1 ? d.x[i] / 2 : d.x[i] - d.x[i];
    }
    return at;
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The points in closed balls of one radius, which is 0 or more.
template <class Real, int dim>
struct in_balls {
  using tree_type = spatial_tree_view<Real, dim>;  ///< the tree that it queries

  const point<Real, dim>* centers;  ///< of the balls
  detail::element_count n;          ///< number of queries
  Real radius;                      ///< of all balls

  /// Stores the arguments of the function that makes it.
  in_balls(const point<Real, dim>* all, const detail::element_count& count,
           std::type_identity_t<Real> of_all)
      : centers(all), n(count), radius(of_all) {}
};

/// The points in closed balls, each with its radius.
template <class Real, int dim>
struct in_balls_of {
  using tree_type = spatial_tree_view<Real, dim>;  ///< the tree that it queries

  const point<Real, dim>* centers;  ///< of the balls
  const Real* radii;                ///< of each ball
  detail::element_count n;          ///< number of queries

  /// Stores the arguments of the function that makes it.
  in_balls_of(const point<Real, dim>* all, const Real* of_each, const detail::element_count& count)
      : centers(all), radii(of_each), n(count) {}
  /// Checks the arrays. \throws std::invalid_argument
  template <class Setup>
  void check(const Setup& setup) const {
    setup.check_array(centers, "centers");
    setup.check_array(radii, "radii");
  }
  /// Returns the region of query i.
  [[nodiscard]] __device__ detail::spatial_tree::ball_region<Real, dim> region(
      unsigned long long i) const {
    return {centers[i], radii[i]};
  }
};

/// The points in closed boxes.
template <class Real, int dim>
struct in_boxes {
  using tree_type = spatial_tree_view<Real, dim>;  ///< the tree that it queries

  const box<Real, dim>* boxes;  ///< one for each query
  detail::element_count n;      ///< number of queries

  /// Stores the arguments of the function that makes it.
  in_boxes(const box<Real, dim>* all, const detail::element_count& count) : boxes(all), n(count) {}
  /// Checks the arrays. \throws std::invalid_argument
  template <class Setup>
  void check(const Setup& setup) const {
    setup.check_array(boxes, "boxes");
  }
  /// Returns the region of query i.
  [[nodiscard]] __device__ detail::spatial_tree::box_region<Real, dim> region(
      unsigned long long i) const {
    return {boxes[i]};
  }
};

/// The points at a distance of at most the radius from segments.
template <class Real, int dim>
struct near_segments {
  using tree_type = spatial_tree_view<Real, dim>;  ///< the tree that it queries

  const point<Real, dim>* from;  ///< where the segments begin
  const point<Real, dim>* to;    ///< where the segments end
  detail::element_count n;       ///< number of queries
  Real radius;                   ///< around the segments

  /// Stores the arguments of the function that makes it.
  near_segments(const point<Real, dim>* begins, const point<Real, dim>* ends,
                const detail::element_count& count, std::type_identity_t<Real> of_all)
      : from(begins), to(ends), n(count), radius(of_all) {}
  /// Checks the arrays. \throws std::invalid_argument
  template <class Setup>
  void check(const Setup& setup) const {
    setup.check_radius(radius);
    setup.check_array(from, "from");
    setup.check_array(to, "to");
  }
  /// Returns the region of query i.
  [[nodiscard]] __device__ detail::spatial_tree::line_region<Real, dim> region(
      unsigned long long i) const {
    detail::spatial_tree::line_region<Real, dim> line{from[i], to[i], 1, radius};
    for (int axis = 0; axis < dim; ++axis) line.d.x[axis] -= line.from.x[axis];
    return line;
  }
};

/// The points at a distance of at most the radius from rays.
template <class Real, int dim>
struct near_rays {
  using tree_type = spatial_tree_view<Real, dim>;  ///< the tree that it queries

  const point<Real, dim>* origins;     ///< where the rays begin
  const point<Real, dim>* directions;  ///< of any length; 0: a ball around the origin
  detail::element_count n;             ///< number of queries
  Real radius;                         ///< around the rays

  /// Stores the arguments of the function that makes it.
  near_rays(const point<Real, dim>* from, const point<Real, dim>* along,
            const detail::element_count& count, std::type_identity_t<Real> of_all)
      : origins(from), directions(along), n(count), radius(of_all) {}
  /// Checks the arrays. \throws std::invalid_argument
  template <class Setup>
  void check(const Setup& setup) const {
    setup.check_radius(radius);
    setup.check_array(origins, "origins");
    setup.check_array(directions, "directions");
  }
  /// Returns the region of query i.
  [[nodiscard]] __device__ detail::spatial_tree::line_region<Real, dim> region(
      unsigned long long i) const {
    return {origins[i], directions[i], detail::spatial_tree::infinite<Real>, radius};
  }
};

/// The filter of nearest_to() that accepts all points.
struct any_point {
  /// Accepts each point.
  [[nodiscard]] __device__ bool operator()(std::uint32_t, std::uint32_t) const { return true; }
};

/// The k nearest points of those that a filter accepts.
template <class Real, int dim, class Filter = any_point>
struct nearest_to {
  using tree_type = spatial_tree_view<Real, dim>;  ///< the tree that it queries

  const point<Real, dim>* queries;  ///< one point for each query
  detail::element_count n;          ///< number of queries
  std::size_t k;                    ///< neighbors for each query
  Filter filter;                    ///< which points count

  /// Stores the arguments of the function that makes it.
  nearest_to(const point<Real, dim>* all, const detail::element_count& count, std::size_t of_each,
             const Filter& accepts = {})
      : queries(all), n(count), k(of_each), filter(accepts) {}
};

/// The pairs of points of the tree at a distance of at most the radius, which is 0 or more.
struct pairs_within {
  double radius;  ///< rounded to the type of the coordinates
};

/// The points in regions of the caller: region_of(i) is a device function that returns the Region
/// of query i (see Regions above).
template <class RegionOf>
struct in_regions {
  detail::element_count n;  ///< number of queries
  RegionOf region_of;       ///< the functor of the regions

  /// Stores the arguments of the function that makes it.
  in_regions(const detail::element_count& count, const RegionOf& of_query)
      : n(count), region_of(of_query) {}
  /// There is no array to check.
  template <class Setup>
  void check(const Setup&) const {}
  /// Returns the region of query i.
  __device__ auto region(unsigned long long i) const {
    return region_of(static_cast<std::uint32_t>(i));
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
