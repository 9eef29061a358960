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
  unsigned char* axes;  ///< the axis of the next split, or no_axis

  static region_list taken_from(memory_layout& memory, std::size_t count) {
    return {memory.take<quadrature_box<d>>(count), memory.take<bounded>(count),
            memory.take<double>(count), memory.take<unsigned char>(count)};
  }
};

/// The estimate of a region.
struct region_estimate {
  bounded estimate;
  double round_off;    ///< a bound of the round-off in the estimate
  unsigned char axis;  ///< the axis of the next split, or no_axis
};

/// Returns the sum over the lanes of a warp, to all lanes. The order of additions is fixed.
__device__ inline double sum_of_warp(double value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(full_warp_mask, value, distance);
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

/// Returns QUADPACK's error estimate from the difference of both rules. If the difference is much
/// smaller than the variation of the integrand, the integrand is smooth, and the error of the
/// better rule is far less than the difference. Otherwise the difference may be small by accident,
/// and the estimate is larger.
__device__ inline double rescaled_error(double difference, double variation) {
  if (variation == 0 || difference == 0) return difference;
  return variation * std::fmin(1.0, std::pow(200 * difference / variation, 1.5));
}

/// Sums over the points of a region: of weight times value in each rule, and of the magnitudes.
struct point_sums {
  double high;
  double low;
  double third;
  double magnitude;

  __device__ point_sums& operator+=(const point_sums& other) {
    high += other.high;
    low += other.low;
    third += other.third;
    magnitude += other.magnitude;
    return *this;
  }
};

/// Evaluates the points number `first`, `first` + `step` ... of a region, and returns their sums
/// over the lanes of the warp, to all lanes. `axis_values` is shared memory for the values at the
/// rule's axis_points. The points of this region have the numbers from `number` on. `*not_finite`
/// becomes the least number of a point at which `f` is not finite.
template <unsigned d, class Integrand>
__device__ point_sums sample_points(const quadrature_box<d>& box, const Integrand& f,
                                    double* axis_values, unsigned first, unsigned step,
                                    unsigned long long number, unsigned long long* not_finite) {
  using rule = cubature_rule<d>;
  point_sums sums{};
  for (unsigned k = first; k < rule::points; k += step) {
    double value = f(point_in(box, k));
    if (!(std::fabs(value) <= DBL_MAX)) {
      atomicMin(not_finite, number + k);
      value = 0;
    }
    if (k < rule::axis_points) axis_values[k] = value;
    const weights w = rule::weights_of(k);
    sums.high += w.high * value;
    sums.low += w.low * value;
    if constexpr (rule::has_third) sums.third += w.third * value;
    sums.magnitude += std::fabs(w.high * value);
  }
  sums.high = sum_of_warp(sums.high);
  sums.low = sum_of_warp(sums.low);
  if constexpr (rule::has_third) sums.third = sum_of_warp(sums.third);
  sums.magnitude = sum_of_warp(sums.magnitude);
  return sums;
}

/// Returns the error of the mean value from the differences of a rule of degree 9 and rules of
/// degree 7, 5 and 3. Where the integrand is smooth on the scale of the region, each difference is
/// far less than the next one, and the first one is a pessimistic bound. Otherwise it may be small
/// by accident. (Cuhre has such a test, with more rules.)
template <class Rule>
__device__ double error_of_differences(const point_sums& means, const double* values) {
  const double of_7 = std::fabs(means.high - means.low);
  const double of_5 = std::fabs(means.high - means.third);
  const double of_3 = std::fabs(means.high - Rule::of_degree_3(values));
  const bool is_smooth = 5 * of_7 <= of_5 && 5 * of_5 <= of_3;
  return is_smooth ? of_7 : std::fmax(of_7, of_5);
}

/// Returns the estimate of a region from the sums over all its points. All lanes of a warp call it.
/// `axis_values` and `number` are as for sample_points(). If the estimate overflows, the number of
/// the region's first point is recorded.
template <unsigned d>
__device__ region_estimate estimate_of(const quadrature_box<d>& box, const point_sums& means,
                                       const double* axis_values, unsigned long long number,
                                       unsigned long long* not_finite) {
  using rule = cubature_rule<d>;
  double volume = 1;
  for (unsigned axis = 0; axis < d; ++axis) volume *= box.high[axis] - box.low[axis];
  const double high = means.high * volume;
  const axis_choice choice = rule::choose_axis(axis_values, box);
  // 1. The difference is the error of an embedded rule, so it is a pessimistic bound for the rule
  //    of high degree. The error is at least the round-off (the factor is QUADPACK's).
  //    choose_axis() describes what the points near the faces add.
  double difference = std::fabs(high - means.low * volume);
  if constexpr (rule::has_third) {
    difference = error_of_differences<rule>(means, axis_values) * volume;
  }
  if constexpr (d == 1) {
    const double variation = mean_deviation<rule>(axis_values, high / volume) * volume;
    difference = rescaled_error(difference, variation);
  }
  const double round_off = 50 * DBL_EPSILON * (means.magnitude * volume);
  const double deviation = difference + choice.error_at_faces * volume;
  const double error = std::fmax(deviation, round_off);  // not NaN if only `deviation` is NaN
  if (!(std::fabs(high) <= DBL_MAX && deviation <= DBL_MAX && error <= DBL_MAX)) {
    atomicMin(not_finite, number);
  }
  // 2. The axis of the next split. No point of a half may be on its faces.
  const unsigned axis = choice.axis;
  const double center = middle(box, axis);
  const bool has_halves =
      has_points_inside(box.low[axis], center) && has_points_inside(center, box.high[axis]);
  return {{high, error}, round_off, has_halves ? static_cast<unsigned char>(axis) : no_axis};
}

/// Evaluates a region. All lanes of a warp call it, share the points, and get the result.
/// Parameters as of sample_points().
template <unsigned d, class Integrand>
__device__ region_estimate evaluate_region(const quadrature_box<d>& box, const Integrand& f,
                                           double* axis_values, unsigned long long number,
                                           unsigned long long* not_finite) {
  const point_sums sums =
      sample_points(box, f, axis_values, threadIdx.x % 32, 32, number, not_finite);
  __syncwarp();
  const region_estimate found = estimate_of(box, sums, axis_values, number, not_finite);
  __syncwarp();  // the lanes have read `axis_values`
  return found;
}

/// Raises the errors of two halves, the more, the more the sum of their estimates differs from the
/// estimate of the whole. (The two-level estimate of Cuhre, T. Hahn: Cuba, 2005.)
__device__ inline void compare_with_whole(const bounded& whole, bounded& lower, bounded& upper) {
  const double difference = std::fabs(whole.value - (lower.value + upper.value)) / 4;
  const double sum = lower.error + upper.error;
  const double factor = sum > 0 ? 1 + 2 * difference / sum : 1;
  lower.error = lower.error * factor + difference;
  upper.error = upper.error * factor + difference;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
