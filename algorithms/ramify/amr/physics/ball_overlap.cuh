// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The part of a box that lies in a disc or a ball, in closed form.
///
/// The volume of a box is the sum, with alternating signs, of the volumes beyond its corners. Boxes
/// that share a corner use the same bits for it, so the volumes of the boxes of a mesh add up to
/// that of the ball, up to rounding.

#include <cmath>
#include <numbers>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns the square of the distance between two points.
template <class Real, int dim>
__host__ __device__ Real distance2_between(const Real (&a)[dim], const Real (&b)[dim]) {
  Real sum = 0;
  for (int i = 0; i < dim; ++i) sum += times(a[i] - b[i], a[i] - b[i]);
  return sum;
}

/// The share of a box in a ball. It is 0 or 1 exactly if the surface does not cut the box.
struct ball_overlap {
  double of_box = 0;   ///< in the ball, relative to the volume of the box
  double of_ball = 0;  ///< the same volume relative to that of the ball; 0 if of_box is 0
};

/// Returns the area of the unit disc beyond a corner, {x > a, y > b}, for a and b >= 0.
[[nodiscard]] __host__ __device__ inline double beyond(const double (&corner)[2]) {
  const double a = corner[0];
  const double b = corner[1];
  if (times(a, a) + times(b, b) >= 1) return 0;
  // Each root occurs in an angle and in a product, in which the errors of its rounding cancel.
  const double root_a = std::sqrt(1 - times(a, a));
  const double root_b = std::sqrt(1 - times(b, b));
  const double angle = std::numbers::pi / 2 - (std::atan2(a, root_a) + std::atan2(b, root_b));
  return 0.5 * angle + times(a, b) - 0.5 * (times(a, root_a) + times(b, root_b));
}

/// Returns the volume of the unit ball beyond a corner, {x > a, y > b, z > c}, for a, b and c >= 0:
/// a third of the sum of area times distance from the center, over the faces. The area of the
/// spherical face is 2 pi less the curvature of its edges and the exterior angles (Gauss, Bonnet).
[[nodiscard]] __host__ __device__ inline double beyond(const double (&corner)[3]) {
  double square = 0;
  for (const double c : corner) square += times(c, c);
  if (square >= 1) return 0;
  double opening[3];  // angle of the arc in each plane
  for (double& angle : opening) angle = std::numbers::pi / 2;
  double sum = std::numbers::pi / 2;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const double a = corner[i];
    const double b = corner[j];
    const double root = std::sqrt(1 - (times(a, a) + times(b, b)));
    opening[i] -= std::atan2(b, root);
    opening[j] -= std::atan2(a, root);
    sum += times(times(a, b), root) - std::atan2(times(a, b), root);
  }
  for (int i = 0; i < 3; ++i) {
    sum -= times(times(0.5 * corner[i], 3 - times(corner[i], corner[i])), opening[i]);
  }
  return (sum - times(times(3 * corner[0], corner[1]), corner[2])) / 3;
}

/// Returns the volume of a box in the unit ball around the origin.
template <int dim>
[[nodiscard]] __host__ __device__ double volume_in_unit_ball(const double (&lower)[dim],
                                                             const double (&upper)[dim]) {
  constexpr int corners = 1 << dim;
  // The planes through the center split the box. Each part is mirrored to positive coordinates, so
  // that mirrored boxes have the same volume bit by bit.
  return sum_over_corners<corners>([&](int part) {
    double near[dim];
    double far[dim];
    for (int axis = 0; axis < dim; ++axis) {
      const bool positive = (part >> axis & 1) != 0;
      const double least = positive ? lower[axis] : -upper[axis];
      near[axis] = least > 0 ? least : 0;
      far[axis] = positive ? upper[axis] : -lower[axis];
      if (!(far[axis] > near[axis])) return 0.0;
    }
    const double volume = sum_over_corners<corners>([&](int sides) {
      double corner[dim];
      bool subtract = false;
      for (int axis = 0; axis < dim; ++axis) {
        const bool is_far = (sides >> axis & 1) != 0;
        corner[axis] = is_far ? far[axis] : near[axis];
        subtract = subtract != is_far;
      }
      const double cut = beyond(corner);
      return subtract ? -cut : cut;
    });
    return volume > 0 ? volume : 0.0;
  });
}

/// Returns the overlap of a box and a ball. `radius` must be > 0.
template <int dim>
[[nodiscard]] __host__ __device__ ball_overlap overlap_with_ball(const double (&lower)[dim],
                                                                 const double (&upper)[dim],
                                                                 const double (&center)[dim],
                                                                 double radius) {
  static_assert(dim == 2 || dim == 3);
  double from[dim];  // the box, in units of the radius
  double to[dim];
  double nearest = 0;  // squares of distances
  double farthest = 0;
  double box = 1;
  for (int axis = 0; axis < dim; ++axis) {
    from[axis] = (lower[axis] - center[axis]) / radius;
    to[axis] = (upper[axis] - center[axis]) / radius;
    const double gap = from[axis] > 0 ? from[axis] : to[axis] < 0 ? -to[axis] : 0;
    const double reach = to[axis] > -from[axis] ? to[axis] : -from[axis];
    nearest += times(gap, gap);
    farthest += times(reach, reach);
    box *= to[axis] - from[axis];
  }
  constexpr double ball = dim == 2 ? std::numbers::pi : 4 * std::numbers::pi / 3;
  if (nearest >= 1) return {};
  if (farthest <= 1) return {1, box / ball};
  const double volume = volume_in_unit_ball(from, to);
  const double share = volume / box;
  return {share < 1 ? share : 1, volume / ball};
}

/// Returns the overlap of a cell and a ball.
template <class Real, int dim>
__host__ __device__ ball_overlap overlap_of(const initial_cell<Real, dim>& cell,
                                            const Real (&center)[dim], Real radius) {
  double middle[dim];
  for (int axis = 0; axis < dim; ++axis) middle[axis] = static_cast<double>(center[axis]);
  return overlap_with_ball(cell.lower, cell.upper, middle, static_cast<double>(radius));
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
