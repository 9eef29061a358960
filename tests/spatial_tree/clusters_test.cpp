// SPDX-License-Identifier: BSD-3-Clause
// Friends of friends and DBSCAN clusters, through the facade, compared with brute force.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <numeric>
#include <ramify/cpu/executor.hpp>
#include <span>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "brute_clusters.hpp"
#include "brute_force.hpp"
#include "exceptions.hpp"
#include "index_options.hpp"
#include "printing.hpp"
#include "spatial_types.hpp"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using ramify::no_cluster;
using ramify::query_method;
using ramify::route;
using tests::all_clouds;
using tests::cloud;
using tests::environment_for;
using tests::left_out;
using tests::names;
using tests::options_for;
using tests::runs_on_cpu;

namespace {

using tests::all_clusters;
using tests::brute_clusters;
using tests::labels;

/// The algorithm of scikit-learn (dbscan_inner): each core point without a label, in ascending
/// order, gives a new number to all points that it reaches through core points.
template <class Type>
labels labels_of_scikit_learn(const tests::point_list<typename Type::real, Type::dim>& points,
                              typename Type::real radius, std::size_t min_points) {
  const auto ball = [&](std::uint32_t i) {
    return tests::all_within<typename Type::real, Type::dim>(points, points[i], radius);
  };
  labels label(points.size(), no_cluster);
  std::uint32_t clusters = 0;
  for (std::uint32_t first = 0; first < points.size(); ++first) {
    if (label[first] != no_cluster || ball(first).size() < min_points) continue;
    labels stack{first};
    while (!stack.empty()) {
      const std::uint32_t i = stack.back();
      stack.pop_back();
      if (label[i] != no_cluster) continue;
      label[i] = clusters;
      const labels near = ball(i);
      if (near.size() >= min_points) stack.insert(stack.end(), near.begin(), near.end());
    }
    ++clusters;
  }
  return label;
}

/// Returns the labels as numbers 0, 1, 2, ..., in ascending order.
labels numbered(const labels& label) {
  labels distinct = label;
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  labels numbers;
  for (const std::uint32_t l : label) {
    const auto at = std::ranges::lower_bound(distinct, l) - distinct.begin();
    numbers.push_back(l == no_cluster ? no_cluster : static_cast<std::uint32_t>(at));
  }
  return numbers;
}

/// Returns the labels of an index, after a check of the report.
template <class Type>
labels find_labels(const ramify::spatial_index<typename Type::real, Type::dim>& index,
                   typename Type::real radius, std::uint32_t min_points, query_method method,
                   const brute_clusters* expected = nullptr) {
  labels found(index.report().points, 7);
  const std::uint64_t before = ramify::cpu::grids_begun();
  const auto report = index.find_clusters(radius, found, min_points, {.ball_method = method});
  if (runs_on_cpu()) BOOST_TEST(report.host_grids == ramify::cpu::grids_begun() - before);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.ran_on == tests::backend_under_test());
  if (expected != nullptr) {
    BOOST_TEST(report.clusters == expected->clusters);
    BOOST_TEST(report.core_points == expected->core_points);
    BOOST_TEST(report.noise == expected->noise);
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_tree_clusters)

BOOST_AUTO_TEST_CASE_TEMPLATE(clusters_equal_brute_force, Type, tests::spatial_types) {
  using real = typename Type::real;
  int piece = 0;
  for (const cloud c : all_clouds) {
    for (const int n : {0, 1, 40, tests::sampled(300, 120)}) {
      if (left_out(piece)) continue;
      const auto points = tests::make_cloud<real, Type::dim>(c, std::size_t(n), 5);
      const ramify::spatial_index<real, Type::dim> index(points, options_for(), environment_for());
      // In a lattice, balls with radius 1 have points on their surface.
      for (const real radius : {real{0}, real{0.03}, real{0.1}, real{0.4}, real{1},
                                std::numeric_limits<real>::infinity()}) {
        for (const std::uint32_t min_points : {1u, 2u, 4u, 20u, no_cluster}) {
          const auto expected = all_clusters<Type>(points, radius, min_points);
          for (const auto method : {query_method::threads, query_method::packets}) {
            BOOST_TEST_CONTEXT(c << ", n = " << n << ", radius " << radius << ", min_points "
                                 << min_points << ", " << to_string(method)) {
              BOOST_TEST((find_labels<Type>(index, radius, min_points, method, &expected) ==
                          expected.label));
            }
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(numbered_labels_are_those_of_scikit_learn, Type,
                              tests::spatial_types) {
  using real = typename Type::real;
  std::size_t borders = 0;
  for (const cloud c : all_clouds) {
    const auto points = tests::make_cloud<real, Type::dim>(c, 300, 9);
    const ramify::spatial_index<real, Type::dim> index(points, options_for(), environment_for());
    for (const real radius : {real{0.1}, real{0.2}, real{1}}) {
      const labels found = find_labels<Type>(index, radius, 4, query_method::automatic);
      BOOST_TEST_CONTEXT(c << ", radius " << radius) {
        BOOST_TEST((numbered(found) == labels_of_scikit_learn<Type>(points, radius, 4)));
      }
      const auto expected = all_clusters<Type>(points, radius, 4);
      borders += points.size() - expected.core_points - expected.noise;
    }
  }
  BOOST_TEST(borders > 50u);  // the rule for them was tested
}

// Points on a line.
BOOST_AUTO_TEST_CASE(a_border_point_has_the_least_label_of_its_neighbors) {
  using list = tests::point_list<double, 2>;
  const auto line = [](std::initializer_list<double> xs) {
    list points;
    for (const double x : xs) points.push_back({x, 0});
    return points;
  };
  const auto expect = [](const list& points, std::uint32_t min_points, const labels& expected) {
    const ramify::spatial_index<double, 2> index(points, options_for(2), environment_for());
    for (const auto method : {query_method::threads, query_method::packets}) {
      BOOST_TEST((find_labels<tests::d2>(index, 1, min_points, method)) == expected,
                 boost::test_tools::per_element());
    }
  };
  constexpr std::uint32_t none = no_cluster;
  // One cluster, whose ends are border points.
  expect(line({5, 4, 6, 3, 0, 1, 2}), 3, {0, 0, 0, 0, 0, 0, 0});
  // Copies at 0 and 6 make core points of 0, 1, 5 and 6; 3 is noise, 2 and 4 are border points.
  expect(line({3, 6, 6, 6, 5, 4, 0, 0, 0, 1, 2}), 4, {none, 1, 1, 1, 1, 1, 6, 6, 6, 6, 6});
  // The point at 2 is a neighbor of two clusters, in either order of their indices.
  expect(line({2, 3, 0.5, 0.5, 1, 3.5, 3.5}), 4, {1, 1, 4, 4, 4, 1, 1});
  expect(line({2, 1, 0.5, 0.5, 3, 3.5, 3.5}), 4, {1, 1, 1, 1, 4, 4, 4});
  // Friends of friends, and pairs.
  expect(line({5, 1, 0, 9}), 1, {0, 1, 1, 3});
  expect(line({5, 1, 0, 9}), 2, {none, 1, 1, none});
  expect(line({5, 1, 0, 9}), 3, {none, none, none, none});
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  const cloud c = all_clouds[std::size_t(seed) % std::size(all_clouds)];
  const auto points = tests::make_cloud<float, 3>(c, 400, std::uint64_t(seed));
  for (const route taken : {route::device, route::flat}) {
    const ramify::spatial_index<float, 3> index(points, options_for(), environment_for(taken));
    for (const std::uint32_t min_points : {1u, 4u}) {
      const auto expected = all_clusters<tests::f3>(points, 0.15f, min_points);
      for (const auto method : {query_method::threads, query_method::packets}) {
        BOOST_TEST_CONTEXT(c << ", min_points " << min_points << ", " << to_string(method)) {
          BOOST_TEST((find_labels<tests::f3>(index, 0.15f, min_points, method, &expected) ==
                      expected.label));
        }
      }
    }
  }
}

// Long chains of clusters, dense groups of many points, and all blocks at the same time.
BOOST_AUTO_TEST_CASE(large_clouds_have_the_same_clusters_on_every_route_and_backend) {
  const auto n = static_cast<std::size_t>(tests::cut_down(20'000, 5'000));
  for (const cloud c : {cloud::filled_box, cloud::collinear, cloud::duplicates, cloud::nested}) {
    const auto points = tests::make_cloud<float, 3>(c, n, 5);
    for (const std::uint32_t min_points : {1u, 6u}) {
      labels expected;
      for (const route taken : {route::device, route::flat}) {
        for (const auto backend : {tests::backend_under_test(), ramify::backend::cpu}) {
          const ramify::spatial_index<float, 3> index(points, options_for(16),
                                                      {.backend = backend, .route = taken});
          labels found(n);
          (void)index.find_clusters(0.06f, found, min_points);
          if (expected.empty()) expected = found;
          BOOST_TEST_CONTEXT(c << ", min_points " << min_points) {
            BOOST_TEST((found == expected));
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named_before_anything_is_written) {
  const auto points = tests::make_cloud<float, 3>(cloud::filled_box, 100, 7);
  const ramify::spatial_index<float, 3> index(points, options_for(), environment_for());
  labels found(101, 7);
  const std::span<std::uint32_t> hundred = std::span(found).first(100);
  const auto expect = [&](float radius, std::span<std::uint32_t> to, std::uint32_t min_points,
                          query_method method, const char* what) {
    BOOST_CHECK_EXCEPTION(
        (void)index.find_clusters(radius, to, min_points, {.ball_method = method}),
        std::invalid_argument, names(what));
  };
  constexpr auto automatic = query_method::automatic;
  expect(-1, hundred, 1, automatic, "find_clusters: radius is -1");
  expect(std::numeric_limits<float>::quiet_NaN(), hundred, 1, automatic, "radius is nan");
  expect(1, found, 1, automatic, "labels has 101");
  expect(1, hundred, 0, automatic, "find_clusters: min_points is 0; it must be 1 or more");
  expect(1, hundred, 1, query_method(7), "spatial_query_options.ball_method");
  BOOST_TEST((found == labels(101, 7)));
}

// The negative control: brute force detects other labels, and depends on its parameters.
BOOST_AUTO_TEST_CASE(brute_force_detects_wrong_labels) {
  const auto points = tests::make_cloud<float, 2>(cloud::filled_box, 200, 8);
  const ramify::spatial_index<float, 2> index(points, options_for(), environment_for());
  const auto expected = all_clusters<tests::f2>(points, 0.15f, 4);
  const labels found = find_labels<tests::f2>(index, 0.15f, 4, query_method::automatic, &expected);
  BOOST_TEST((found == expected.label));
  BOOST_TEST(expected.clusters > 2u);
  BOOST_TEST(expected.noise > 0u);
  BOOST_TEST(expected.core_points + expected.noise < points.size());
  BOOST_TEST((found != all_clusters<tests::f2>(points, 0.15f, 5).label));
  BOOST_TEST((found != all_clusters<tests::f2>(points, 0.14f, 4).label));
  BOOST_TEST((found != find_labels<tests::f2>(index, 0.15f, 1, query_method::automatic)));
}

BOOST_AUTO_TEST_SUITE_END()
