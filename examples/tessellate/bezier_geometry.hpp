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
#include <vector>

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

/// Returns the parameters in (0, 1) at which a coordinate with these control values has an extreme:
/// the roots of its derivative.
[[nodiscard]] inline std::vector<double> extremes(const std::array<long double, 4>& p) {
  const long double begin = p[1] - p[0], middle = p[2] - p[1], end = p[3] - p[2];
  const long double a = begin - 2 * middle + end, half_b = middle - begin;
  std::vector<double> roots;
  const auto add = [&](long double numerator, long double denominator) {
    const long double t = numerator / denominator;
    if (t > 0 && t < 1) roots.push_back(double(t));  // false for NaN
  };
  const long double square = half_b * half_b - a * begin;
  if (square < 0) return roots;
  const long double q = -(half_b + std::copysign(std::sqrt(square), half_b));
  add(q, a);
  add(begin, q);
  return roots;
}

/// Returns whether a patch has an area: whether one of its tangent planes has, up to round-off. A
/// patch without area is a point or a line, which may be curved.
[[nodiscard]] inline bool has_area(const bicubic_patch& patch) {
  using vector = std::array<long double, 3>;
  const auto at = [&](std::size_t i, std::size_t j) {
    const surface_point& p = patch.points[i][j];
    return vector{p.x, p.y, p.z};
  };
  long double largest = 0, size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        largest = std::max(largest, std::fabs(at(i, j)[axis]));
        size = std::max(size, std::fabs(at(i, j)[axis] - at(0, 0)[axis]));
      }
    }
  }
  const auto quadratic = [](double t) {
    return std::array{(1 - t) * (1 - t), 2 * t * (1 - t), t * t};
  };
  constexpr int samples = 8;
  for (int k = 0; k < samples * samples; ++k) {
    const double u = (k / samples + 0.5) / samples;
    const double v = (k % samples + 0.5) / samples;
    vector along_u{}, along_v{};
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
          const long double difference_u = at(i + 1, j)[axis] - at(i, j)[axis];
          const long double difference_v = at(j, i + 1)[axis] - at(j, i)[axis];
          along_u[axis] += quadratic(u)[i] * bernstein(v)[j] * difference_u;
          along_v[axis] += quadratic(v)[i] * bernstein(u)[j] * difference_v;
        }
      }
    }
    const auto minor = [&](std::size_t i, std::size_t j) {
      return along_u[i] * along_v[j] - along_u[j] * along_v[i];
    };
    if (std::hypot(minor(1, 2), minor(2, 0), minor(0, 1)) > 1e-13L * largest * size) return true;
  }
  return false;
}

/// Returns the distance of p from the triangle a, b, c.
[[nodiscard]] inline double distance_to_triangle(const surface_point& p, const surface_point& a,
                                                 const surface_point& b, const surface_point& c) {
  const surface_point d = b - a;
  const surface_point e = c - a;
  // Fourth powers of coordinates of 1e100 exceed the range of double.
  const long double dd = dot(d, d), de = dot(d, e), ee = dot(e, e);
  const long double pd = dot(p - a, d), pe = dot(p - a, e);
  const long double area2 = dd * ee - de * de;
  // The foot of the perpendicular, in barycentric coordinates.
  const long double s = (pd * ee - pe * de) / area2;
  const long double t = (pe * dd - pd * de) / area2;
  if (area2 > 0 && s >= 0 && t >= 0 && s + t <= 1) {
    return distance(p, moved(moved(a, double(s), d), double(t), e));
  }
  return std::min(
      {distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

}  // namespace common
