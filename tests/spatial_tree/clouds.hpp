// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Clouds of points: the usual ones of tests of neighbor searches, and adversarial ones.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <tuple>
#include <vector>

namespace tests {

template <class Real, int dim>
using coordinates = std::array<Real, dim>;
template <class Real, int dim>
using point_list = std::vector<coordinates<Real, dim>>;

enum class cloud {
  filled_box,
  hollow_box,
  filled_sphere,
  hollow_sphere,
  lattice,     ///< many equal distances
  duplicates,  ///< few positions, many points at each
  collinear,
  all_equal,
  /// Clusters within clusters, deeper than the bits of a code. Squares of distances are normal
  /// numbers of float, so brute force in float is right; range_test.cpp has smaller distances.
  nested,
};
inline constexpr cloud all_clouds[] = {
    cloud::filled_box,    cloud::hollow_box, cloud::filled_sphere,
    cloud::hollow_sphere, cloud::lattice,    cloud::duplicates,
    cloud::collinear,     cloud::all_equal,  cloud::nested};

inline std::ostream& operator<<(std::ostream& out, cloud c) {
  constexpr const char* names[] = {"filled box",    "hollow box", "filled sphere",
                                   "hollow sphere", "lattice",    "duplicates",
                                   "collinear",     "all equal",  "nested"};
  return out << names[static_cast<std::size_t>(c)];
}

/// Returns a cloud of n points. The same seed gives the same points.
template <class Real, int dim>
point_list<Real, dim> make_cloud(cloud c, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed * 16 + static_cast<std::uint64_t>(c));
  std::uniform_real_distribution<Real> unit(-1, 1);
  std::normal_distribution<Real> normal;
  const auto edge = static_cast<std::size_t>(std::ceil(std::pow(double(n), 1.0 / dim)));
  const std::size_t sites = n / 20 + 1;

  const auto in_box = [&] {
    coordinates<Real, dim> p;
    for (Real& x : p) x = unit(random);
    return p;
  };
  const auto length = [](const coordinates<Real, dim>& p) {
    Real sum = 0;
    for (const Real x : p) sum += x * x;
    return std::sqrt(sum);
  };
  point_list<Real, dim> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    coordinates<Real, dim> p = in_box();
    switch (c) {
      case cloud::filled_box: break;
      case cloud::hollow_box: p[random() % dim] = random() % 2 == 0 ? Real{-1} : Real{1}; break;
      case cloud::filled_sphere:
        while (length(p) > 1) p = in_box();
        break;
      case cloud::hollow_sphere: {
        for (Real& x : p) x = normal(random);
        const Real r = length(p);
        for (Real& x : p) x /= r;
        break;
      }
      case cloud::lattice: {
        std::size_t rest = i;
        for (Real& x : p) {
          x = static_cast<Real>(rest % edge);
          rest /= edge;
        }
        break;
      }
      case cloud::duplicates: {
        std::mt19937_64 site(random() % sites);
        for (Real& x : p) x = unit(site);
        break;
      }
      case cloud::collinear:
        for (int axis = 1; axis < dim; ++axis) p[std::size_t(axis)] = p[0] / 3 * Real(axis);
        break;
      case cloud::all_equal: p = {Real{0.1}, Real{-7}}; break;
      case cloud::nested: {
        // 2.5 points on each level, so that chains of nodes are long.
        const int level = static_cast<int>(i / 5 * 2);
        for (Real& x : p) x = std::ldexp(x, -(level % 45));
        break;
      }
    }
    points[i] = p;
  }
  return points;
}

/// Returns n queries: every third one is a point of a cloud, the others are random points around
/// the origin. One in `one_in` is far away.
template <class Point>
std::vector<Point> queries_near(const std::vector<Point>& points, std::size_t n,
                                std::size_t one_in) {
  using real = typename Point::value_type;
  auto queries = make_cloud<real, int(std::tuple_size_v<Point>)>(cloud::filled_box, n, 77);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 3 == 0 && !points.empty()) queries[i] = points[i * 7 % points.size()];
    if (i % one_in == 1) {
      for (real& x : queries[i]) x *= 1000;
    }
  }
  return queries;
}

}  // namespace tests
