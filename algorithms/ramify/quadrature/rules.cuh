// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The rules of quadrature(): the points of a region and their weights, for a rule of high degree
/// and embedded ones of lower degrees. Points are in [-1, 1]^d. The weights of a rule add up to 1,
/// so a rule gives the mean value of the integrand.
///
/// One dimension    Gauss-Kronrod: 21 points of degree 31, with Gauss's 10 points of degree 19
///                  embedded (QUADPACK, Piessens et al. 1983).
/// 2 dimensions     Genz-Malik: degree 7, with degree 5 embedded (A. C. Genz, A. A. Malik: An
///                  adaptive algorithm for numerical integration over an n-dimensional rectangular
///                  region. J. Comput. Appl. Math. 6, 1980).
/// 3 to 8           Genz-Malik: degree 9, with degrees 7, 5 and 3 embedded
///                  (rule_of_degree_9.cuh).

#include <cmath>
#include <ramify/quadrature/rule_of_degree_9.cuh>
#include <ramify/quadrature/rule_parts.cuh>
#include <type_traits>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// The Genz-Malik rule, with points near the faces, which have no weight. Its points, in order:
///
///     the center             1 point
///     on the axes            6 d          for each axis: -l2, +l2, -l3, +l3, -face, +face
///     on two axes            2 d (d - 1)  for each pair of axes: (+-l3, +-l3)
///     towards the corners    2^d          (+-l5, ..., +-l5)
///
/// No weighted point is beyond l3. A jump of the integrand there would change neither rule, and the
/// quadrature of a discontinuous function would report success with a wrong value. Therefore the
/// values near the faces are compared with a polynomial through the values at l2, l3 and 0.
template <unsigned d>
struct degree_7_rule {
  static_assert(2 <= d && d <= max_quadrature_dimensions);
  static constexpr unsigned pairs = 1 + 6 * d;                  ///< the first point on two axes
  static constexpr unsigned corners = pairs + 2 * d * (d - 1);  ///< the first towards a corner
  static constexpr unsigned points = corners + (1u << d);
  /// The number of points on the axes, which are the first ones. axis_difference() and
  /// deviation_at_faces() read their values.
  static constexpr unsigned axis_points = pairs;
  static constexpr bool has_third = false;
  static constexpr double outermost = 0.94868329805051380;  ///< the largest coordinate, l3

  /// Returns point number `k`.
  [[nodiscard]] __device__ static quadrature_point<d> point(unsigned k) {
    constexpr double l5 = 0.68824720161168529;  // sqrt(9/19)
    quadrature_point<d> p{};
    if (k == 0) return p;
    if (k < pairs) {
      const unsigned j = (k - 1) % 6;
      set_coordinate(p, (k - 1) / 6, signed_by(j % 2, j < 2 ? l2 : (j < 4 ? outermost : face)));
    } else if (k < corners) {
      const unsigned j = k - pairs;
      const axis_pair axes = axis_pair::number(j / 4, d);
      set_coordinate(p, axes.first, signed_by(j % 2, outermost));
      set_coordinate(p, axes.second, signed_by(j / 2 % 2, outermost));
    } else {
      for (unsigned axis = 0; axis < d; ++axis)
        p.x[axis] = signed_by((k - corners) >> axis & 1, l5);
    }
    return p;
  }

  /// Returns the weights of point number `k`.
  [[nodiscard]] __device__ static weights weights_of(unsigned k) {
    constexpr double n = d;
    if (k == 0) {
      return {(12824 - 9120 * n + 400 * n * n) / 19683, (729 - 950 * n + 50 * n * n) / 729};
    }
    if (k < pairs) {
      const unsigned j = (k - 1) % 6;
      if (j < 2) return {980.0 / 6561, 245.0 / 486};
      if (j < 4) return {(1820 - 400 * n) / 19683, (265 - 100 * n) / 1458};
      return {0, 0};
    }
    if (k < corners) return {200.0 / 19683, 25.0 / 729};
    return {6859.0 / 19683 / (1u << d), 0};
  }

  /// Returns the mean value by a rule of degree 3: of the center and of both points at l3 on each
  /// axis.
  [[nodiscard]] __device__ static double of_degree_3(const double* values) {
    double sum = 0;
    for (unsigned axis = 0; axis < d; ++axis) {
      const double* v = values + 1 + 6 * axis;
      sum += v[2] + v[3] - 2 * values[0];
    }
    return values[0] + sum / (6 * 0.9);
  }

  /// Returns the magnitude of the fourth difference of the integrand on an axis.
  [[nodiscard]] __device__ static double axis_difference(const double* values, unsigned axis) {
    const double* v = values + 1 + 6 * axis;
    // The second differences with both distances; l2^2 / l3^2 is 1/7.
    const double inner = v[0] + v[1] - 2 * values[0];
    const double outer = v[2] + v[3] - 2 * values[0];
    return std::fabs(inner - outer / 7);
  }

  /// Returns the difference of the sum of both values near the faces of an axis and the same sum of
  /// a polynomial. It is the even polynomial of degree 4 through the means of the other values on
  /// the axis. (The error of an even one has order 6, like that of the rule of degree 5.)
  [[nodiscard]] __device__ static double deviation_at_faces(const double* values, unsigned axis) {
    constexpr double t = face * face;
    constexpr double t2 = 9.0 / 70;
    constexpr double t3 = 9.0 / 10;
    const double* v = values + 1 + 6 * axis;
    const double expected = 2 * values[0] * ((t - t2) * (t - t3) / (t2 * t3)) +
                            (v[0] + v[1]) * (t * (t - t3) / (t2 * (t2 - t3))) +
                            (v[2] + v[3]) * (t * (t - t2) / (t3 * (t3 - t2)));
    return std::fabs(v[4] + v[5] - expected);
  }

 private:
  static constexpr double l2 = 0.35856858280031809;  // sqrt(9/70)
  static constexpr double face = 1 - face_distance;
};

/// The rule for d dimensions.
template <unsigned d>
struct cubature_rule : std::conditional_t<d == 2, degree_7_rule<2>, degree_9_rule<d>> {
  using base = std::conditional_t<d == 2, degree_7_rule<2>, degree_9_rule<d>>;
  static_assert(base::points == quadrature_points(d));

  /// Returns the axis of the next split: that on which the larger one of two numbers is largest,
  /// the fourth difference of the integrand and its deviation at the faces. Of several such axes it
  /// is the longest. The error is that of the mean value if the integrand deviates beyond the
  /// outermost coordinate as it does at the faces.
  [[nodiscard]] __device__ static axis_choice choose_axis(const double* values,
                                                          const quadrature_box<d>& box) {
    axis_choice choice{};
    double largest = -1;
    double longest = 0;
    for (unsigned axis = 0; axis < d; ++axis) {
      const double deviation = base::deviation_at_faces(values, axis);
      const double difference = std::fmax(base::axis_difference(values, axis), deviation);
      const double length = box.high[axis] - box.low[axis];
      choice.error_at_faces += deviation * ((1 - base::outermost) / 2);
      if (difference > largest || (difference == largest && length > longest)) {
        choice.axis = axis;
        largest = difference;
        longest = length;
      }
    }
    return choice;
  }
};

/// The Gauss-Kronrod rule, with points near the faces. Its points: the center, then -x and +x for
/// each node x, then the two faces.
template <>
struct cubature_rule<1> {
  static constexpr unsigned points = quadrature_points(1);
  static constexpr unsigned axis_points = points;
  static constexpr bool has_third = false;
  static constexpr unsigned faces = points - 2;  ///< the first point near a face

  /// Returns point number `k`.
  [[nodiscard]] __device__ static quadrature_point<1> point(unsigned k) {
    const double nodes[] = {outermost,
                            0.97390652851717172,
                            0.93015749135570823,
                            0.86506336668898451,
                            0.78081772658641690,
                            0.67940956829902441,
                            0.56275713466860468,
                            0.43339539412924719,
                            0.29439286270146020,
                            0.14887433898163121,
                            face};
    if (k == 0) return {{0}};
    const double x = nodes[(k - 1) / 2];
    return {{k % 2 == 0 ? x : -x}};
  }

  /// Returns the weights of point number `k`.
  [[nodiscard]] __device__ static weights weights_of(unsigned k) {
    const double kronrod[] = {0.011694638867371874, 0.032558162307964727, 0.054755896574351996,
                              0.075039674810919953, 0.093125454583697606, 0.109387158802297642,
                              0.123491976262065851, 0.134709217311473326, 0.142775938577060081,
                              0.147739104901338491};
    const double gauss[] = {0.066671344308688138, 0.149451349150580593, 0.219086362515982044,
                            0.269266719309996355, 0.295524224714752870};
    // The tables are for an integral over [-1, 1]; the weights of a mean value are half of them.
    if (k == 0) return {0.149445554002916906 / 2, 0};
    if (k >= faces) return {0, 0};
    const unsigned node = (k - 1) / 2;
    return {kronrod[node] / 2, node % 2 == 1 ? gauss[node / 2] / 2 : 0};
  }

  /// Returns the only axis, and the error of the mean value if the integrand deviates beyond the
  /// outermost nodes as it does at the faces. The deviation at a face is the difference from the
  /// polynomial of degree 4 through the five nodes next to it.
  [[nodiscard]] __device__ static axis_choice choose_axis(const double* values,
                                                          const quadrature_box<1>&) {
    const double coefficients[] = {1.34315212204748458, -0.44155609897144992, 0.11825904227877055,
                                   -0.02186518036561175, 0.00201011501080654};
    double sum = 0;
    for (unsigned side = 0; side < 2; ++side) {
      double deviation = values[faces + side];
      for (unsigned i = 0; i < 5; ++i) deviation -= coefficients[i] * values[1 + 2 * i + side];
      sum += std::fabs(deviation);
    }
    return {0, sum * ((1 - outermost) / 2)};
  }

 private:
  static constexpr double outermost = 0.99565716302580808;
  static constexpr double face = 1 - face_distance;
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
