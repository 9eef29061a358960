// SPDX-License-Identifier: BSD-3-Clause
// Points, queries and radii whose squared distances leave the range of their type, through the
// facade.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "effort.hpp"
#include "exact_search.hpp"
#include "index_options.hpp"
#include "spatial_types.hpp"

using ramify::query_method;
using ramify::route;
using tests::cloud;
using tests::environment_for;
using tests::options_for;

namespace {

using ids = std::vector<std::uint32_t>;

/// The results of all kinds of queries for one cloud, with distances that are not squared.
template <class Type>
struct all_results {
  using real = typename Type::real;
  using list = tests::point_list<real, Type::dim>;

  ids nearest, counts, labels;
  std::vector<real> distances;

  all_results(const list& points, const list& queries, std::size_t k, real radius,
              std::uint32_t min_points, const tests::periods& period = {},
              query_method method = query_method::automatic)
      : nearest(queries.size() * k),
        counts(queries.size()),
        labels(points.size()),
        distances(nearest.size()) {
    const ramify::spatial_index<real, Type::dim> index(points, options_for(3), environment_for());
    const ramify::spatial_query_options options{
        .ball_method = method, .period = period, .squared = false};
    (void)index.nearest(queries, k, nearest, distances, options);
    (void)index.radius_count(queries, radius, counts, options);
    (void)index.find_clusters(radius, labels, min_points, options);
    const auto lists = index.radius_list(queries, radius, options);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      BOOST_TEST(lists.offsets[q + 1] - lists.offsets[q] == counts[q]);
    }
  }
};

template <class Type>
tests::point_list<typename Type::real, Type::dim> line(std::vector<typename Type::real> xs) {
  tests::point_list<typename Type::real, Type::dim> points;
  for (const auto x : xs) points.push_back({x});
  return points;
}

/// Returns a number with a random mantissa and an exponent in [least, greatest].
template <class Real>
Real random_number(std::mt19937_64& random, int least, int greatest) {
  const int exponent = std::uniform_int_distribution<int>(least, greatest)(random);
  return std::ldexp(std::uniform_real_distribution<Real>(-1, 1)(random), exponent);
}

/// Compares the results for random points of many magnitudes with brute force in long double.
template <class Type>
void try_random_magnitudes(std::uint64_t seed) {
  using real = typename Type::real;
  using limits = std::numeric_limits<real>;
  std::mt19937_64 random(seed);
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  const auto n = static_cast<std::size_t>(1 + upto(40));
  // The points have one magnitude, or differ by many.
  const int greatest = limits::min_exponent + upto(limits::max_exponent - limits::min_exponent);
  const int least = upto(2) > 0 ? greatest : greatest - upto(limits::max_exponent * 3 / 4);
  const auto some_point = [&](int low, int high) {
    tests::coordinates<real, Type::dim> p{};
    for (real& x : p) x = upto(9) == 0 ? real{0} : random_number<real>(random, low, high);
    return p;
  };
  typename all_results<Type>::list points(n);
  for (auto& p : points) p = some_point(least, greatest);
  if (n > 3) points[n / 2] = points[n / 3];
  // Queries: points, others of the same magnitude, and of any magnitude.
  auto queries = points;
  for (int i = 0; i < 6; ++i) queries.push_back(some_point(least, greatest));
  for (int i = 0; i < 3; ++i)
    queries.push_back(some_point(limits::min_exponent, limits::max_exponent));
  const tests::exact_search<Type> search(points);
  real radius = static_cast<real>(
      search.distance(queries[std::size_t(upto(int(n)))], std::size_t(upto(int(n) - 1))) *
      (1.001L - upto(1) * 0.002L));
  if (upto(7) == 0) radius = 0;
  const auto k = static_cast<std::size_t>(1 + upto(11));
  const auto min_points = static_cast<std::uint32_t>(1 + upto(3));
  const auto method = upto(1) == 0 ? query_method::threads : query_method::packets;
  const all_results<Type> found(points, queries, k, radius, min_points, {}, method);
  BOOST_TEST_CONTEXT("seed " << seed << ", exponents " << least << " to " << greatest) {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      BOOST_TEST(search.check_row(queries[q], ramify::no_neighbor, &found.nearest[q * k],
                                  &found.distances[q * k], k) == "");
      BOOST_TEST(search.is_count(queries[q], radius, found.counts[q]));
    }
    ids expected;
    if (search.find_labels(radius, min_points, expected)) BOOST_TEST(found.labels == expected);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_tree_range)

// Distances between galaxies in meters: the squares are greater than any float.
BOOST_AUTO_TEST_CASE(large_distances_have_the_right_neighbors_balls_and_clusters) {
  const auto points = line<tests::f3>({0, 4e20f, 9e20f});
  const all_results<tests::f3> found(points, points, 2, 5e19f, 1);
  BOOST_TEST(found.nearest == (ids{0, 1, 1, 0, 2, 1}));
  BOOST_TEST(found.distances == (std::vector<float>{0, 4e20f, 0, 4e20f, 0, 9e20f - 4e20f}));
  BOOST_TEST(found.counts == (ids{1, 1, 1}));
  BOOST_TEST(found.labels == (ids{0, 1, 2}));
  const all_results<tests::f3> linked(points, points, 1, 4e20f, 1);
  BOOST_TEST(linked.counts == (ids{2, 2, 1}));
  BOOST_TEST(linked.labels == (ids{0, 0, 2}));
}

BOOST_AUTO_TEST_CASE(squares_out_of_range_become_infinity_and_zero_in_the_right_order) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double unit : {1e200, 1e-200}) {
    const auto points = line<tests::d2>({0, -3 * unit, 2 * unit});
    const ramify::spatial_index<double, 2> index(points, options_for(), environment_for());
    ids nearest(3);
    std::vector<double> distances(3);
    (void)index.nearest(line<tests::d2>({0}), 3, nearest, distances);
    BOOST_TEST(nearest == (ids{0, 2, 1}));
    const double square = unit > 1 ? infinity : 0;
    BOOST_TEST(distances == (std::vector<double>{0, square, square}));
    (void)index.nearest(line<tests::d2>({0}), 3, nearest, distances, {.squared = false});
    BOOST_TEST(nearest == (ids{0, 2, 1}));
    BOOST_TEST(distances == (std::vector<double>{0, 2 * unit, 3 * unit}));
  }
}

BOOST_AUTO_TEST_CASE(small_distances_have_the_right_neighbors_balls_and_clusters) {
  // Also beside a point at an ordinary distance.
  for (const float other : {0.f, 1.f, -1e5f}) {
    const auto points = line<tests::f2>({0, 1e-30f, 3e-30f, other});
    const all_results<tests::f2> found(points, points, 3, 1.5e-30f, 1);
    const auto row = std::vector<float>(found.distances.begin() + 6, found.distances.end() - 3);
    if (other != 0) {
      BOOST_TEST(found.nearest == (ids{0, 1, 2, 1, 0, 2, 2, 1, 0, 3, 0, 1}));
      BOOST_TEST(row == (std::vector<float>{0, 3e-30f - 1e-30f, 3e-30f}));
    }
    BOOST_TEST(found.counts == (other == 0 ? ids{3, 3, 1, 3} : ids{2, 2, 1, 1}));
    BOOST_TEST(found.labels == (other == 0 ? ids{0, 0, 2, 0} : ids{0, 0, 2, 3}));
  }
  // Different points are not equal, whatever their distance is.
  constexpr float least = std::numeric_limits<float>::denorm_min();
  const auto points = line<tests::f2>({0, least, 1, 1});
  const all_results<tests::f2> found(points, points, 1, 0, 1);
  BOOST_TEST(found.counts == (ids{1, 1, 2, 2}));
  BOOST_TEST(found.labels == (ids{0, 1, 2, 2}));
}

// The coordinates of the greatest numbers: their differences overflow, too.
BOOST_AUTO_TEST_CASE_TEMPLATE(greatest_coordinates_have_the_right_neighbors, Type,
                              tests::spatial_types) {
  using real = typename Type::real;
  constexpr real most = std::numeric_limits<real>::max();
  const auto points = line<Type>({-most, most, 0, most / 2, -most / 4});
  const all_results<Type> found(points, points, 5, most / 2, 1);
  BOOST_TEST(found.nearest == (ids{0, 4, 2, 3, 1, 1, 3, 2, 4, 0, 2, 4, 3, 0, 1,  //
                                   3, 1, 2, 4, 0, 4, 2, 0, 3, 1}));
  BOOST_TEST(found.counts == (ids{1, 2, 3, 3, 2}));
  BOOST_TEST(found.labels == (ids{0, 1, 1, 1, 1}));
  BOOST_TEST(found.distances[1] == most / 4 * 3);
  BOOST_TEST(found.distances[4] == std::numeric_limits<real>::infinity());  // 2 most
}

BOOST_AUTO_TEST_CASE(queries_far_from_the_points) {
  const auto points = line<tests::f3>({0, 1, 1 + 1e-6f});
  const auto queries = line<tests::f3>({1e30f, 1, -3e38f, 5e18f});
  const all_results<tests::f3> found(points, queries, 3, 2e30f, 1);
  // Rounded to float, all distances of the far queries are equal.
  BOOST_TEST(found.nearest == (ids{0, 1, 2, 1, 2, 0, 0, 1, 2, 0, 1, 2}));
  BOOST_TEST(found.distances == (std::vector<float>{1e30f, 1e30f, 1e30f, 0, (1 + 1e-6f) - 1, 1,
                                                    3e38f, 3e38f, 3e38f, 5e18f, 5e18f, 5e18f}));
  BOOST_TEST(found.counts == (ids{3, 3, 0, 3}));
  BOOST_TEST((all_results<tests::f3>(points, queries, 1, 5e-7f, 1).counts == ids{0, 1, 0, 0}));
  BOOST_TEST((all_results<tests::f3>(points, queries, 1, 9e29f, 1).counts == ids{0, 3, 0, 3}));
}

// A power of two changes no result, also where the squares are out of range.
BOOST_AUTO_TEST_CASE_TEMPLATE(scaled_points_have_scaled_results, Type, tests::spatial_types) {
  using real = typename Type::real;
  using limits = std::numeric_limits<real>;
  for (const cloud c : {cloud::filled_box, cloud::lattice, cloud::duplicates}) {
    const auto points = tests::make_cloud<real, Type::dim>(c, 60, 4);
    const auto queries = tests::queries_near(points, 20, 3);
    const real radius = c == cloud::lattice ? real{1} : real{0.3};
    const all_results<Type> base(points, queries, 7, radius, 3);
    for (const int exponent : {limits::min_exponent + 2 * limits::digits, limits::min_exponent / 2,
                               limits::max_exponent / 2, limits::max_exponent - 16}) {
      const auto scaled = [&](auto list) {
        for (auto& p : list) {
          for (real& x : p) x = std::ldexp(x, exponent);
        }
        return list;
      };
      const all_results<Type> found(scaled(points), scaled(queries), 7,
                                    std::ldexp(radius, exponent), 3);
      BOOST_TEST_CONTEXT(c << ", exponent " << exponent) {
        BOOST_TEST(found.nearest == base.nearest);
        BOOST_TEST(found.counts == base.counts);
        BOOST_TEST(found.labels == base.labels);
        for (std::size_t i = 0; i < found.distances.size(); ++i) {
          BOOST_TEST(found.distances[i] == std::ldexp(base.distances[i], exponent));
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE_TEMPLATE(random_magnitudes_equal_brute_force_in_long_double, Type,
                              tests::spatial_types) {
  for (int i = 0; i < tests::sampled(6'000, 60); ++i) {
    try_random_magnitudes<Type>(std::uint64_t(i));
  }
}

BOOST_AUTO_TEST_SUITE_END()
