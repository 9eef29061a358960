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

/// Compares the results of query number `q` with brute force.
template <std::size_t dim>
class query_check {
 public:
  /// Calculates the distances of all points. If `own`, the query is point q, which is not its own
  /// neighbor.
  query_check(std::span<const std::array<double, dim>> points, const std::array<double, dim>& query,
              std::size_t q, bool own)
      : points_(points), query_(query), q_(q), own_(own) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!own || i != q) distances_.push_back(distance_to(i));
    }
    std::ranges::sort(distances_);
  }

  /// Checks the neighbors. \throws std::runtime_error naming the query
  void check_nearest(const found_neighbors& found) const {
    const auto ids = found.ids.subspan(q_ * found.nearest, found.nearest);
    for (std::size_t rank = 0; rank < found.nearest; ++rank) {
      const std::uint32_t id = ids[rank];
      const double distance = found.distances[q_ * found.nearest + rank];
      if (rank >= distances_.size()) {
        if (id != ramify::no_neighbor) fail("has more neighbors than there are points");
        continue;
      }
      if (std::ranges::count(ids.first(rank), id) > 0) fail("has the same neighbor twice");
      const double expected = distances_[rank];
      if (id >= points_.size() || !are_equal(distance, expected) ||
          !are_equal(distance, distance_to(id)) || (own_ && id == q_)) {
        fail("has another neighbor of rank " + std::to_string(rank + 1));
      }
    }
  }

  /// Checks the number of points in a ball. \throws std::runtime_error naming the query
  void check_count(double radius, std::uint32_t count) const {
    const auto count_to = [&](double r) {
      return std::ranges::upper_bound(distances_, r) - distances_.begin();
    };
    if (count < count_to(radius * (1 - tolerance)) || count > count_to(radius * (1 + tolerance))) {
      fail("has another number of points in its ball");
    }
  }

 private:
  // Distances may differ by one rounding, if the compiler fuses operations.
  static constexpr double tolerance = 1e-12;

  /// Returns whether two distances differ by rounding at most. Both may be infinite.
  [[nodiscard]] static bool are_equal(double a, double b) {
    return a == b || std::abs(a - b) <= tolerance * b;
  }
  [[nodiscard]] double distance_to(std::size_t i) const {
    double sum = 0;
    for (std::size_t axis = 0; axis < dim; ++axis) {
      const double along = points_[i][axis] - query_[axis];
      sum += along * along;
    }
    return std::sqrt(sum);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("verification failed: query " + std::to_string(q_) + ' ' + what);
  }

  std::span<const std::array<double, dim>> points_;
  const std::array<double, dim>& query_;
  std::size_t q_;
  bool own_;
  std::vector<double> distances_;  // of all points except the query itself, the smallest first
};

/// Compares 200 of the queries with brute force, or all if there are fewer. Returns how many were
/// compared. If `own`, query i is point i, which is not its own neighbor. Takes O(points) time for
/// each compared query.
/// \throws std::runtime_error that names the first query whose result is wrong
template <std::size_t dim>
std::uint64_t verify_neighbors(std::span<const std::array<double, dim>> points,
                               std::span<const std::array<double, dim>> queries, bool own,
                               const found_neighbors& found) {
  const std::size_t checks = std::min<std::size_t>(queries.size(), 200);
  for (std::size_t i = 0; i < checks; ++i) {
    const std::size_t q = i * queries.size() / checks;
    const query_check<dim> check(points, queries[q], q, own);
    check.check_nearest(found);
    if (found.radius) check.check_count(*found.radius, found.counts[q]);
  }
  return checks;
}

}  // namespace common
