// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The clusters of points by brute force.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <ramify/spatial_tree/config.hpp>
#include <vector>

#include "brute_force.hpp"

namespace tests {

using labels = std::vector<std::uint32_t>;

/// The labels and counts by brute force.
struct brute_clusters {
  labels label;
  std::uint64_t clusters = 0, core_points = 0, noise = 0;
};

/// Compares all pairs of points, and unites the core points in a serial union-find.
template <class Type>
brute_clusters all_clusters(const point_list<typename Type::real, Type::dim>& points,
                            typename Type::real radius, std::size_t min_points) {
  const auto n = static_cast<std::uint32_t>(points.size());
  std::vector<labels> balls(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    balls[i] = all_within<typename Type::real, Type::dim>(points, points[i], radius);
  }
  const auto is_core = [&](std::uint32_t i) { return balls[i].size() >= min_points; };
  labels parent(n);
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root_of = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const std::uint32_t j : balls[i]) {
      if (!is_core(i) || !is_core(j)) continue;
      const std::uint32_t a = root_of(i);
      const std::uint32_t b = root_of(j);
      parent[std::max(a, b)] = std::min(a, b);  // the root is the least core point
    }
  }
  brute_clusters found{labels(n, ramify::no_cluster)};
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const std::uint32_t j : balls[i]) {
      if (is_core(j) && (!is_core(i) || i == j)) {
        found.label[i] = std::min(found.label[i], root_of(j));
      }
    }
    found.clusters += is_core(i) && root_of(i) == i;
    found.core_points += is_core(i);
    found.noise += found.label[i] == ramify::no_cluster;
  }
  return found;
}

}  // namespace tests
