// SPDX-License-Identifier: BSD-3-Clause
#include "distance_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <span>

namespace common {
namespace {

/// Returns the value that a share of the sorted distances does not exceed, interpolated.
double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

/// Returns the mean of numbers that are not negative, of which `most` is the greatest. Their sum
/// may be greater than any number.
double mean_of(std::span<const double> numbers, double most) {
  int exponent = 0;
  std::frexp(most, &exponent);
  const double sum =
      std::transform_reduce(numbers.begin(), numbers.end(), 0.0, std::plus<>(),
                            [exponent](double x) { return std::ldexp(x, -exponent); });
  return std::ldexp(sum / static_cast<double>(numbers.size()), exponent);
}

/// Returns the mean distance of n uniform random points in a box to their nearest neighbors,
/// divided by 2^exponent; 0 if the box has no area or volume.
double expected_mean(double n, std::span<const double> lower, std::span<const double> upper,
                     int& exponent) {
  // The volume is scaled * 2^(dimensions * exponent): it may be in the range of no number.
  double scaled = 1;
  int sum = 0;
  for (std::size_t axis = 0; axis < lower.size(); ++axis) {
    int of_edge = 0;
    // Half of the edge, because an edge may overflow.
    scaled *= std::frexp(upper[axis] / 2 - lower[axis] / 2, &of_edge);
    sum += of_edge + 1;
  }
  const int dimensions = static_cast<int>(lower.size());
  exponent = static_cast<int>(std::floor(static_cast<double>(sum) / dimensions));
  const double density = n / std::ldexp(scaled, sum - dimensions * exponent);
  return dimensions == 2 ? 0.5 / std::sqrt(density)
                         : std::tgamma(4.0 / 3) * std::cbrt(3 / (4 * std::numbers::pi * density));
}

}  // namespace

distance_statistics statistics_of(std::vector<double> distances, std::span<const double> lower,
                                  std::span<const double> upper) {
  distance_statistics of;
  std::ranges::sort(distances);
  of.least = distances.front();
  of.most = distances.back();
  of.mean = mean_of(distances, of.most);
  for (std::size_t i = 0; i < of.quantiles.size(); ++i) {
    of.quantiles[i] = quantile(distances, distance_statistics::percents[i] / 100.0);
  }
  int exponent = 0;
  const double expected =
      expected_mean(static_cast<double>(distances.size()), lower, upper, exponent);
  if (expected > 0) of.clark_evans = std::ldexp(of.mean, -exponent) / expected;
  return of;
}

}  // namespace common
