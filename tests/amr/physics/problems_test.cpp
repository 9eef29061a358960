// SPDX-License-Identifier: BSD-3-Clause
// The initial states of the problems.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <ramify/amr/euler.cuh>
#include <ramify/amr/problems.cuh>

#include "linear_waves.hpp"
#include "sedov.hpp"

namespace {

constexpr double pi = std::numbers::pi;

template <int count>
double difference(const double (&a)[count], const double (&b)[count]) {
  double most = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_problems)

BOOST_AUTO_TEST_CASE(sod_has_two_sides_along_its_axis) {
  const ramify::sod<double, 3> problem{.axis = 1, .left_velocity = 0.25};
  const auto left = problem({0.9, 0.4, 0.9});
  const double expected_left[] = {1, 0, 0.25, 0, 1};
  BOOST_TEST(difference(left.v, expected_left) == 0);
  const auto right = problem({0.1, 0.6, 0.1});
  const double expected_right[] = {0.125, 0, 0, 0, 0.1};
  BOOST_TEST(difference(right.v, expected_right) == 0);
}

BOOST_AUTO_TEST_CASE(the_blast_has_its_energy) {
  const ramify::sedov<double, 2> flat{.radius = 0.25};
  const ramify::sedov<double, 3> problem{.radius = 0.25};
  BOOST_TEST(std::abs(flat.volume() - pi / 16) < 1e-15);
  BOOST_TEST(std::abs(problem.volume() - pi / 48) < 1e-15);
  BOOST_TEST((ramify::sedov<double, 1>{.radius = 0.25}.volume()) == 0.5);
  const auto inside = problem({0.1, -0.1, 0.2});
  BOOST_TEST(std::abs(inside[4] / 0.4 * problem.volume() - problem.energy) < 1e-15);
  BOOST_TEST(problem({0.2, -0.2, 0.2})[4] == 1e-5);
  BOOST_TEST(inside[0] == 1);
  BOOST_TEST(inside[1] == 0);
}

BOOST_AUTO_TEST_CASE(the_shock_of_the_blast_has_the_documented_radius) {
  const auto radius = [](int dimensions, double energy) {
    return tests::sedov_blast(dimensions, 1.4, energy).radius(1);
  };
  BOOST_TEST(std::abs(radius(1, ramify::sedov<double, 1>().energy) - 0.5) < 1e-4);
  BOOST_TEST(std::abs(radius(2, ramify::sedov<double, 2>().energy) - 0.75) < 1e-5);
  BOOST_TEST(std::abs(radius(3, ramify::sedov<double, 3>().energy) - 1) < 1e-6);
}

/// The formulas of the paper, piece by piece.
BOOST_AUTO_TEST_CASE(the_streams_are_those_of_the_paper) {
  const ramify::kelvin_helmholtz<double, 2> problem;
  const double L = 0.025;
  const double density_m = (1.0 - 2.0) / 2;
  const double velocity_m = (0.5 + 0.5) / 2;
  for (double y = 0.005; y < 1; y += 0.01) {
    double density = 0;
    double velocity = 0;
    if (y < 0.25) {
      density = 1 - density_m * std::exp((y - 0.25) / L);
      velocity = 0.5 - velocity_m * std::exp((y - 0.25) / L);
    } else if (y < 0.5) {
      density = 2 + density_m * std::exp((-y + 0.25) / L);
      velocity = -0.5 + velocity_m * std::exp((-y + 0.25) / L);
    } else if (y < 0.75) {
      density = 2 + density_m * std::exp(-(0.75 - y) / L);
      velocity = -0.5 + velocity_m * std::exp(-(0.75 - y) / L);
    } else {
      density = 1 - density_m * std::exp(-(y - 0.75) / L);
      velocity = 0.5 - velocity_m * std::exp(-(y - 0.75) / L);
    }
    const double expected[] = {density, velocity, 0.01 * std::sin(4 * pi * 0.3), 2.5};
    BOOST_TEST(difference(problem({0.3, y}).v, expected) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(linear_waves_agree_with_their_modes) {
  ramify::linear_wave<double, 3> wave{.crests = {1, 2, 2},
                                      .amplitude = 1e-3,
                                      .density = 1.5,
                                      .velocity = {0.3, -0.2, 0.1},
                                      .pressure = 0.8,
                                      .gamma = 1.4};
  const std::array<double, 5> gas{1.5, 0.3, -0.2, 0.1, 0.8};
  const std::array<double, 3> direction{1.0 / 3, 2.0 / 3, 2.0 / 3};
  for (const auto family : {ramify::wave_family::sound, ramify::wave_family::entropy}) {
    wave.family = family;
    const auto mode = family == ramify::wave_family::sound
                          ? tests::sound_mode<3>(gas, direction, 1.4)
                          : tests::entropy_mode<3>(gas, direction);
    BOOST_TEST(std::abs(wave.frequency() - 3 * mode.speed) < 1e-14);
    for (const double time : {0.0, 0.7}) {
      const double where[3] = {0.11, 0.52, 0.93};
      const double along = (0.11 + 2 * 0.52 + 2 * 0.93) / 3;
      const double phase = 2 * pi * 3 * (along - mode.speed * time);
      double expected[5];
      for (std::size_t i = 0; i < 5; ++i) {
        expected[i] = gas[i] + 1e-3 * mode.change[i] * std::sin(phase);
      }
      BOOST_TEST(difference(wave.at(where, time).v, expected) < 1e-15);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_shear_wave_is_across_its_direction) {
  ramify::linear_wave<double, 3> wave{
      .family = ramify::wave_family::shear, .crests = {1, 2, 2}, .amplitude = 1e-3};
  const auto gas = wave({0.05, 0, 0});
  BOOST_TEST(gas[0] == 1);
  BOOST_TEST(gas[4] == 0.6);
  BOOST_TEST(std::abs(gas[1] * 1 + gas[2] * 2 + gas[3] * 2) < 1e-18);
  BOOST_TEST(std::abs(std::hypot(gas[1], gas[2]) - 1e-3 * std::sin(0.1 * pi)) < 1e-15);
  wave.crests[0] = wave.crests[1] = 0;  // along z
  BOOST_TEST(std::abs(wave({0, 0, 0.125})[1] - 1e-3) < 1e-15);
  BOOST_TEST(wave.frequency() == 0);
}

BOOST_AUTO_TEST_CASE(scalars_have_their_documented_values) {
  const ramify::gaussian<double, 2> hill{.center = {0.5, 0.5}};
  BOOST_TEST(hill({0.5, 0.5})[0] == 1);
  BOOST_TEST(std::abs(hill({0.55, 0.5})[0] - std::exp(-0.5)) < 1e-14);
  BOOST_TEST(hill({0, 0.5})[0] < 1e-20);

  const ramify::cosine_hump<double, 2> hump{.center = {0.5, 0.75}};
  BOOST_TEST(hump({0.5, 0.75})[0] == 1);
  BOOST_TEST(std::abs(hump({0.5, 0.675})[0] - 0.5) < 1e-14);
  BOOST_TEST(hump({0.5, 0.59})[0] == 0);

  const ramify::solid_ball<double, 3> ball{.center = {0.35, 0.35, 0.35}};
  BOOST_TEST(ball({0.35, 0.35, 0.49})[0] == 1);
  BOOST_TEST(ball({0.35, 0.35, 0.51})[0] == 0);

  const ramify::slotted_disc<double, 2> disc;
  BOOST_TEST(disc({0.5, 0.7})[0] == 0);   // in the slot
  BOOST_TEST(disc({0.5, 0.86})[0] == 1);  // above it
  BOOST_TEST(disc({0.53, 0.7})[0] == 1);  // beside it
  BOOST_TEST(disc({0.66, 0.75})[0] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
