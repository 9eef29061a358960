// SPDX-License-Identifier: BSD-3-Clause
#include "distance_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

}  // namespace

distance_statistics statistics_of(std::vector<double> distances, int dimensions, double volume) {
  distance_statistics of;
  std::ranges::sort(distances);
  const auto n = static_cast<double>(distances.size());
  of.mean = std::reduce(distances.begin(), distances.end()) / n;
  of.least = distances.front();
  of.most = distances.back();
  for (std::size_t i = 0; i < of.quantiles.size(); ++i) {
    of.quantiles[i] = quantile(distances, distance_statistics::percents[i] / 100.0);
  }
  const double density = n / volume;
  // The mean distance to the nearest of uniform random points of this density.
  const double expected =
      dimensions == 2 ? 0.5 / std::sqrt(density)
                      : std::tgamma(4.0 / 3) * std::cbrt(3 / (4 * std::numbers::pi * density));
  of.clark_evans = volume > 0 ? of.mean / expected : std::numeric_limits<double>::quiet_NaN();
  return of;
}

}  // namespace common
