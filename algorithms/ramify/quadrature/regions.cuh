// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The regions of a quadrature in device memory, and the evaluation of a region by warps.

#include <cfloat>
#include <cmath>
#include <ramify/quadrature/rules.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// The axis of a region that is too narrow to be split.
inline constexpr unsigned char no_axis = 255;

/// A value or an estimate, and the bound of its error.
struct bounded {
  double value;
  double error;
};

/// The exponent of the unit of values: a quadrature computes with values times 2^-12. No sum of
/// weighted values of one region then overflows, whatever finite numbers the integrand returns.
/// Multiplication by a power of two is exact, so the unit changes no bits of the result. Values
/// below 2^-1062 lose bits.
inline constexpr int value_exponent = 12;

/// The exponents of the units of length: axis i has the unit 2^exponents[i], which is greater than
/// the length of the domain. Volumes in these units neither overflow nor underflow.
template <unsigned d>
struct length_units {
  int exponents[d];

  /// Returns the volume of `box`, which is a part of the domain, in these units.
  [[nodiscard]] __device__ double volume(const quadrature_box<d>& box) const {
    double product = 1;
    for (unsigned axis = 0; axis < d; ++axis) {
      product *= std::scalbn(box.high[axis] - box.low[axis], -exponents[axis]);
    }
    return product;
  }
};

/// Adds the values, and the errors.
struct add_bounded {
  __device__ bounded operator()(const bounded& a, const bounded& b) const {
    return {a.value + b.value, a.error + b.error};
  }
};

/// All regions. They cover the domain and do not overlap. A split overwrites the region with its
/// lower half and appends the upper half, so the number of regions only rises.
template <unsigned d>
struct region_list {
  quadrature_box<d>* boxes;
  bounded* estimates;
  double* round_offs;
  double* spreads;        ///< the largest distance of a value at the rule's points from their mean
  unsigned char* axes;    ///< the axis of the next split, or no_axis
  unsigned char* smooth;  ///< 1: the integrand is smooth on the scale of the region

  static __host__ __device__ region_list taken_from(memory_layout& memory, std::size_t count) {
    return {memory.take<quadrature_box<d>>(count),
            memory.take<bounded>(count),
            memory.take<double>(count),
            memory.take<double>(count),
            memory.take<unsigned char>(count),
            memory.take<unsigned char>(count)};
  }
};

/// The estimate of a region.
struct region_estimate {
  bounded estimate;
  double round_off;    ///< a bound of the round-off in the estimate
  double spread;       ///< the largest distance of a value from the mean
  unsigned char axis;  ///< the axis of the next split, or no_axis
  bool smooth;         ///< whether the integrand is smooth on the scale of the region
};

/// What the halves of a region are compared with.
struct whole_estimate {
  bounded estimate;
  bool smooth;
};

/// Returns the sum over the lanes of a warp, to all lanes. The order of additions is fixed.
__device__ inline double sum_of_warp(double value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(full_warp_mask, value, distance);
  }
  return value;
}

/// Returns the largest value of the lanes of a warp, to all lanes.
__device__ inline double largest_of_warp(double value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value = std::fmax(value, __shfl_xor_sync(full_warp_mask, value, distance));
  }
  return value;
}

/// Returns the center of the box on `axis`, at which a split along this axis cuts it.
template <unsigned d>
[[nodiscard]] __device__ double middle(const quadrature_box<d>& box, unsigned axis) {
  return box.low[axis] + (box.high[axis] - box.low[axis]) / 2;
}

/// Returns point number `k` of the rule, in `box`.
template <unsigned d>
[[nodiscard]] __device__ quadrature_point<d> point_in(const quadrature_box<d>& box, unsigned k) {
  quadrature_point<d> p = cubature_rule<d>::point(k);
  for (unsigned axis = 0; axis < d; ++axis) {
    p.x[axis] = middle(box, axis) + p.x[axis] * ((box.high[axis] - box.low[axis]) / 2);
  }
  return p;
}

/// Returns the mean of |f - mean| over a region, from the values at all points. All lanes of a warp
/// call it.
template <class Rule>
__device__ double mean_deviation(const double* values, double mean) {
  static_assert(Rule::axis_points == Rule::points);
  double sum = 0;
  for (unsigned k = threadIdx.x % 32; k < Rule::points; k += 32) {
    sum += Rule::weights_of(k).high * std::fabs(values[k] - mean);
  }
  return sum_of_warp(sum);
}

/// The error of a mean value that the differences of rules show, and whether they show that the
/// integrand is smooth on the scale of the region.
struct rule_difference {
  double error;
  bool smooth;
};

/// Returns QUADPACK's error estimate from the difference of both rules. If the difference is much
/// smaller than the variation of the integrand, the integrand is smooth, and the error of the
/// better rule is far less than the difference. Otherwise the difference may be small by accident,
/// and the estimate is larger.
__device__ inline rule_difference rescaled_error(double difference, double variation) {
  if (variation == 0 || difference == 0) return {difference, true};
  const double ratio = 200 * difference / variation;
  return {variation * std::fmin(1.0, std::pow(ratio, 1.5)), ratio < 0.1};
}

/// Sums over the points of a region: of weight times value in each rule, and of the magnitudes; and
/// the range of the values.
struct point_sums {
  double high;
  double low;
  double third;
  double magnitude;
  double largest;  ///< the largest value
  double lowest;   ///< the largest negated value

  __device__ point_sums& operator+=(const point_sums& other) {
    high += other.high;
    low += other.low;
    third += other.third;
    magnitude += other.magnitude;
    largest = std::fmax(largest, other.largest);
    lowest = std::fmax(lowest, other.lowest);
    return *this;
  }
};

/// Returns the value of `f` at `p`, in its unit. If it is not finite, the function returns 0, and
/// `*not_finite` becomes `number` if it was larger.
template <unsigned d, class Integrand>
__device__ double value_at(const quadrature_point<d>& p, const Integrand& f,
                           unsigned long long number, unsigned long long* not_finite) {
  const double value = f(p);
  if (std::fabs(value) <= DBL_MAX) return value * (1.0 / (1 << value_exponent));
  atomicMin(not_finite, number);
  return 0;
}

/// Evaluates the points number `first`, `first` + `step` ... of a region, and returns their sums
/// over the lanes of the warp, to all lanes. `axis_values` is shared memory for the values at the
/// rule's axis_points. The points of this region have the numbers from `number` on. `*not_finite`
/// becomes the least number of a point at which `f` is not finite.
template <unsigned d, class Integrand>
__device__ point_sums sample_points(const quadrature_box<d>& box, const Integrand& f,
                                    double* axis_values, unsigned first, unsigned step,
                                    unsigned long long number, unsigned long long* not_finite) {
  using rule = cubature_rule<d>;
  point_sums sums{0, 0, 0, 0, -DBL_MAX, -DBL_MAX};
  for (unsigned k = first; k < rule::points; k += step) {
    const double value = value_at(point_in(box, k), f, number + k, not_finite);
    if (k < rule::axis_points) axis_values[k] = value;
    const weights w = rule::weights_of(k);
    sums.high += w.high * value;
    sums.low += w.low * value;
    if constexpr (rule::has_third) sums.third += w.third * value;
    sums.magnitude += std::fabs(w.high * value);
    sums.largest = std::fmax(sums.largest, value);
    sums.lowest = std::fmax(sums.lowest, -value);
  }
  sums.high = sum_of_warp(sums.high);
  sums.low = sum_of_warp(sums.low);
  if constexpr (rule::has_third) sums.third = sum_of_warp(sums.third);
  sums.magnitude = sum_of_warp(sums.magnitude);
  sums.largest = largest_of_warp(sums.largest);
  sums.lowest = largest_of_warp(sums.lowest);
  return sums;
}

/// Returns the error of the mean value from the differences of the rule of high degree and the
/// embedded rules. Where the integrand is smooth on the scale of the region, each difference is far
/// less than that of the next lower degree, and the first one is a pessimistic bound. Otherwise it
/// may be small by accident. (Cuhre has such a test, with more rules.) All lanes of a warp call it.
template <unsigned d>
__device__ rule_difference difference_of_rules(const point_sums& means, const double* values) {
  using rule = cubature_rule<d>;
  const double first = std::fabs(means.high - means.low);
  if constexpr (d == 1) {
    return rescaled_error(first, mean_deviation<rule>(values, means.high));
  } else {
    const double of_3 = std::fabs(means.high - rule::of_degree_3(values));
    if constexpr (!rule::has_third) return {first, 5 * first <= of_3};
    const double of_5 = std::fabs(means.high - means.third);
    const bool smooth = 5 * first <= of_5 && 5 * of_5 <= of_3;
    return {smooth ? first : std::fmax(first, of_5), smooth};
  }
}

/// Returns the estimate of a region from the sums over all its points. All lanes of a warp call it.
/// `axis_values` is as for sample_points().
template <unsigned d>
__device__ region_estimate estimate_of(const quadrature_box<d>& box, const length_units<d>& units,
                                       const point_sums& means, const double* axis_values) {
  const double volume = units.volume(box);
  const axis_choice choice = cubature_rule<d>::choose_axis(axis_values, box);
  // 1. The difference is the error of an embedded rule, so it is a pessimistic bound for the rule
  //    of high degree. choose_axis() describes what the points near the faces add. The error is at
  //    least the round-off (the factor is QUADPACK's), also that of numbers below 2^-1022.
  const rule_difference difference = difference_of_rules<d>(means, axis_values);
  const double subnormal = means.magnitude > 0 ? 64 * DBL_TRUE_MIN : 0;
  const double round_off = std::fmax(50 * DBL_EPSILON * (means.magnitude * volume), subnormal);
  const double error = (difference.error + choice.error_at_faces) * volume;
  const double spread = std::fmax(means.largest - means.high, means.lowest + means.high);
  // 2. The axis of the next split. No point of a half may be on its faces.
  const unsigned axis = choice.axis;
  const double center = middle(box, axis);
  const bool has_halves =
      has_points_inside(box.low[axis], center) && has_points_inside(center, box.high[axis]);
  return {{means.high * volume, std::fmax(error, round_off)},
          round_off,
          spread,
          has_halves ? static_cast<unsigned char>(axis) : no_axis,
          difference.smooth};
}

/// Evaluates a region. All lanes of a warp call it, share the points, and get the result.
/// Parameters as of sample_points().
template <unsigned d, class Integrand>
__device__ region_estimate evaluate_region(const quadrature_box<d>& box,
                                           const length_units<d>& units, const Integrand& f,
                                           double* axis_values, unsigned long long number,
                                           unsigned long long* not_finite) {
  const point_sums sums =
      sample_points(box, f, axis_values, threadIdx.x % 32, 32, number, not_finite);
  __syncwarp();
  const region_estimate found = estimate_of(box, units, sums, axis_values);
  __syncwarp();  // the lanes have read `axis_values`
  return found;
}

/// Raises the errors of two halves, the more, the more the sum of their estimates differs from the
/// estimate of the whole. (The two-level estimate of Cuhre, T. Hahn: Cuba, 2005.)
///
/// The error of a half is at least a 16th of that of the whole, unless the integrand is smooth on
/// the scale of both. Without this bound, a half whose points all miss a ridge has an error of 0
/// and is never split again.
__device__ inline void compare_with_whole(const whole_estimate& whole, region_estimate& lower,
                                          region_estimate& upper) {
  bounded& a = lower.estimate;
  bounded& b = upper.estimate;
  const double difference = std::fabs(whole.estimate.value - (a.value + b.value)) / 4;
  const double sum = a.error + b.error;
  const double factor = sum > 0 ? 1 + 2 * difference / sum : 1;
  const double least = whole.estimate.error / 16;
  a.error = std::fmax(a.error * factor + difference, whole.smooth && lower.smooth ? 0 : least);
  b.error = std::fmax(b.error * factor + difference, whole.smooth && upper.smooth ? 0 : least);
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
