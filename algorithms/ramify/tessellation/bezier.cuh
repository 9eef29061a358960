// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Points of Bezier curves and patches, and bounds of their distance from line segments and
/// triangles.
///
/// Each product that is added to something is an explicit fma(). A compiler therefore cannot round
/// an expression differently in different places, and equal arguments give equal bits: triangles on
/// both sides of an edge agree on it.

#include <cmath>
#include <ramify/runtime/cuda.hpp>
#include <ramify/tessellation/config.hpp>

namespace ramify::detail::tessellation::inline RAMIFY_BUILD {

/// Returns (1 - t) a + t b; a if t is 0, b if t is 1.
[[nodiscard]] __host__ __device__ inline double lerp(double a, double b, double t) {
  return fma(t, b, (1 - t) * a);
}
[[nodiscard]] __host__ __device__ inline curve_point lerp(const curve_point& a,
                                                          const curve_point& b, double t) {
  return {lerp(a.x, b.x, t), lerp(a.y, b.y, t)};
}
[[nodiscard]] __host__ __device__ inline surface_point lerp(const surface_point& a,
                                                            const surface_point& b, double t) {
  return {lerp(a.x, b.x, t), lerp(a.y, b.y, t), lerp(a.z, b.z, t)};
}

[[nodiscard]] __host__ __device__ inline double minus(double a, double b) { return a - b; }
[[nodiscard]] __host__ __device__ inline curve_point minus(const curve_point& a,
                                                           const curve_point& b) {
  return {a.x - b.x, a.y - b.y};
}
[[nodiscard]] __host__ __device__ inline surface_point minus(const surface_point& a,
                                                             const surface_point& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}

/// Returns whether `a` precedes `b` in the lexicographic order of coordinates.
[[nodiscard]] __host__ __device__ inline bool precedes(const surface_point& a,
                                                       const surface_point& b) {
  return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
}

[[nodiscard]] __host__ __device__ inline double dot(const curve_point& a, const curve_point& b) {
  return fma(a.x, b.x, a.y * b.y);
}
[[nodiscard]] __host__ __device__ inline double dot(const surface_point& a,
                                                    const surface_point& b) {
  return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}
[[nodiscard]] __host__ __device__ inline double cross(const curve_point& a, const curve_point& b) {
  return fma(a.x, b.y, -(a.y * b.x));
}

/// Returns a - 2 b + c.
template <class P>
[[nodiscard]] __host__ __device__ P second_difference(const P& a, const P& b, const P& c) {
  return minus(minus(a, b), minus(b, c));
}

/// Returns the point of a cubic curve at t, by de Casteljau's algorithm; an end point exactly.
template <class P>
[[nodiscard]] __host__ __device__ P cubic_point(const P& p0, const P& p1, const P& p2, const P& p3,
                                                double t) {
  const P middle = lerp(p1, p2, t);
  return lerp(lerp(lerp(p0, p1, t), middle, t), lerp(middle, lerp(p2, p3, t), t), t);
}
template <class P>
[[nodiscard]] __host__ __device__ P cubic_point(const P (&p)[4], double t) {
  return cubic_point(p[0], p[1], p[2], p[3], t);
}

/// The deviation of the part [a, b] of a cubic curve from its chord: at the fraction t of the part
/// it is (1 - t) t ((1 - t) first + t second). So it is at most a quarter of the longer vector.
template <class P>
struct chord_deviation {
  P first, second;

  __host__ __device__ chord_deviation(const P (&p)[4], double a, double b) {
    const P begin = second_difference(p[0], p[1], p[2]);
    const P end = second_difference(p[1], p[2], p[3]);
    const P at_a = lerp(begin, end, a);
    const P at_b = lerp(begin, end, b);
    const double scale = 3 * (b - a) * (b - a);
    first = scaled(lerp(at_a, at_b, 1.0 / 3), -scale);
    second = scaled(lerp(at_a, at_b, 2.0 / 3), -scale);
  }

  /// Returns the square of four times the bound.
  [[nodiscard]] __host__ __device__ double squared_bound() const {
    return fmax(dot(first, first), dot(second, second));
  }

 private:
  [[nodiscard]] static __host__ __device__ curve_point scaled(const curve_point& p, double s) {
    return {s * p.x, s * p.y};
  }
};

/// Returns whether a part of a plane curve may be farther than `flatness` from its chord, or the
/// chord from it.
[[nodiscard]] __host__ __device__ inline bool is_far_from_chord(const cubic_curve& curve, double a,
                                                                double b, double flatness) {
  const chord_deviation<curve_point> deviation(curve.points, a, b);
  if (deviation.squared_bound() <= 16 * flatness * flatness) return false;
  // A part that returns to its beginning has no direction across its chord.
  const curve_point chord = minus(cubic_point(curve.points, b), cubic_point(curve.points, a));
  if (chord.x == 0 && chord.y == 0) return true;
  // Only the deviation across the chord matters if all control points of the part project onto the
  // chord. A straight line is one segment, whatever its parametrization.
  const double length2 = dot(chord, chord);
  const double first = dot(deviation.first, chord);
  const double second = dot(deviation.second, chord);
  if (first < -length2 || first > 2 * length2) return true;
  if (second < -2 * length2 || second > length2) return true;
  const double across =
      fmax(fabs(cross(deviation.first, chord)), fabs(cross(deviation.second, chord)));
  return across > 4 * flatness * sqrt(length2);
}

}  // namespace ramify::detail::tessellation::inline RAMIFY_BUILD
