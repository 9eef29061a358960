// SPDX-License-Identifier: BSD-3-Clause
// The degrees and the errors of the rules that quadrature() evaluates, with polynomials.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <ramify/quadrature.cuh>
#include <vector>

#include "quadrature_checks.cuh"
#include "rule_checks.cuh"

using namespace tests;

BOOST_AUTO_TEST_SUITE(quadratures)

/// Checks that the rule integrates `f` over one region with a relative error of at most `most`.
template <unsigned d>
void expect_exact(const monomial<d>& f, double most) {
  quadrature_box<d> box{};
  for (unsigned i = 0; i < d; ++i) {
    box.low[i] = -0.5 - i;
    box.high[i] = 1.5 + i;
  }
  // Only the first region is evaluated.
  const auto found = integrate(box, f, {.max_evaluations = ramify::quadrature_points(d)});
  const double exact = f.integral(box);
  BOOST_TEST(std::fabs(found.value - exact) <= most * std::fabs(exact));
}

// Each rule is exact for polynomials of its degree, and not for the next degree. A wrong weight or
// point of any rule fails here.
BOOST_AUTO_TEST_CASE(all_embedded_rules_have_their_degrees) {
  expect_degrees<1>({31, 19}, 1e-12, {{0}, {1}, {2}, {8}, {18}, {19}, {20}, {30}, {31}, {32}});
  const std::vector<std::vector<int>> exponents{
      {},     {1},       {2},    {3, 1}, {4},    {2, 2},    {1, 2, 2},    {6},
      {4, 2}, {2, 2, 2}, {5, 2}, {8},    {6, 2}, {4, 4},    {4, 2, 2},    {2, 2, 2, 2},
      {8, 1}, {4, 5},    {10},   {8, 2}, {6, 4}, {2, 6, 2}, {4, 2, 2, 2}, {2, 1, 1, 4, 1}};
  expect_degrees<2>({7, 5}, 1e-4, exponents);
  const std::vector<int> degrees{9, 7, 5, 3};
  expect_degrees<3>(degrees, 1e-4, exponents);
  expect_degrees<4>(degrees, 1e-4, exponents);
  expect_degrees<5>(degrees, 1e-4, exponents);
  expect_degrees<6>(degrees, 1e-4, exponents);
  expect_degrees<7>(degrees, 1e-4, exponents);
  expect_degrees<8>(degrees, 1e-4, exponents);
}

// With a large fourth power the differences of the rules decrease with their degrees: the integrand
// is smooth on the scale of the region, and its error is that of the rule of degree 7. Otherwise
// the error is at least that of the rule of degree 5.
BOOST_AUTO_TEST_CASE(errors_are_those_of_the_embedded_rules) {
  const quadrature_box<3> box{{-1, -1, -1}, {1, 1, 1}};
  const auto error_of = [&](const monomial<3>& f, double fourth_power) {
    return integrate(box, with_fourth_power{f, fourth_power}, {.max_evaluations = 77}).error;
  };
  for (const auto& f : {monomial<3>{{0, 0, 0}}, {{2, 2, 0}}, {{4, 0, 0}}}) {
    BOOST_TEST(error_of(f, 0) < 1e-11);
  }
  for (const auto& f : {monomial<3>{{6, 0, 0}}, {{2, 4, 0}}, {{2, 2, 2}}}) {
    BOOST_TEST(error_of(f, 0) > 1e-3);
    BOOST_TEST(error_of(f, 100) < 1e-10);
  }
  BOOST_TEST(error_of({{8, 0, 0}}, 0) > 1e-3);
  BOOST_TEST(error_of({{8, 0, 0}}, 100) > 1e-3);
}

// The rule of high degree also integrates polynomials over boxes with sides of different lengths.
BOOST_AUTO_TEST_CASE(polynomials_over_boxes_are_integrated_exactly) {
  for (const int k : {0, 1, 2, 10, 20, 31}) expect_exact<1>({{k}}, 1e-13);
  expect_exact<2>({{0, 0}}, 1e-13);
  expect_exact<2>({{6, 1}}, 1e-13);
  expect_exact<2>({{3, 4}}, 1e-13);
  for (const auto& f :
       {monomial<3>{{0, 0, 0}}, {{8, 1, 0}}, {{2, 6, 1}}, {{5, 0, 4}}, {{3, 2, 4}}}) {
    expect_exact<3>(f, 1e-13);
  }
  expect_exact<4>({{2, 2, 2, 2}}, 1e-13);
  expect_exact<5>({{1, 2, 0, 4, 2}}, 1e-13);
  expect_exact<6>({{0, 4, 0, 0, 4, 0}}, 1e-12);
  expect_exact<7>({{0, 0, 8, 0, 0, 0, 1}}, 1e-12);
  expect_exact<8>({{2, 2, 0, 0, 2, 1, 0, 2}}, 1e-12);
  // Negative controls.
  const auto expect_inexact = [](const auto& box, const auto& f, std::size_t points) {
    const auto found = integrate(box, f, {.max_evaluations = points});
    BOOST_TEST(std::fabs(found.value - f.integral(box)) > 1e-3);
  };
  expect_inexact(quadrature_box<2>{{-1, -1}, {1, 2}}, monomial<2>{{8, 0}}, 30);
  expect_inexact(quadrature_box<3>{{-1, -1, 0}, {1, 2, 1}}, monomial<3>{{0, 10, 0}}, 77);
  expect_inexact(quadrature_box<5>{{0, 0, 0, 0, 0}, {2, 2, 2, 2, 2}}, monomial<5>{{2, 2, 2, 2, 2}},
                 273);
}

BOOST_AUTO_TEST_SUITE_END()
