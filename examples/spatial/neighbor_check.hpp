// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compares the neighbors that a spatial tree found with brute force in long double.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
  std::array<double, 3> period{};           ///< of each axis; 0: the axis is not periodic
};

/// Compares the results of query number `q` with brute force.
template <std::size_t dim>
class query_check {
 public:
  /// Calculates the distances of all points. If `own`, the query is point q, which is not its own
  /// neighbor.
  query_check(std::span<const std::array<double, dim>> points, const std::array<double, dim>& query,
              std::size_t q, bool own, const std::array<double, 3>& period)
      : points_(points), query_(query), q_(q), own_(own), period_(period) {
    for (std::size_t axis = 0; axis < dim; ++axis) {
      // A query outside of the box is moved by periods, with one rounding.
      if (period[axis] > 0) slack_ += std::numeric_limits<double>::epsilon() * largest(axis);
    }
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
      const long double expected = distances_[rank];
      if (id >= points_.size() || !are_equal(distance, expected) ||
          !are_equal(distance, distance_to(id)) || (own_ && id == q_)) {
        fail("has another neighbor of rank " + std::to_string(rank + 1));
      }
    }
  }

  /// Checks the number of points in a ball. \throws std::runtime_error naming the query
  void check_count(double radius, std::uint32_t count) const {
    const auto count_to = [&](long double r) {
      return std::ranges::upper_bound(distances_, r) - distances_.begin();
    };
    if (count < count_to(radius * (1 - tolerance) - slack_) ||
        count > count_to(radius * (1 + tolerance) + slack_)) {
      fail("has another number of points in its ball");
    }
  }

 private:
  // The tree rounds each operation to double.
  static constexpr long double tolerance = 1e-12L;

  /// Returns whether a distance that was found differs from the right one by rounding at most. It
  /// is infinite if no double is as large.
  [[nodiscard]] bool are_equal(double found, long double right) const {
    if (std::isinf(found)) return right > std::numeric_limits<double>::max();
    return std::abs(found - right) <=
           tolerance * right + slack_ + std::numeric_limits<double>::denorm_min();
  }
  /// Returns the largest magnitude of a coordinate in a difference along a periodic axis.
  [[nodiscard]] long double largest(std::size_t axis) const {
    long double most = std::abs(query_[axis]) + period_[axis];
    for (const auto& p : points_) most = std::max<long double>(most, std::abs(p[axis]));
    return 4 * most;
  }
  [[nodiscard]] long double distance_to(std::size_t i) const {
    std::array<long double, 3> along{};
    for (std::size_t axis = 0; axis < dim; ++axis) {
      along[axis] = static_cast<long double>(points_[i][axis]) - query_[axis];
      if (period_[axis] > 0) {
        along[axis] = std::remainder(along[axis], static_cast<long double>(period_[axis]));
      }
    }
    return std::hypot(along[0], along[1], along[2]);  // squares cannot leave the range
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("verification failed: query " + std::to_string(q_) + ' ' + what);
  }

  std::span<const std::array<double, dim>> points_;
  const std::array<double, dim>& query_;
  std::size_t q_;
  bool own_;
  const std::array<double, 3>& period_;
  long double slack_ = 0;               // by which distances to images may differ
  std::vector<long double> distances_;  // of all points except the query itself, the smallest first
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
    const query_check<dim> check(points, queries[q], q, own, found.period);
    check.check_nearest(found);
    if (found.radius) check.check_count(*found.radius, found.counts[q]);
  }
  return checks;
}

}  // namespace common
