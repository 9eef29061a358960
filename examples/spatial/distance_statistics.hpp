// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Statistics of the distances of points to their nearest neighbors.

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace common {

/// The distances of the points to their nearest neighbors.
struct distance_statistics {
  static constexpr std::array<unsigned, 7> percents{1, 5, 25, 50, 75, 95, 99};

  double mean = 0, least = 0, most = 0;
  std::array<double, percents.size()> quantiles{};
  /// The mean divided by the mean of as many uniform random points in the box (Clark and Evans,
  /// 1954; no correction at the edges): below 1 for clusters, above 1 for even spacing. Not defined
  /// if the box has no area or volume.
  std::optional<double> clark_evans{};
};

/// Returns the statistics of the distances of points in a box with these corners, in two or three
/// dimensions. Distances and the box may have any magnitude. Requires at least one distance.
[[nodiscard]] distance_statistics statistics_of(std::vector<double> distances,
                                                std::span<const double> lower,
                                                std::span<const double> upper);

/// Calls put(name, value) for each of the statistics. A value is a number, or of type
/// std::optional<double> if it may be undefined.
template <class Put>
void for_each_statistic(const distance_statistics& s, const Put& put) {
  put("mean", s.mean);
  put("minimum", s.least);
  for (std::size_t i = 0; i < s.quantiles.size(); ++i) {
    put("quantile_" + std::to_string(distance_statistics::percents[i]), s.quantiles[i]);
  }
  put("maximum", s.most);
  put("clark_evans", s.clark_evans);
}

}  // namespace common
