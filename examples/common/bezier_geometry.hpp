// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points of Bezier curves and patches by Bernstein polynomials, and distances from segments and
/// triangles. These functions share no code with the kernels that they check.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ramify/tessellation/config.hpp>

namespace common {

using ramify::bicubic_patch;
using ramify::cubic_curve;
using ramify::curve_point;
using ramify::surface_point;

/// Returns the four Bernstein polynomials at t.
[[nodiscard]] inline std::array<double, 4> bernstein(double t) {
  const double s = 1 - t;
  return {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
}
/// Returns the point of a curve at t.
[[nodiscard]] inline curve_point point_at(const cubic_curve& curve, double t) {
  const auto b = bernstein(t);
  curve_point p{0, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    p.x += b[i] * curve.points[i].x;
    p.y += b[i] * curve.points[i].y;
  }
  return p;
}

[[nodiscard]] inline surface_point operator-(const surface_point& a, const surface_point& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
[[nodiscard]] inline double dot(const surface_point& a, const surface_point& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// Returns a + t d.
[[nodiscard]] inline surface_point moved(const surface_point& a, double t, const surface_point& d) {
  return {a.x + t * d.x, a.y + t * d.y, a.z + t * d.z};
}
[[nodiscard]] inline double distance(const surface_point& a, const surface_point& b) {
  return std::sqrt(dot(a - b, a - b));
}

/// The control points of a cubic curve in space.
using space_curve = std::array<surface_point, 4>;

/// Returns the point of a curve at t.
[[nodiscard]] inline surface_point point_at(const space_curve& curve, double t) {
  const auto b = bernstein(t);
  surface_point p{0, 0, 0};
  for (std::size_t i = 0; i < 4; ++i) p = moved(p, b[i], curve[i]);
  return p;
}
/// Returns the point of a patch at (u, v).
[[nodiscard]] inline surface_point point_at(const bicubic_patch& patch, double u, double v) {
  space_curve of_v;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& row = patch.points[i];
    of_v[i] = point_at(space_curve{row[0], row[1], row[2], row[3]}, v);
  }
  return point_at(of_v, u);
}

/// Returns the distance of p from the segment from a to b.
[[nodiscard]] inline double distance_to_segment(const surface_point& p, const surface_point& a,
                                                const surface_point& b) {
  const surface_point d = b - a;
  const double length2 = dot(d, d);
  const double t = length2 == 0 ? 0 : std::clamp(dot(p - a, d) / length2, 0.0, 1.0);
  return distance(p, moved(a, t, d));
}

/// Returns the distance of p from the triangle a, b, c.
[[nodiscard]] inline double distance_to_triangle(const surface_point& p, const surface_point& a,
                                                 const surface_point& b, const surface_point& c) {
  const surface_point d = b - a;
  const surface_point e = c - a;
  const double dd = dot(d, d), de = dot(d, e), ee = dot(e, e);
  const double pd = dot(p - a, d), pe = dot(p - a, e);
  const double area2 = dd * ee - de * de;
  // The foot of the perpendicular, in barycentric coordinates.
  const double s = (pd * ee - pe * de) / area2;
  const double t = (pe * dd - pd * de) / area2;
  if (area2 > 0 && s >= 0 && t >= 0 && s + t <= 1) {
    return distance(p, moved(moved(a, s, d), t, e));
  }
  return std::min(
      {distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

}  // namespace common
