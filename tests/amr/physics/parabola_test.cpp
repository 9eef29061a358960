// SPDX-License-Identifier: BSD-3-Clause
// Parabolas in cells: their order, their symmetry, and what the limiter allows.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/amr/parabola.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/ppm.cuh>
#include <random>

#include "random_gas.hpp"

using ramify::euler;
using ramify::detail::amr::edge_values;
using ramify::detail::amr::parabola_in_cell;
using ramify::detail::amr::parabola_of;

namespace {

constexpr int parabola_trials = 50'000;

/// Returns the largest error of an edge value between 0 and 1, from the averages of cells.
/// `integral` is that of `f`.
template <class F, class Integral>
double greatest_parabola_error(int cells, F f, Integral integral) {
  const double h = 1.0 / cells;
  const auto average = [&](int i) { return (integral((i + 1) * h) - integral(i * h)) / h; };
  double most = 0;
  for (int i = 0; i < cells; ++i) {
    const double u[5] = {average(i - 2), average(i - 1), average(i), average(i + 1),
                         average(i + 2)};
    const edge_values<double> edges = parabola_of(u);
    most = std::max(most, std::abs(edges.lower - f(i * h)));
    most = std::max(most, std::abs(edges.upper - f((i + 1) * h)));
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_parabola)

BOOST_AUTO_TEST_CASE(edges_of_smooth_data_are_of_fourth_order) {
  const auto exponential = [](double x) { return std::exp(x); };
  const double order = std::log2(greatest_parabola_error(32, exponential, exponential) /
                                 greatest_parabola_error(64, exponential, exponential));
  BOOST_TEST(order > 3.9);
  BOOST_TEST(order < 4.1);
}

// A limiter of slopes is of first order there.
BOOST_AUTO_TEST_CASE(extrema_of_smooth_data_are_not_cut_off) {
  const auto wave = [](double x) { return std::sin(7 * x); };
  const auto integral = [](double x) { return -std::cos(7 * x) / 7; };
  const double order = std::log2(greatest_parabola_error(64, wave, integral) /
                                 greatest_parabola_error(128, wave, integral));
  BOOST_TEST(order > 3.5);
}

BOOST_AUTO_TEST_CASE(a_cubic_polynomial_is_exact) {
  const auto cubic = [](double x) { return 1 + x * (3 + x * (2 + x)); };
  const auto integral = [](double x) { return x * (1 + x * (1.5 + x * (2.0 / 3 + x / 4))); };
  BOOST_TEST(greatest_parabola_error(16, cubic, integral) < 1e-13);
}

BOOST_AUTO_TEST_CASE(a_mirror_image_has_mirrored_bits) {
  std::mt19937 numbers(1);
  const auto check = [&]<class Real>(Real) {
    Real u[5], image[5], negative[5];
    for (int i = 0; i < 5; ++i) u[i] = Real(std::ldexp(double(numbers()), -31) - 1);
    for (int i = 0; i < 5; ++i) image[i] = u[4 - i], negative[i] = -u[i];
    const auto edges = parabola_of(u);
    BOOST_REQUIRE_EQUAL(parabola_of(image).lower, edges.upper);
    BOOST_REQUIRE_EQUAL(parabola_of(image).upper, edges.lower);
    BOOST_REQUIRE_EQUAL(parabola_of(negative).lower, -edges.lower);
  };
  for (int round = 0; round < parabola_trials; ++round) {
    check(1.0);
    check(1.0f);
  }
}

BOOST_AUTO_TEST_CASE(monotone_data_keep_their_range) {
  std::mt19937 numbers(2);
  for (int round = 0; round < parabola_trials; ++round) {
    double u[5];
    for (double& each : u) each = std::pow(double(numbers()) / 4294967296.0, 8);
    std::sort(u, u + 5);
    const auto [lower, upper] = parabola_of(u);
    BOOST_REQUIRE_GE(lower, u[1] - 1e-15);
    BOOST_REQUIRE_LE(lower, u[2]);
    BOOST_REQUIRE_GE(upper, u[2]);
    BOOST_REQUIRE_LE(upper, u[3] + 1e-15);
    // The parabola is monotone.
    BOOST_REQUIRE_LE(std::abs(upper - u[2]), 2 * std::abs(lower - u[2]) + 1e-15);
    BOOST_REQUIRE_LE(std::abs(lower - u[2]), 2 * std::abs(upper - u[2]) + 1e-15);
  }
}

BOOST_AUTO_TEST_CASE(jumps_and_spikes_get_no_profile) {
  const auto check = [](const double(&u)[5], double lower, double upper) {
    BOOST_TEST(parabola_of(u).lower == lower);
    BOOST_TEST(parabola_of(u).upper == upper);
  };
  check({0, 0, 0, 1, 1}, 0, 0);
  check({0, 0, 1, 1, 1}, 1, 1);
  check({0, 0, 1, 0, 0}, 1, 1);
  check({1, 0, 1, 0, 1}, 1, 1);
  check({0, 1, 2, 3, 4}, 1.5, 2.5);  // the negative control
  check({3, 3, 3, 3, 3}, 3, 3);
  const double tiny = std::numeric_limits<double>::denorm_min();
  check({tiny, 0, tiny, 0, tiny}, tiny, tiny);
}

BOOST_AUTO_TEST_CASE(edges_are_positive_or_those_of_the_cell) {
  const ramify::with_ppm<euler<double, 2>> physics{};
  tests::random_gas<double, 2> next(3);
  int profiles = 0;
  for (int round = 0; round < parabola_trials; ++round) {
    const auto cell = next();
    const auto edges = parabola_in_cell(physics, next(), next(), cell, next(), next());
    BOOST_REQUIRE(physics.is_positive(edges.lower));
    BOOST_REQUIRE(physics.is_positive(edges.upper));
    profiles += edges.lower[0] != cell[0];
  }
  BOOST_TEST(profiles > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
