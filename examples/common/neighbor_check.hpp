// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compares the neighbors that a spatial tree found with brute force.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/spatial_tree.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace common {

/// The results of queries for neighbors.
struct found_neighbors {
  std::size_t nearest = 0;                  ///< neighbors for each query; 0: none were searched for
  std::span<const std::uint32_t> ids{};     ///< `nearest` for each query, the nearest first
  std::span<const double> distances{};      ///< of the neighbors in `ids`
  std::optional<double> radius{};           ///< of the ball around each query
  std::span<const std::uint32_t> counts{};  ///< points in the ball, for each query
};

/// Compares 200 of the queries with brute force, or all if there are fewer. Returns how many were
/// compared. If `own`, query i is point i, which is not its own neighbor. Takes O(points) time for
/// each compared query.
/// \throws std::runtime_error that names the first query whose result is wrong
template <std::size_t dim>
std::uint64_t verify_neighbors(std::span<const std::array<double, dim>> points,
                               std::span<const std::array<double, dim>> queries, bool own,
                               const found_neighbors& found) {
  // Distances may differ by one rounding, if the compiler fuses operations.
  constexpr double tolerance = 1e-12;
  const std::size_t checks = std::min<std::size_t>(queries.size(), 200);
  for (std::size_t check = 0; check < checks; ++check) {
    const std::size_t q = check * queries.size() / checks;
    const auto fail = [&](const std::string& what) {
      throw std::runtime_error("verification failed: query " + std::to_string(q) + ' ' + what);
    };
    const auto distance_to = [&](std::size_t i) {
      double sum = 0;
      for (std::size_t axis = 0; axis < dim; ++axis) {
        const double along = points[i][axis] - queries[q][axis];
        sum += along * along;
      }
      return std::sqrt(sum);
    };
    std::vector<double> distances;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!own || i != q) distances.push_back(distance_to(i));
    }
    std::ranges::sort(distances);
    for (std::size_t rank = 0; rank < found.nearest; ++rank) {
      const std::uint32_t id = found.ids[q * found.nearest + rank];
      const double distance = found.distances[q * found.nearest + rank];
      if (rank >= distances.size()) {
        if (id != ramify::no_neighbor) fail("has more neighbors than there are points");
        continue;
      }
      for (std::size_t earlier = 0; earlier < rank; ++earlier) {
        if (found.ids[q * found.nearest + earlier] == id) fail("has the same neighbor twice");
      }
      const double right = distances[rank];
      if (id >= points.size() || !(std::abs(distance - right) <= tolerance * right) ||
          !(std::abs(distance - distance_to(id)) <= tolerance * right) || (own && id == q)) {
        fail("has another neighbor of rank " + std::to_string(rank + 1));
      }
    }
    if (!found.radius) continue;
    const auto count_to = [&](double radius) {
      return std::ranges::upper_bound(distances, radius) - distances.begin();
    };
    if (found.counts[q] < count_to(*found.radius * (1 - tolerance)) ||
        found.counts[q] > count_to(*found.radius * (1 + tolerance))) {
      fail("has another number of points in its ball");
    }
  }
  return checks;
}

}  // namespace common
