// SPDX-License-Identifier: BSD-3-Clause
// Slopes and fluxes on a uniform line of cells, against exact solutions.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr/physics/advection.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/problems.cuh>

#include "exact_riemann.hpp"
#include "line.hpp"

using ramify::advection;
using ramify::euler;
using ramify::sod;
using ramify::uniform_velocity;
using tests::ends;
using tests::line;
using tests::piecewise_constant;

namespace {

using gas_1d = euler<double, 1>;

sod<double, 1> riemann_problem(const tests::gas& left, const tests::gas& right, double position) {
  return {.position = position,
          .left_density = left.density,
          .left_velocity = left.velocity,
          .left_pressure = left.pressure,
          .right_density = right.density,
          .right_velocity = right.velocity,
          .right_pressure = right.pressure};
}

/// Returns the mean error of the density of Sod's problem at time 0.2.
template <class Limiter>
double sod_error(int cells) {
  const sod<double, 1> problem;
  line<gas_1d, Limiter> tube({}, cells, ends::open, problem);
  BOOST_TEST(tube.run_until(0.2));
  const tests::exact_riemann exact({1, 0, 1}, {0.125, 0, 0.1}, 1.4);
  double error = 0;
  for (std::size_t i = 0; i < std::size_t(cells); ++i) {
    double mean = 0;  // of the exact solution over the cell
    constexpr int samples = 20;
    for (int s = 0; s < samples; ++s) {
      const double x = tube.center(i) + ((s + 0.5) / samples - 0.5) * tube.spacing();
      mean += exact.at((x - problem.position) / 0.2).density / samples;
    }
    error += std::abs(tube.primitive(i)[0] - mean) * tube.spacing();
  }
  return error;
}

/// Returns the mean error of a sound wave after a period.
template <class Limiter>
double wave_error(int cells) {
  const ramify::linear_wave<double, 1> wave{.amplitude = 1e-5};
  line<gas_1d, Limiter> ring({.gamma = wave.gamma}, cells, ends::periodic, wave);
  const auto before = ring.conserved();
  BOOST_TEST(ring.run_until(1));
  double error = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    error += std::abs(ring.conserved()[i][0] - before[i][0]) * ring.spacing();
  }
  return error / wave.amplitude;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_line)

BOOST_AUTO_TEST_CASE(sods_problem_converges_at_first_order) {
  const double coarse = sod_error<ramify::detail::amr::monotonized_central>(100);
  const double middle = sod_error<ramify::detail::amr::monotonized_central>(200);
  const double fine = sod_error<ramify::detail::amr::monotonized_central>(400);
  BOOST_TEST_MESSAGE("errors " << coarse << ' ' << middle << ' ' << fine);
  BOOST_TEST(coarse < 5e-3);
  // The contact is smeared over more and more cells, so the order is a little below 1.
  BOOST_TEST(std::log2(coarse / fine) / 2 > 0.8);
  BOOST_TEST(middle < coarse);
  BOOST_TEST(fine < middle);
}

/// Negative control: without slopes the same solver has larger errors and a lower order.
BOOST_AUTO_TEST_CASE(without_slopes_sods_problem_is_clearly_worse) {
  const double coarse = sod_error<piecewise_constant>(100);
  const double fine = sod_error<piecewise_constant>(400);
  BOOST_TEST_MESSAGE("errors " << coarse << ' ' << fine);
  BOOST_TEST(coarse > 2 * sod_error<ramify::detail::amr::monotonized_central>(100));
  BOOST_TEST(fine > 2.5 * sod_error<ramify::detail::amr::monotonized_central>(400));
  BOOST_TEST(std::log2(coarse / fine) / 2 < 0.75);
}

BOOST_AUTO_TEST_CASE(a_sound_wave_converges_at_second_order) {
  const double coarse = wave_error<ramify::detail::amr::monotonized_central>(64);
  const double fine = wave_error<ramify::detail::amr::monotonized_central>(128);
  BOOST_TEST_MESSAGE("errors " << coarse << ' ' << fine);
  BOOST_TEST(std::log2(coarse / fine) > 1.8);
  const double plain =
      std::log2(wave_error<piecewise_constant>(64) / wave_error<piecewise_constant>(128));
  BOOST_TEST(plain < 1.1);
}

/// Toro's five tests (4.3.3), with the diaphragms and end times of his chapter 6.4.
BOOST_AUTO_TEST_CASE(toros_tests_stay_valid) {
  const struct {
    tests::gas left, right;
    double position, end;
  } all[] = {{{1, 0.75, 1}, {0.125, 0, 0.1}, 0.3, 0.2},
             {{1, -2, 0.4}, {1, 2, 0.4}, 0.5, 0.15},
             {{1, 0, 1000}, {1, 0, 0.01}, 0.5, 0.012},
             {{1, 0, 0.01}, {1, 0, 100}, 0.5, 0.035},
             {{5.99924, 19.5975, 460.894}, {5.99242, -6.19633, 46.0950}, 0.4, 0.035}};
  for (const auto& test : all) {
    const auto problem = riemann_problem(test.left, test.right, test.position);
    line<gas_1d> tube({}, 200, ends::open, problem);
    BOOST_TEST(tube.run_until(test.end));
    // The densities agree with the exact ones up to smeared waves. In tests 3 and 4 most of the
    // error is in a dense shell that is a dozen cells wide.
    const tests::exact_riemann exact(test.left, test.right, 1.4);
    double error = 0;
    double mass = 0;
    for (std::size_t i = 0; i < 200; ++i) {
      const double density = exact.at((tube.center(i) - test.position) / test.end).density;
      error += std::abs(tube.primitive(i)[0] - density);
      mass += density;
    }
    BOOST_TEST_MESSAGE("error " << error / mass);
    BOOST_TEST(error / mass < 0.1);
  }
}

BOOST_AUTO_TEST_CASE(a_near_vacuum_stays_valid) {
  // The 1-2-3 problem: beyond a speed of about 3.7 there is a vacuum. Only without slopes all
  // states are guaranteed to be valid: at speed 10 and a Courant number of 0.4 a stage of Heun's
  // method has a negative pressure with slopes.
  for (const double speed : {2.0, 3.7, 10.0}) {
    const auto problem = riemann_problem({1, -speed, 0.4}, {1, speed, 0.4}, 0.5);
    const double end = 0.3 / speed;
    BOOST_TEST((line<gas_1d, piecewise_constant>({}, 200, ends::open, problem).run_until(end)));
    BOOST_TEST((line<gas_1d>({}, 200, ends::open, problem).run_until(end, 0.3)));
  }
  // A blast into almost a vacuum.
  const auto thin = riemann_problem({1, 0, 1}, {1e-9, 0, 1e-9}, 0.5);
  BOOST_TEST((line<gas_1d>({}, 200, ends::open, thin).run_until(0.05)));
}

BOOST_AUTO_TEST_CASE(a_mirrored_tube_stays_mirrored_bit_by_bit) {
  constexpr std::size_t cells = 128;
  const auto problem = riemann_problem({1, 0.3, 1}, {0.125, -0.1, 0.1}, 0.5);
  const auto image = riemann_problem({0.125, 0.1, 0.1}, {1, -0.3, 1}, 0.5);
  line<gas_1d> tube({}, cells, ends::open, problem);
  line<gas_1d> mirror({}, cells, ends::open, image);
  for (int i = 0; i < 50; ++i) {
    tube.step(0.4, 1);
    mirror.step(0.4, 1);
  }
  BOOST_TEST(tube.time() == mirror.time());
  for (std::size_t i = 0; i < cells; ++i) {
    const auto& here = tube.conserved()[i];
    const auto& there = mirror.conserved()[cells - 1 - i];
    BOOST_TEST(here[0] == there[0]);
    BOOST_TEST(here[1] == -there[1]);
    BOOST_TEST(here[2] == there[2]);
  }
}

BOOST_AUTO_TEST_CASE(total_variation_does_not_grow) {
  using carried = advection<double, 1, uniform_velocity<double, 1>>;
  const auto step_shape = [](const double(&where)[1]) {
    return carried::values{{where[0] > 0.3 && where[0] < 0.6 ? 1.0 : 0.0}};
  };
  const auto variation = [](const line<carried>& ring) {
    const auto& cells = ring.conserved();
    double sum = std::abs(cells.front()[0] - cells.back()[0]);
    for (std::size_t i = 1; i < cells.size(); ++i) sum += std::abs(cells[i][0] - cells[i - 1][0]);
    return sum;
  };
  line<carried> ring({{{1.0}}}, 100, ends::periodic, step_shape);
  double before = variation(ring);
  BOOST_TEST(std::abs(before - 2) < 1e-14);
  while (ring.time() < 1) {
    ring.step(0.5, 1);
    const double after = variation(ring);
    BOOST_REQUIRE_LE(after, before + 1e-13);
    before = after;
  }
  double sum = 0;
  for (const auto& cell : ring.conserved()) sum += cell[0] / 100;
  BOOST_TEST(std::abs(sum - 0.3) < 1e-13);
}

BOOST_AUTO_TEST_SUITE_END()
