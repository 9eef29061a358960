// SPDX-License-Identifier: BSD-3-Clause
// Queries in periodic boxes, through the facade, compared with brute force in long double.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "effort.hpp"
#include "exact_search.hpp"
#include "exceptions.hpp"
#include "index_options.hpp"
#include "spatial_types.hpp"

using ramify::query_method;
using ramify::route;
using tests::environment_for;
using tests::names;
using tests::options_for;

namespace {

using ids = std::vector<std::uint32_t>;

/// Compares the results for random points of a box, of which some axes are periodic.
template <class Type>
void try_random_box(std::uint64_t seed) {
  using real = typename Type::real;
  constexpr std::size_t dim = Type::dim;
  using list = tests::point_list<real, Type::dim>;
  std::mt19937_64 random(seed);
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  std::uniform_real_distribution<real> unit(0, 1);
  // The unit of length is 1, or any power of two.
  constexpr int most = std::numeric_limits<real>::max_exponent - 20;
  const int exponent = upto(1) == 0 ? 0 : upto(2 * most) - most;
  tests::periods period{};
  std::array<real, dim> lower{};
  std::array<real, dim> edge{};
  for (std::size_t axis = 0; axis < dim; ++axis) {
    edge[axis] = std::ldexp(real{0.5} + unit(random), exponent);
    lower[axis] = upto(1) == 0 ? 0 : -edge[axis] / 2;
    if (upto(3) > 0) period[axis] = edge[axis];
  }
  const auto n = static_cast<std::size_t>(1 + upto(60));
  const auto some_point = [&](int boxes) {
    tests::coordinates<real, Type::dim> p{};
    for (std::size_t axis = 0; axis < dim; ++axis) {
      p[axis] = lower[axis] + edge[axis] * (unit(random) + real(upto(2 * boxes) - boxes));
    }
    return p;
  };
  list points(n);
  for (auto& p : points) p = some_point(0);
  list queries = points;
  for (int i = 0; i < 9; ++i) queries.push_back(some_point(i));
  const auto k = static_cast<std::size_t>(1 + upto(70));
  const real radius = std::ldexp(unit(random) * unit(random), exponent);
  const auto min_points = static_cast<std::uint32_t>(1 + upto(3));
  const ramify::spatial_index<real, Type::dim> index(points, options_for(3), environment_for());
  const ramify::spatial_query_options options{
      .ball_method = upto(1) == 0 ? query_method::threads : query_method::packets,
      .period = period,
      .squared = false};
  const tests::exact_search<Type> search(points, period);
  BOOST_TEST_CONTEXT("seed " << seed) {
    ids nearest(queries.size() * k);
    std::vector<real> distances(nearest.size());
    ids counts(queries.size());
    (void)index.nearest(queries, k, nearest, distances, options);
    (void)index.radius_count(queries, radius, counts, options);
    const auto lists = index.radius_list(queries, radius, options);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      BOOST_TEST(search.check_row(queries[q], ramify::no_neighbor, &nearest[q * k],
                                  &distances[q * k], k) == "");
      BOOST_TEST(search.is_count(queries[q], radius, counts[q]));
      BOOST_TEST(lists.offsets[q + 1] - lists.offsets[q] == counts[q]);
    }
    ids labels(n);
    (void)index.find_clusters(radius, labels, min_points, options);
    ids expected;
    if (search.find_labels(radius, min_points, expected)) BOOST_TEST(labels == expected);
  }
}

/// Returns the points of a lattice with distance 1 in a box with `edge` points along each axis.
template <class Type>
tests::point_list<typename Type::real, Type::dim> lattice(unsigned edge) {
  tests::point_list<typename Type::real, Type::dim> points;
  const unsigned layers = Type::dim == 3 ? edge : 1;
  for (unsigned z = 0; z < layers; ++z) {
    for (unsigned y = 0; y < edge; ++y) {
      for (unsigned x = 0; x < edge; ++x) {
        auto& p = points.emplace_back();
        p[0] = static_cast<typename Type::real>(x);
        p[1] = static_cast<typename Type::real>(y);
        p[Type::dim - 1] = static_cast<typename Type::real>(Type::dim == 3 ? z : y);
      }
    }
  }
  return points;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spatial_tree_period)

// In a periodic lattice all points have the same surroundings.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_lattice_has_no_edge, Type, tests::spatial_types) {
  using real = typename Type::real;
  constexpr int dim = Type::dim;
  const auto points = lattice<Type>(6);
  const ramify::spatial_index<real, dim> index(points, options_for(5), environment_for());
  for (const auto method : {query_method::threads, query_method::packets}) {
    ramify::spatial_query_options options{.ball_method = method,
                                          .period = {6, 6, dim == 3 ? 6. : 0}};
    ids counts(points.size());
    // Radius 3 is half of the period: a point at this distance has two nearest images.
    const std::vector<std::pair<real, std::uint32_t>> cases{
        {real{0.9}, 1},
        {real{1}, 2 * dim + 1},
        {real{1.5}, dim == 2 ? 9 : 19},
        {real{3}, dim == 2 ? 27 : 120},
        {real{9}, static_cast<std::uint32_t>(points.size())}};
    for (const auto& [radius, expected] : cases) {
      (void)index.radius_count(points, radius, counts, options);
      BOOST_TEST(counts == ids(points.size(), expected), boost::test_tools::per_element());
    }
    // All neighbors at distance 1.
    const std::size_t k = 2 * dim;
    ids nearest(points.size() * k);
    std::vector<real> distances(nearest.size());
    (void)index.all_nearest_neighbors(k, true, nearest, distances, options);
    BOOST_TEST(distances == std::vector<real>(distances.size(), 1),
               boost::test_tools::per_element());
    // Point 0 at the corner, and its neighbors across the faces.
    ids of_corner(nearest.begin(), nearest.begin() + std::ptrdiff_t(k));
    BOOST_TEST(of_corner == (dim == 2 ? ids{1, 5, 6, 30} : ids{1, 5, 6, 30, 36, 180}));
  }
}

BOOST_AUTO_TEST_CASE(clusters_and_rows_join_across_a_face) {
  using point = std::array<double, 2>;
  const std::vector<point> points{{0.05, 0.5}, {0.95, 0.5}, {0.5, 0.02}, {0.5, 0.98}};
  const ramify::spatial_index<double, 2> index(points, options_for(1), environment_for());
  ids labels(4);
  const auto expect = [&](const tests::periods& period, const ids& expected) {
    (void)index.find_clusters(0.11, labels, 1, {.period = period});
    BOOST_TEST(labels == expected);
  };
  expect({}, {0, 1, 2, 3});
  expect({1, 1}, {0, 0, 2, 2});
  expect({1, 0}, {0, 0, 2, 3});
  expect({0, 1}, {0, 1, 2, 2});
  // A query outside of the box is at the place of its image.
  ids rows(3), counts(1);
  (void)index.radius_rows(std::vector<point>{{-7.02, 12.5}}, 0.1, 3, rows, counts,
                          {.period = {1, 1}});
  BOOST_TEST(counts[0] == 2u);
  std::ranges::sort(rows);
  BOOST_TEST(rows == (ids{0, 1, ramify::no_neighbor}));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE_TEMPLATE(random_boxes_equal_brute_force_in_long_double, Type,
                              tests::spatial_types) {
  for (int i = 0; i < tests::sampled(1'500, 40); ++i) try_random_box<Type>(std::uint64_t(i));
}

BOOST_AUTO_TEST_CASE(bad_periods_are_named_before_anything_is_written) {
  const std::vector<std::array<float, 2>> points{{0, 0}, {1.5f, 1}};
  const ramify::spatial_index<float, 2> index(points, options_for(), environment_for());
  ids found(2, 7);
  std::vector<float> distances(2, 7);
  const auto expect = [&](const tests::periods& period, const char* what) {
    const ramify::spatial_query_options options{.period = period};
    BOOST_CHECK_EXCEPTION((void)index.radius_count(points, 1, found, options),
                          std::invalid_argument, names(what));
    BOOST_CHECK_EXCEPTION((void)index.nearest(points, 1, found, distances, options),
                          std::invalid_argument, names(what));
    BOOST_CHECK_EXCEPTION((void)index.find_clusters(1, found, 1, {.period = period}),
                          std::invalid_argument, names(what));
  };
  expect({-1, 0, 0}, "period[0] is -1; it must be 0 or in [");
  expect({0, std::numeric_limits<double>::infinity(), 0}, "period[1] is inf; it must be");
  expect({std::numeric_limits<double>::quiet_NaN(), 0, 0}, "period[0] is nan; it must be");
  expect({1e-60, 0, 0}, "period[0] is 1e-60; it must be");
  expect({2, 2, 2}, "period[2] is 2; it must be 0, because the points have 2 dimensions");
  expect({1, 0, 0}, "period[0] is 1; the points must not extend over more along this axis");
  BOOST_TEST(found == ids(2, 7));
  BOOST_TEST(distances == std::vector<float>(2, 7));
}

BOOST_AUTO_TEST_SUITE_END()
