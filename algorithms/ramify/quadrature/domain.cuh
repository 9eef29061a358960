// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host's checks of a quadrature's arguments, and the units in which it computes.

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <ramify/quadrature/config.hpp>
#include <ramify/quadrature/regions.cuh>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Returns the maximum number of regions that options.max_evaluations allows.
/// \throws std::invalid_argument if options.max_evaluations is not in the range of d dimensions
template <unsigned d>
[[nodiscard]] std::size_t max_regions(const quadrature_options& options) {
  constexpr std::size_t points = quadrature_points(d);
  const auto refuse = [&](const std::string& range) {
    throw std::invalid_argument("quadrature_options.max_evaluations is " +
                                std::to_string(options.max_evaluations) + "; in " +
                                std::to_string(d) + " dimensions it must be " + range);
  };
  if (options.max_evaluations < points) refuse("at least " + std::to_string(points));
  const std::size_t regions = 1 + (options.max_evaluations / points - 1) / 2;
  // Each split evaluates two regions, so 2^30 regions take 2^31 - 1 evaluations of a region.
  constexpr std::size_t end = (std::size_t{1} << 31) - 1;
  if (regions >> 30 != 0) refuse("less than " + std::to_string(end * points));
  return regions;
}

/// Returns whether all points of a rule are inside an axis of the domain.
[[nodiscard]] __host__ __device__ inline bool is_valid_axis(double low, double high) {
  const bool is_finite = std::fabs(low) <= DBL_MAX && high - low <= DBL_MAX;
  return is_finite && low < high && has_points_inside(low, high);
}

/// Checks the domain of a quadrature. \throws std::invalid_argument naming the axis and its range
template <unsigned d>
void validate(const quadrature_box<d>& box) {
  for (unsigned axis = 0; axis < d; ++axis) {
    const double low = box.low[axis];
    const double high = box.high[axis];
    if (is_valid_axis(low, high)) continue;
    const bool valid = std::isfinite(low) && std::isfinite(high - low) && low < high;
    std::ostringstream text;
    text.precision(17);
    text << "quadrature_box: axis " << axis << " is from " << low << " to " << high << "; "
         << (valid ? "it must be longer than 2^-36 times its larger coordinate, and 2^-1058"
                   : "both and their difference must be finite, and low less than high");
    throw std::invalid_argument(text.str());
  }
}

/// Returns the units in which a quadrature over `box` computes.
template <unsigned d>
[[nodiscard]] __host__ __device__ length_units<d> units_of(const quadrature_box<d>& box) {
  length_units<d> units;
  for (unsigned axis = 0; axis < d; ++axis) {
    units.exponents[axis] = std::ilogb(box.high[axis] - box.low[axis]) + 1;
  }
  return units;
}

/// Returns the exponent of the unit of the integral.
template <unsigned d>
[[nodiscard]] __host__ __device__ int exponent_of(const length_units<d>& units) {
  int sum = value_exponent;
  for (const int exponent : units.exponents) sum += exponent;
  return sum;
}

/// Sets the value and the error, which are `total` times 2^exponent. If a double cannot hold the
/// value, the status becomes out_of_range. `tolerance` is in the unit of `total`.
__host__ __device__ inline void set_value(quadrature_estimate& result, const bounded& total,
                                          int exponent, double tolerance) {
  result.value = std::scalbn(total.value, exponent);
  result.error = std::scalbn(total.error, exponent);
  const double lost = std::fabs(std::scalbn(result.value, -exponent) - total.value);
  if (std::isfinite(result.value) && lost <= tolerance) return;
  if (result.status == quadrature_status::not_finite) return;
  result.status = quadrature_status::out_of_range;
  result.error = HUGE_VAL;
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
