// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A rule of degree 9 for regions of 3 to 8 dimensions, with rules of degree 7, 5 and 3 embedded.
///
/// Source: A. C. Genz, A. A. Malik: An imbedded family of fully symmetric numerical integration
/// rules. SIAM J. Numer. Anal. 20, 1983. The points and weights are those of DCUHRE (J. Berntsen,
/// T. O. Espelid, A. Genz: ACM Trans. Math. Softw. 17, 1991), without its points at the squared
/// distance 1/16, which only serve further error estimates.

#include <cmath>
#include <ramify/quadrature/rule_parts.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// The rule of degree 9, with points near the faces, which have no weight. Its points, in order:
///
///     the center             1 point
///     on the axes            8 d            for each axis: -l2, +l2, -l3, +l3, -l1, +l1, -face,
///                                           +face
///     on two axes            2 d (d - 1)    for each pair of axes: (+-l1, +-l1)
///                            4 d (d - 1)    for each ordered pair: (+-l1, +-l2)
///     on three axes          4/3 d (d - 1) (d - 2)   for each triple: (+-l1, +-l1, +-l1)
///     towards the corners    2^d            (+-l0, ..., +-l0)
///
/// No weighted point is beyond l1; degree_7_rule describes the purpose of the points near the
/// faces.
template <unsigned d>
struct degree_9_rule {
  static_assert(3 <= d && d <= max_quadrature_dimensions);
  static constexpr unsigned pairs = 1 + 8 * d;                      ///< the first (l1, l1)
  static constexpr unsigned mixed_pairs = pairs + 2 * d * (d - 1);  ///< the first (l1, l2)
  static constexpr unsigned triples = mixed_pairs + 4 * d * (d - 1);
  static constexpr unsigned corners = triples + 4 * d * (d - 1) * (d - 2) / 3;
  static constexpr unsigned points = corners + (1u << d);
  /// The number of points on the axes, which are the first ones. of_degree_3(), axis_difference()
  /// and deviation_at_faces() read their values.
  static constexpr unsigned axis_points = pairs;
  static constexpr bool has_third = true;
  static constexpr double outermost = 0.95590731580453901;  ///< the largest coordinate, l1

  /// Returns point number `k`.
  [[nodiscard]] __device__ static quadrature_point<d> point(unsigned k) {
    quadrature_point<d> p{};
    if (k == 0) return p;
    if (k < pairs) {
      const unsigned j = (k - 1) % 8;
      const double distance = j < 2 ? l2 : (j < 4 ? l3 : (j < 6 ? outermost : face));
      set_coordinate(p, (k - 1) / 8, signed_by(j % 2, distance));
    } else if (k < mixed_pairs) {
      const unsigned j = k - pairs;
      const axis_pair axes = axis_pair::number(j / 4, d);
      set_coordinate(p, axes.first, signed_by(j % 2, outermost));
      set_coordinate(p, axes.second, signed_by(j / 2 % 2, outermost));
    } else if (k < triples) {
      const unsigned j = k - mixed_pairs;
      const unsigned first = j / 4 / (d - 1);
      const unsigned other = j / 4 % (d - 1);
      set_coordinate(p, first, signed_by(j % 2, outermost));
      set_coordinate(p, other < first ? other : other + 1, signed_by(j / 2 % 2, l2));
    } else if (k < corners) {
      const unsigned j = k - triples;
      unsigned rest = j / 8;
      unsigned first = 0;
      for (unsigned of_first = (d - 1) * (d - 2) / 2; rest >= of_first;) {
        rest -= of_first;
        ++first;
        of_first = (d - 1 - first) * (d - 2 - first) / 2;
      }
      const axis_pair others = axis_pair::number(rest, d - 1 - first);
      set_coordinate(p, first, signed_by(j % 2, outermost));
      set_coordinate(p, first + 1 + others.first, signed_by(j / 2 % 2, outermost));
      set_coordinate(p, first + 1 + others.second, signed_by(j / 4 % 2, outermost));
    } else {
      for (unsigned axis = 0; axis < d; ++axis) {
        p.x[axis] = signed_by((k - corners) >> axis & 1, l0);
      }
    }
    return p;
  }

  /// Returns the weights of point number `k`.
  [[nodiscard]] __device__ static weights weights_of(unsigned k) {
    if (k == 0) return center;
    if (k < pairs) {
      const unsigned j = (k - 1) % 8;
      if (j < 2) return on_l2;
      if (j < 4) return on_l3;
      if (j < 6) return on_l1;
      return {0, 0};
    }
    if (k < mixed_pairs) return pair;
    if (k < triples) return mixed_pair;
    if (k < corners) return triple;
    return corner;
  }

  /// Returns the mean value by a rule of degree 3: of the center and of both points at l3 on each
  /// axis.
  [[nodiscard]] __device__ static double of_degree_3(const double* values) {
    double sum = 0;
    for (unsigned axis = 0; axis < d; ++axis) {
      const double* v = values + 1 + 8 * axis;
      sum += v[2] + v[3] - 2 * values[0];
    }
    return values[0] + sum / (6 * t3);
  }

  /// Returns the magnitude of the fourth difference of the integrand on an axis.
  [[nodiscard]] __device__ static double axis_difference(const double* values, unsigned axis) {
    const double* v = values + 1 + 8 * axis;
    const double inner = v[0] + v[1] - 2 * values[0];
    const double outer = v[2] + v[3] - 2 * values[0];
    return std::fabs(inner - outer * (t2 / t3));
  }

  /// Returns the difference of the sum of both values near the faces of an axis and the same sum of
  /// a polynomial. It is the even polynomial of degree 6 through the means of the other values on
  /// the axis. (The error of an even one has order 8, like that of the rule of degree 7.)
  [[nodiscard]] __device__ static double deviation_at_faces(const double* values, unsigned axis) {
    constexpr double t = face * face;
    const double* v = values + 1 + 8 * axis;
    const double expected =
        2 * values[0] * (-(t - t1) * (t - t2) * (t - t3) / (t1 * t2 * t3)) +
        (v[0] + v[1]) * (t * (t - t1) * (t - t3) / (t2 * (t2 - t1) * (t2 - t3))) +
        (v[2] + v[3]) * (t * (t - t1) * (t - t2) / (t3 * (t3 - t1) * (t3 - t2))) +
        (v[4] + v[5]) * (t * (t - t2) * (t - t3) / (t1 * (t1 - t2) * (t1 - t3)));
    return std::fabs(v[6] + v[7] - expected);
  }

 private:
  // The coordinates, and their squares.
  static constexpr double l0 = 0.68607579756175629;  // sqrt(0.4707)
  static constexpr double l2 = 0.40605717473823974;
  static constexpr double l3 = 0.89525470925235626;
  static constexpr double t1 = outermost * outermost;
  static constexpr double t2 = l2 * l2;
  static constexpr double t3 = l3 * l3;
  static constexpr double face = 1 - face_distance;
  // The weights. The moments of degree 9, and of degree 7, determine them. The embedded rule has
  // 3/4 of the weight towards the corners. The third rule has degree 5 and four kinds of points.
  static constexpr double n = d;
  static constexpr double scale = 0.4707 * 0.4707 * 0.4707 * 0.4707 * (1u << d);
  static constexpr weights corner{1 / (81 * scale), 1 / (108 * scale)};
  static constexpr weights triple{0.0017708782258391338, 0.0028451795033440682};
  static constexpr weights mixed_pair{0.022543144647178920, 0.036218917910451743};
  static constexpr weights pair{0.0084489043732505179 - 2 * (n - 2) * triple.high,
                                0.0076845092239398674 - 2 * (n - 2) * triple.low,
                                1 / (36 * t1 * t1)};
  static constexpr weights on_l3{0.057693384490973484, 0.092693011093117067};
  static constexpr double third_on_line = (0.1 - t2 / 6) / (t1 * (t1 - t2));
  static constexpr weights on_l2{0.16907254594917009 - 2 * (n - 1) * mixed_pair.high,
                                 0.19666206647133568 - 2 * (n - 1) * mixed_pair.low,
                                 (1.0 / 6 - third_on_line * t1) / t2};
  static constexpr weights on_l1{
      0.036507305307974498 - 2 * (n - 1) * (mixed_pair.high + pair.high + (n - 2) * triple.high),
      0.017024127960261634 - 2 * (n - 1) * (mixed_pair.low + pair.low + (n - 2) * triple.low),
      third_on_line - 2 * (n - 1) * pair.third};

  /// Returns the weight of the center if the other weights are these: all add up to 1.
  [[nodiscard]] static constexpr double rest(double l1_, double l2_, double l3_, double pair_,
                                             double mixed, double triple_, double corner_) {
    return 1 - 2 * n * (l1_ + l2_ + l3_) - 2 * n * (n - 1) * (pair_ + 2 * mixed) -
           4 * n * (n - 1) * (n - 2) / 3 * triple_ - (1u << d) * corner_;
  }
  static constexpr weights center{
      rest(on_l1.high, on_l2.high, on_l3.high, pair.high, mixed_pair.high, triple.high,
           corner.high),
      rest(on_l1.low, on_l2.low, on_l3.low, pair.low, mixed_pair.low, triple.low, corner.low),
      rest(on_l1.third, on_l2.third, 0, pair.third, 0, 0, 0)};
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
