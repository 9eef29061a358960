// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Checks of the results of spatial queries by brute force in long double, whose exponents are
/// large enough for all distances. They allow for the rounding of the tree's arithmetic.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <ramify/spatial_tree.hpp>
#include <string>
#include <vector>

#include "clouds.hpp"

namespace tests {

using periods = std::array<double, 3>;

/// Returns the distance between a point and the nearest image of another one.
template <class Real, int dim>
long double exact_distance(const coordinates<Real, dim>& a, const coordinates<Real, dim>& b,
                           const periods& period = {}) {
  std::array<long double, 3> along{};
  for (std::size_t axis = 0; axis < dim; ++axis) {
    const long double d = static_cast<long double>(a[axis]) - b[axis];
    along[axis] = std::abs(d);
    const long double length = static_cast<Real>(period[axis]);
    if (length == 0) continue;
    const long double periods_apart = std::floor(d / length);
    for (int image = -1; image <= 2; ++image) {
      along[axis] = std::min(along[axis], std::abs(d - (periods_apart + image) * length));
    }
  }
  return std::hypot(along[0], along[1], along[2]);
}

/// The points of an index, as brute force searches them.
template <class Type>
class exact_search {
 public:
  using real = typename Type::real;
  static constexpr int dim = Type::dim;
  using list = point_list<real, dim>;
  using at = coordinates<real, dim>;
  using labels = std::vector<std::uint32_t>;

  explicit exact_search(const list& points, const periods& period = {})
      : points_(points), period_(period) {}

  [[nodiscard]] long double distance(const at& query, std::size_t i) const {
    return exact_distance<real, dim>(query, points_[i], period_);
  }

  /// Returns the distance within which a calculated distance of a query may be equal to `right`.
  [[nodiscard]] long double tolerance(const at& query, long double right) const {
    constexpr long double epsilon = std::numeric_limits<real>::epsilon();
    long double reach = 0;
    long double slack = 0;  // of rounded coordinates of images
    for (std::size_t axis = 0; axis < dim; ++axis) {
      for (const auto& p : points_) {
        reach = std::max(reach, std::abs(static_cast<long double>(query[axis]) - p[axis]));
      }
      if (period_[axis] == 0) continue;
      long double most = std::abs(static_cast<long double>(query[axis])) + period_[axis];
      for (const auto& p : points_) most = std::max<long double>(most, std::abs(p[axis]));
      slack += 8 * epsilon * most;
    }
    // The documented loss: squares less than the normal range.
    constexpr int zero =
        (std::numeric_limits<real>::min_exponent - std::numeric_limits<real>::digits) / 2;
    constexpr int range = std::numeric_limits<real>::max_exponent / 2;
    const bool is_plain = reach >= std::ldexp(1.0L, -range + 24);
    slack += is_plain ? std::ldexp(1.0L, zero + 2) : 0;
    return 8 * epsilon * right + slack + std::ldexp(reach, zero - range + 4) +
           std::numeric_limits<real>::denorm_min();
  }

  /// Checks a row of ids and distances, not squared. Returns the first fault, or "".
  [[nodiscard]] std::string check_row(const at& query, std::uint32_t excluded,
                                      const std::uint32_t* ids, const real* distances,
                                      std::size_t k) const {
    std::vector<long double> right;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (i != excluded) right.push_back(distance(query, i));
    }
    std::ranges::sort(right);
    std::vector<std::uint32_t> used;
    for (std::size_t rank = 0; rank < k; ++rank) {
      const std::string of = " of rank " + std::to_string(rank);
      if (rank >= right.size()) {
        if (ids[rank] != ramify::no_neighbor || !std::isinf(distances[rank])) return "end" + of;
        continue;
      }
      if (ids[rank] >= points_.size() || ids[rank] == excluded) return "id" + of;
      if (std::ranges::count(used, ids[rank]) > 0) return "id again" + of;
      used.push_back(ids[rank]);
      const long double own = distance(query, ids[rank]);
      if (!is_equal(query, distances[rank], own)) return "distance to id" + of;
      if (!is_equal(query, distances[rank], right[rank])) return "distance" + of;
    }
    return {};
  }

  /// Returns whether the count of the points in a ball is right, up to those on its surface.
  [[nodiscard]] bool is_count(const at& query, real radius, std::uint32_t count) const {
    std::uint32_t least = 0;
    std::uint32_t most = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const long double d = distance(query, i);
      const long double slack = radius == 0 && !is_periodic() ? 0 : ball_tolerance(query, radius);
      least += d <= radius - slack;
      most += d <= radius + slack;
    }
    return least <= count && count <= most;
  }

  /// Computes the labels of clusters. Returns false if a distance is too close to the radius.
  [[nodiscard]] bool find_labels(real radius, std::uint32_t min_points, labels& found) const {
    const auto n = static_cast<std::uint32_t>(points_.size());
    std::vector<labels> balls(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      for (std::uint32_t j = 0; j < n; ++j) {
        const long double d = distance(points_[i], j);
        if (std::abs(d - radius) <= ball_tolerance(points_[i], radius)) return false;
        if (d <= radius) balls[i].push_back(j);
      }
    }
    const auto is_core = [&](std::uint32_t i) { return balls[i].size() >= min_points; };
    // The least index of a core point in the cluster: repeated minima over neighbors.
    found.assign(n, ramify::no_cluster);
    for (std::uint32_t i = 0; i < n; ++i) {
      if (is_core(i)) found[i] = i;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < n; ++i) {
        for (const std::uint32_t j : balls[i]) {
          if (!is_core(i) || !is_core(j) || found[j] >= found[i]) continue;
          found[i] = found[j];
          changed = true;
        }
      }
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      if (is_core(i)) continue;
      for (const std::uint32_t j : balls[i]) {
        if (is_core(j)) found[i] = std::min(found[i], found[j]);
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool is_periodic() const { return std::ranges::count(period_, 0.0) < 3; }

  /// The tolerance of a comparison with a radius, which loses nothing in a box without periods.
  [[nodiscard]] long double ball_tolerance(const at& query, real radius) const {
    return is_periodic()
               ? tolerance(query, radius)
               : 8 * std::numeric_limits<real>::epsilon() * static_cast<long double>(radius);
  }
  [[nodiscard]] bool is_equal(const at& query, real found, long double right) const {
    if (std::isinf(found)) return right > std::numeric_limits<real>::max();
    return std::abs(found - right) <= tolerance(query, right);
  }

  const list& points_;
  periods period_;
};

}  // namespace tests
