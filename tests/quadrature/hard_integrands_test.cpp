// SPDX-License-Identifier: BSD-3-Clause
// quadrature() with integrands that its rules do not see: ridges, kinks and holes between the
// points; with values and domains at the limits of double; and with more memory than at its begin.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <ramify/quadrature.cuh>

#include "memory_resources.cuh"
#include "printing.hpp"
#include "quadrature_checks.cuh"
#include "quadrature_members.cuh"

namespace data = boost::unit_test::data;
using namespace tests;

BOOST_AUTO_TEST_SUITE(quadratures)

template <unsigned d>
quadrature_box<d> cube_around_0(double half) {
  quadrature_box<d> cube{};
  std::fill(cube.low, cube.low + d, -half);
  std::fill(cube.high, cube.high + d, half);
  return cube;
}

/// Integrates, and checks that the result has converged and is within the tolerance.
template <unsigned d, class Integrand>
void expect_right(const quadrature_box<d>& box, const Integrand& f, double exact, double tolerance,
                  std::size_t max_evaluations = 10'000'000) {
  const auto found =
      integrate(box, f, {.relative_tolerance = tolerance, .max_evaluations = max_evaluations});
  BOOST_TEST(found.converged());
  expect_honest(found, exact, tolerance * exact);
}

// The points of many regions all miss the ridge. Exact: the density of the distance from the plane
// is (length of the axis) * (length - |u|) for x - y, and 2 - |u| for x + y; times a Gaussian.
BOOST_AUTO_TEST_CASE(a_ridge_between_the_points_is_found) {
  const double root = std::sqrt(2 * std::numbers::pi);
  const double k = std::sqrt(20);
  expect_right(cube_around_0<3>(10), ridge<3>{k, {1, -1, 0}}, 20 * (20 * root / k - 2 / (k * k)),
               1e-2);
  expect_right(cube_around_0<2>(1), ridge<2>{40, {1, 1}}, 2 * root / 40 - 2.0 / 1600, 1e-2);
}

// Millions of evaluations. Exact: the density of x + y + z on [-1, 1]^3 is 3 - u^2 for |u| < 1; and
// the integral of the largest of three by a nested integration with all kinks as bounds, in SciPy.
BOOST_AUTO_TEST_CASE(ridges_and_kinks_with_more_digits_are_right,
                     *boost::unit_test::precondition(seeds_are_given)) {
  const double root = std::sqrt(2 * std::numbers::pi);
  expect_right(cube_around_0<3>(1), ridge<3>{40, {1, 1, 1}}, root / 40 * (3 - 1.0 / 1600), 1e-2);
  const double k = std::sqrt(20);
  expect_right(cube_around_0<3>(10), ridge<3>{k, {1, -1, 0}}, 20 * (20 * root / k - 2 / (k * k)),
               1e-4);
  const double largest = 0.728737532479605;
  expect_right(unit_cube<2>(), largest_of_three{}, largest, 1e-8);
  // A kink that cuts off a corner between the points stays unseen: the error is over the bound.
  const auto found = integrate(unit_cube<2>(), largest_of_three{},
                               {.relative_tolerance = 1e-10, .max_evaluations = 30'000'000});
  BOOST_TEST(std::fabs(found.value - largest) < 2e-10);
}

// Of these members, the first region sees only zeros in four.
BOOST_AUTO_TEST_CASE(few_results_are_wrong_in_a_sample_of_members) {
  member_counts counts;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    count_member<2>(member_family::discontinuous, seed, 6'000, counts);
  }
  BOOST_TEST(counts.converged > 0u);
  BOOST_TEST(counts.wrong <= 1u);
}

BOOST_DATA_TEST_CASE(a_check_finds_what_the_rule_misses, data::make(routes) * data::xrange(4),
                     taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const auto peak = integrate(unit_cube<2>(), hidden_peak{1e4}, {}, {.route = taken}, bounds);
  BOOST_TEST(peak.converged());
  BOOST_TEST(std::fabs(peak.value - 2) < 2e-6);
  BOOST_TEST(peak.report.check_evaluations > 1'024u);
  const auto hole = integrate(unit_cube<2>(), hidden_hole{}, {}, {.route = taken}, bounds);
  BOOST_TEST(to_string(hole.status) == "not_finite");
  BOOST_TEST(hole.evaluations == 21u + 1'024u);
  BOOST_TEST(std::isnan(hidden_hole{}({{hole.not_finite_at[0], hole.not_finite_at[1]}})));
  // A check evaluates no more points than max_evaluations leaves.
  const auto few =
      integrate(unit_cube<2>(), constant{1}, {.max_evaluations = 60}, {.route = taken}, bounds);
  BOOST_TEST(few.converged());
  BOOST_TEST(few.report.check_evaluations == 39u);
}

BOOST_DATA_TEST_CASE(finite_values_and_domains_of_any_size_are_right, data::make(routes), taken) {
  const auto expect = [&](const auto& box, double value, double exact) {
    const auto found = integrate(box, constant{value}, {}, {.route = taken});
    BOOST_TEST(found.converged());
    BOOST_TEST(found.value == exact, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(found.error <= 1e-6 * exact);
  };
  expect(unit_cube<2>(), DBL_MAX, DBL_MAX);
  expect(unit_cube<3>(), 1e308, 1e308);
  expect(unit_cube<8>(), DBL_MAX, DBL_MAX);
  expect(unit_cube<2>(), 1e-310, 1e-310);
  expect(quadrature_box<2>{{0, 0}, {1e200, 1e200}}, 1e-250, 1e150);
  expect(quadrature_box<2>{{0, 0}, {1e-200, 1e-200}}, 1e300, 1e-100);
  expect(quadrature_box<1>{{0}, {1e-300}}, 1e308, 1e8);
  // The sums over the regions of either sign overflow; the integral of x is 0 + 3/2 * 10^308.
  const auto line = integrate(quadrature_box<1>{{-1e154}, {2e154}}, monomial<1>{{1}},
                              {.min_evaluations = 1'000}, {.route = taken});
  BOOST_TEST(line.converged());
  BOOST_TEST(line.value == 1.5e308, boost::test_tools::tolerance(1e-12));
}

BOOST_DATA_TEST_CASE(an_integral_out_of_range_is_named, data::make(routes), taken) {
  const auto status_of = [&](const auto& box, double value, double absolute) {
    const auto found =
        integrate(box, constant{value},
                  {.absolute_tolerance = absolute, .relative_tolerance = 1e-6}, {.route = taken});
    BOOST_TEST(std::isinf(found.error) == !found.converged());
    return std::string(to_string(found.status));
  };
  const quadrature_box<2> large{{0, 0}, {1e200, 1e200}};
  const quadrature_box<2> small{{0, 0}, {1e-200, 1e-200}};
  BOOST_TEST(status_of(large, 1, 0) == "out_of_range");
  BOOST_TEST(status_of(quadrature_box<2>{{0, 0}, {1e10, 1}}, 1e300, 0) == "out_of_range");
  BOOST_TEST(status_of(small, 1, 0) == "out_of_range");
  BOOST_TEST(status_of(small, 1, 1e-9) == "converged");  // 0 is within the tolerance
}

BOOST_DATA_TEST_CASE(memory_grows_with_the_regions, data::make(routes) * data::xrange(4), taken,
                     sizes) {
  const auto f = random_genz(genz_family::c0, 2, 3, 8.0);
  const auto run = [&](unsigned first_regions) {
    round_bounds bounds = sizes_of_rounds[sizes];
    bounds.first_regions = first_regions;
    return integrate(unit_cube<2>(), genz_function<2>(f), {.relative_tolerance = 1e-3},
                     {.route = taken}, bounds);
  };
  const auto whole = run(1u << 18);
  BOOST_TEST(whole.regions > 32u);
  for (const unsigned first : {1u, 7u, 32u}) {
    const auto grown = run(first);
    BOOST_TEST(grown.converged());
    BOOST_TEST(grown.value == whole.value);
    BOOST_TEST(grown.error == whole.error);
    BOOST_TEST(grown.evaluations == whole.evaluations);
    BOOST_TEST(grown.report.rounds == whole.report.rounds);
    BOOST_TEST(grown.report.scratch_bytes < whole.report.scratch_bytes);
  }
}

BOOST_DATA_TEST_CASE(memory_of_a_resource_grows_while_it_has_some, data::make(routes), taken) {
  const auto f = random_genz(genz_family::c0, 2, 3, 8.0);
  const auto run = [&](const ramify::memory_ref& memory) {
    return integrate(unit_cube<2>(), genz_function<2>(f), {.relative_tolerance = 1e-3},
                     {.memory = memory, .route = taken}, {.first_regions = 7});
  };
  const auto expected = run({});
  tests::allocating_resource enough{.most = 9};
  const auto found = run(enough);
  BOOST_TEST(found.converged());
  BOOST_TEST(found.value == expected.value);
  BOOST_TEST(found.error == expected.error);
  BOOST_TEST(found.report.scratch_bytes == expected.report.scratch_bytes);
  BOOST_TEST(enough.allocations > 2u);  // it has grown
  BOOST_TEST(enough.in_use == 0u);

  tests::allocating_resource few{.most = 2};  // for the state, and for the first regions
  const auto ended = run(few);
  BOOST_TEST(to_string(ended.status) == "out_of_memory");
  BOOST_TEST(ended.regions <= 7u);
  BOOST_TEST(std::fabs(ended.value - exact_integral(f)) <= ended.error);
  BOOST_TEST(few.in_use == 0u);
}

BOOST_AUTO_TEST_CASE(memory_does_not_follow_the_limit_of_evaluations) {
  const auto found = integrate(unit_cube<3>(), constant{1}, {.max_evaluations = 10'000'000'000});
  BOOST_TEST(found.converged());
  BOOST_TEST(found.report.scratch_bytes < 50u << 20);
}

BOOST_AUTO_TEST_SUITE_END()
