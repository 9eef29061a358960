// SPDX-License-Identifier: BSD-3-Clause
// DBSCAN and k-means by query(), compared with brute force.
#include <boost/test/unit_test.hpp>

#include "brute_clusters.hpp"
#include "spatial/queries/dbscan.cuh"
#include "spatial/queries/k_means.cuh"
#include "spatial_tree_checks.cuh"
#include "spatial_types.hpp"

BOOST_AUTO_TEST_SUITE(spatial_query_examples)

BOOST_AUTO_TEST_CASE(dbscan_equals_brute_force) {
  for (const tests::cloud c : {tests::cloud::filled_box, tests::cloud::duplicates}) {
    const auto points = tests::make_cloud<float, 2>(c, 300, 4);
    const auto on_device = tests::upload_points<float, 2>(points);
    const auto found = tests::zeros<std::uint32_t>(points.size());
    for (const std::uint32_t min_points : {1, 5, 9}) {
      constexpr float radius = 0.15f;
      examples::dbscan(on_device.data(), 300, radius, min_points, found.data());
      const auto expected = tests::all_clusters<tests::f2>(points, radius, min_points);
      BOOST_TEST((tests::download(found) == expected.label));
      BOOST_TEST((c == tests::cloud::duplicates || expected.clusters > 1));
    }
  }
}

/// The indices of the nearest means, and the means, after some iterations by brute force.
struct brute_means {
  std::vector<std::uint32_t> mean_of;
  tests::point_list<float, 3> means;

  brute_means(const tests::point_list<float, 3>& points, tests::point_list<float, 3> begin,
              unsigned iterations)
      : mean_of(points.size()), means(std::move(begin)) {
    for (unsigned i = 0; i < iterations; ++i) {
      std::vector<std::array<double, 4>> sums(means.size());
      for (std::size_t p = 0; p < points.size(); ++p) {
        mean_of[p] =
            tests::all_by_distance<float, 3>(means, points[p], 1, ramify::no_neighbor)[0].second;
        for (std::size_t axis = 0; axis < 3; ++axis) sums[mean_of[p]][axis] += points[p][axis];
        sums[mean_of[p]][3] += 1;
      }
      for (std::size_t m = 0; m < means.size(); ++m) {
        for (std::size_t axis = 0; axis < 3 && sums[m][3] > 0; ++axis) {
          means[m][axis] = static_cast<float>(sums[m][axis] / sums[m][3]);
        }
      }
    }
  }
};

BOOST_AUTO_TEST_CASE(k_means_equals_brute_force) {
  // Sums of these coordinates are exact, in any order.
  auto points = tests::make_cloud<float, 3>(tests::cloud::filled_box, 1'000, 4);
  for (auto& p : points) {
    for (float& x : p) x = std::round(x * 1024) / 1024;
  }
  tests::point_list<float, 3> begin(points.begin(), points.begin() + 20);
  begin[19] = {100, 100, 100};  // a mean without points
  const auto on_device = tests::upload_points<float, 3>(points);
  for (const unsigned iterations : {1, 2, 10}) {
    const auto means = tests::upload_points<float, 3>(begin);
    const auto mean_of = tests::zeros<std::uint32_t>(points.size());
    examples::k_means(on_device.data(), 1'000, means.data(), 20, iterations, mean_of.data());
    const brute_means expected(points, begin, iterations);
    BOOST_TEST((tests::download(mean_of) == expected.mean_of));
    tests::point_list<float, 3> found;
    for (const auto& m : tests::download(means)) found.push_back(tests::coordinates_of(m));
    BOOST_TEST((found == expected.means));
    BOOST_TEST((found != begin));  // negative control
  }
}

BOOST_AUTO_TEST_SUITE_END()
