// SPDX-License-Identifier: BSD-3-Clause
// Limited slopes, and values at the edges of cells.
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/reconstruct.cuh>
#include <random>

#include "line.hpp"
#include "random_gas.hpp"

using ramify::euler;
using ramify::detail::amr::edges_of_cell;
using ramify::detail::amr::minmod;
using ramify::detail::amr::monotonized_central;
using ramify::detail::amr::van_leer;
using tests::not_a_number;
using tests::piecewise_constant;

namespace {

constexpr int trials = 50'000;
using every_limiter = boost::mpl::list<minmod, monotonized_central, van_leer, piecewise_constant>;
using every_slope = boost::mpl::list<minmod, monotonized_central, van_leer>;

/// Returns the largest error of an edge value of exp(x) between 0 and 1, from the averages of
/// cells.
template <class Limiter>
double greatest_error(int cells) {
  const double h = 1.0 / cells;
  const auto average = [&](int i) { return (std::exp((i + 1) * h) - std::exp(i * h)) / h; };
  const euler<double, 1> physics;
  double most = 0;
  for (int i = 0; i < cells; ++i) {
    const auto edges = edges_of_cell(physics, {{average(i - 1), 0, 1}}, {{average(i), 0, 1}},
                                     {{average(i + 1), 0, 1}}, Limiter{});
    most = std::max(most, std::abs(edges.lower[0] - std::exp(i * h)));
    most = std::max(most, std::abs(edges.upper[0] - std::exp((i + 1) * h)));
  }
  return most;
}

template <class Limiter>
double order() {
  return std::log2(greatest_error<Limiter>(64) / greatest_error<Limiter>(128));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_reconstruct)

BOOST_AUTO_TEST_CASE_TEMPLATE(slopes_are_symmetric_bit_by_bit, Limiter, every_limiter) {
  std::mt19937 numbers(1);
  const Limiter limited;
  const auto check = [&](auto left, auto right) {
    const auto slope = limited(left, right);
    BOOST_REQUIRE_EQUAL(limited(right, left), slope);
    BOOST_REQUIRE_EQUAL(limited(-left, -right), -slope);
  };
  for (int round = 0; round < trials; ++round) {
    const double left = std::ldexp(double(numbers()), -31) - 1;
    const double right = std::ldexp(double(numbers()), -31) - 1;
    check(left, right);
    check(float(left), float(right));
    check(left, right * 1e-3);
  }
}

/// The conditions under which the total variation does not grow (LeVeque 6.12): no slope at an
/// extremum, else at most twice the smaller difference, with its sign.
BOOST_AUTO_TEST_CASE_TEMPLATE(slopes_make_no_new_extremum, Limiter, every_limiter) {
  std::mt19937 numbers(2);
  const Limiter limited;
  for (int round = 0; round < trials; ++round) {
    const double left = std::ldexp(double(numbers()), -31) - 1;
    const double right = std::ldexp(double(numbers()), -31) - 1;
    const double slope = 2 * limited(left, right);
    if (left * right <= 0) {
      BOOST_REQUIRE_EQUAL(slope, 0);
    } else {
      BOOST_REQUIRE_GE(slope * left, 0);
      BOOST_REQUIRE_LE(std::abs(slope), 2 * std::min(std::abs(left), std::abs(right)));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_straight_line_keeps_its_slope, Limiter, every_slope) {
  const Limiter limited;
  for (const double difference : {1.0, -3.0, 1e-300, 1e300, 0.0}) {
    BOOST_TEST(2 * limited(difference, difference) == difference);
  }
}

BOOST_AUTO_TEST_CASE(half_slopes_are_those_of_the_literature) {
  BOOST_TEST(minmod()(1.0, 3.0) == 0.5);
  BOOST_TEST(monotonized_central()(1.0, 3.0) == 1.0);
  BOOST_TEST(monotonized_central()(1.0, 1.5) == 0.625);
  BOOST_TEST(monotonized_central()(-1.0, -9.0) == -1.0);
  BOOST_TEST(van_leer()(1.0, 3.0) == 0.75);
  BOOST_TEST(piecewise_constant()(1.0, 3.0) == 0.0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(tiny_differences_make_a_finite_slope, Limiter, every_limiter) {
  for (const double tiny : {5e-324, 1e-310, 1e-300}) {
    const double half = Limiter()(tiny, tiny);
    BOOST_TEST((half >= 0 && half <= tiny));
  }
  BOOST_TEST(van_leer()(1e-310, 1e-310) == 0);  // such a sum counts as 0
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_makes_no_slope, Limiter, every_limiter) {
  BOOST_TEST(Limiter()(not_a_number, 1.0) == 0.0);
  BOOST_TEST(Limiter()(1.0, not_a_number) == 0.0);
  BOOST_TEST(Limiter()(0.0, 0.0) == 0.0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(edges_lie_between_positive_neighbors, Limiter, every_limiter) {
  const euler<double, 2> physics;
  tests::random_gas<double, 2> next(3);
  for (int round = 0; round < trials; ++round) {
    const auto below = next();
    const auto cell = next();
    const auto above = next();
    const auto edges = edges_of_cell(physics, below, cell, above, Limiter{});
    BOOST_REQUIRE(physics.is_positive(edges.lower));
    BOOST_REQUIRE(physics.is_positive(edges.upper));
    const auto image = edges_of_cell(physics, above, cell, below, Limiter{});
    for (int i = 0; i < 4; ++i) {
      const double rounding = 1e-15 * (std::abs(cell[i]) + std::abs(above[i]));
      BOOST_REQUIRE_LE(edges.upper[i], std::max(cell[i], above[i]) + rounding);
      BOOST_REQUIRE_GE(edges.upper[i], std::min(cell[i], above[i]) - rounding);
      // The mirror image exchanges the edges bit by bit.
      BOOST_REQUIRE_EQUAL(image.lower[i], edges.upper[i]);
      BOOST_REQUIRE_EQUAL(image.upper[i], edges.lower[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(edges_without_pressure_fall_back_to_the_cell) {
  const euler<double, 1> physics;
  const auto edges = edges_of_cell(physics, {{3, 1, 2}}, {{2, 2, 0.5}}, {{1, 3, -1}});
  BOOST_TEST(edges.lower[0] == 2);
  BOOST_TEST(edges.upper[0] == 2);
  BOOST_TEST(edges.upper[1] == 2);
  BOOST_TEST(edges.upper[2] == 0.5);
  const auto kept = edges_of_cell(physics, {{3, 1, 2}}, {{2, 2, 1}}, {{1, 3, 0.5}});
  BOOST_TEST(kept.upper[0] == 1.5);  // negative control
}

BOOST_AUTO_TEST_CASE_TEMPLATE(edges_of_smooth_data_are_of_second_order, Limiter, every_slope) {
  BOOST_TEST(order<Limiter>() > 1.9);
  BOOST_TEST(order<Limiter>() < 2.1);
}

BOOST_AUTO_TEST_CASE(without_slopes_edges_are_of_first_order) {
  BOOST_TEST(order<piecewise_constant>() < 1.1);
}

BOOST_AUTO_TEST_SUITE_END()
