// SPDX-License-Identifier: BSD-3-Clause
// The initial states of the problems.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <ramify/amr/physics/advection.cuh>
#include <ramify/amr/physics/ball_overlap.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/problems.cuh>

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

namespace {

template <int dim>
constexpr double origin[dim] = {};

/// Returns the volume of a box in the unit disc or ball: the sum of lengths along the last axis.
template <int dim>
double volume_by_lines(const double (&lower)[dim], const double (&upper)[dim]) {
  const int lines = dim == 2 ? 100000 : 500;
  const double dx = (upper[0] - lower[0]) / lines;
  const double dy = dim == 2 ? 1 : (upper[1] - lower[1]) / lines;
  double sum = 0;
  for (int i = 0; i < lines; ++i) {
    for (int j = 0; j < (dim == 2 ? 1 : lines); ++j) {
      const double x = lower[0] + (i + 0.5) * dx;
      const double y = dim == 2 ? 0 : lower[1] + (j + 0.5) * dy;
      const double half = std::sqrt(std::max(0.0, 1 - x * x - y * y));
      sum += std::max(0.0, std::min(upper[dim - 1], half) - std::max(lower[dim - 1], -half));
    }
  }
  return sum * dx * dy;
}

template <int dim>
void check_overlap(const double (&lower)[dim], const double (&upper)[dim], double tolerance) {
  const auto overlap = ramify::detail::amr::overlap_with_ball(lower, upper, origin<dim>, 1);
  double box = 1;
  for (int i = 0; i < dim; ++i) box *= upper[i] - lower[i];
  BOOST_TEST(std::abs(overlap.of_box * box - volume_by_lines(lower, upper)) < tolerance);
  const double ball = dim == 2 ? pi : 4 * pi / 3;
  BOOST_TEST(std::abs(overlap.of_ball * ball - overlap.of_box * box) < 1e-15);
}

/// Adds the volumes of the cells of a grid with uneven edges around a ball.
template <int dim>
double sum_over_grid(double shift, int cells) {
  double sum = 0;
  const auto at = [&](int i) { return shift + std::pow(i * 2.2 / cells - 1.1, 3) * 1.3; };
  const auto count = std::size_t(std::pow(cells, dim) + 0.5);
  for (std::size_t cell = 0; cell < count; ++cell) {
    double lower[dim];
    double upper[dim];
    auto rest = int(cell);
    for (int i = 0; i < dim; ++i, rest /= cells) {
      lower[i] = at(rest % cells);
      upper[i] = at(rest % cells + 1);
    }
    sum += ramify::detail::amr::overlap_with_ball(lower, upper, origin<dim>, 1).of_ball;
  }
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_overlap_of_boxes_and_balls) {
  check_overlap<2>({-2, -2}, {2, 2}, 1e-6);
  check_overlap<2>({0, 0}, {0.9, 0.8}, 1e-6);
  check_overlap<2>({-0.3, 0.5}, {0.7, 2}, 1e-6);
  check_overlap<2>({0.6, 0.6}, {0.75, 0.85}, 1e-6);  // the disc covers a corner
  check_overlap<2>({0.1, 0.2}, {0.3, 0.4}, 1e-6);    // inside
  check_overlap<2>({0.8, 0.8}, {0.9, 0.9}, 1e-6);    // outside
  check_overlap<2>({0.99, -0.3}, {1.5, 0.4}, 1e-6);  // a cap
  check_overlap<3>({-2, -2, -2}, {2, 2, 2}, 1e-4);
  check_overlap<3>({0, 0, 0}, {0.5, 0.6, 0.9}, 1e-4);
  check_overlap<3>({-0.3, 0.2, -1}, {0.4, 1.5, 0.1}, 1e-4);
  check_overlap<3>({0.5, 0.5, 0.5}, {0.9, 0.9, 0.9}, 1e-4);
  check_overlap<3>({-0.2, -0.1, 0.95}, {0.1, 0.3, 1.4}, 1e-4);
  check_overlap<3>({-0.2, 0.6, 0.7}, {0.3, 0.8, 0.9}, 1e-4);
  for (const double shift : {0.0, 0.0137, -0.2}) {
    BOOST_TEST(std::abs(sum_over_grid<2>(shift, 90) - 1) < 1e-14);
    BOOST_TEST(std::abs(sum_over_grid<3>(shift, 30) - 1) < 1e-14);
  }
  // An octant and a quadrant.
  BOOST_TEST(std::abs(ramify::detail::amr::beyond({0, 0, 0}) - pi / 6) < 1e-15);
  BOOST_TEST(std::abs(ramify::detail::amr::beyond({0, 0}) - pi / 4) < 1e-15);
}

namespace {

/// Integrates the averages of a concentration over a grid of the unit square or cube.
template <class Initial, int dim>
double integral_over_grid(const Initial& initial, int (&cells)[dim]) {
  const ramify::advection<double, dim, ramify::uniform_velocity<double, dim>> physics{};
  const auto count = [&] {
    int all = 1;
    for (const int along : cells) all *= along;
    return all;
  }();
  double sum = 0;
  for (int number = 0; number < count; ++number) {
    ramify::initial_cell<double, dim> cell;
    double volume = 1;
    int rest = number;
    for (int i = 0; i < dim; ++i) {
      cell.spacing[i] = 1.0 / cells[i];
      cell.lower[i] = cell.spacing[i] * (rest % cells[i]);
      cell.upper[i] = cell.spacing[i] * (rest % cells[i] + 1);
      cell.center[i] = cell.spacing[i] * (rest % cells[i] + 0.5);
      volume *= cell.spacing[i];
      rest /= cells[i];
    }
    sum += volume * ramify::average_of(initial, physics, cell)[0];
  }
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(small_features_have_their_integrals_on_coarse_grids) {
  const double disc = pi * 0.0225;
  // The slot is from x = 0.475 to 0.525 and from the rim to y = 0.85.
  const double slot = 0.05 * 0.1 + [] {
    double below = 0;  // the part of the slot below the center
    for (int i = 0; i < 100000; ++i) {
      const double x = (i + 0.5) * 0.05 / 100000 - 0.025;
      below += std::sqrt(0.0225 - x * x) * 0.05 / 100000;
    }
    return below;
  }();
  for (const int along : {1, 3, 8, 40}) {
    int flat[] = {along, along + 1};
    int solid[] = {along, along, along + 1};
    const auto close = [](double a, double b, double tolerance) {
      BOOST_TEST(std::abs(a - b) < tolerance);
    };
    for (const double width : {0.001, 0.02}) {
      const ramify::gaussian<double, 2> hill{.center = {0.53, 0.44}, .width = width};
      close(integral_over_grid(hill, flat) / (2 * pi * width * width), 1, 1e-4);
      const ramify::cosine_hump<double, 2> hump{.center = {0.53, 0.44}, .radius = width};
      close(integral_over_grid(hump, flat) / ((0.5 - 2 / (pi * pi)) * pi * width * width), 1, 1e-3);
      const ramify::cosine_hump<double, 3> bump{.center = {0.53, 0.44, 0.6}, .radius = width};
      const double bump_integral = 4 * pi / 3 * std::pow(width, 3) * (0.5 - 3 / (pi * pi));
      close(integral_over_grid(bump, solid) / bump_integral, 1, 1e-3);
      const ramify::solid_ball<double, 3> ball{.center = {0.53, 0.44, 0.6}, .radius = width};
      close(integral_over_grid(ball, solid) / (4 * pi / 3 * std::pow(width, 3)), 1, 1e-12);
    }
    close(integral_over_grid(ramify::slotted_disc<double, 2>{}, flat), disc - slot, 1e-9);
    close(integral_over_grid(ramify::slotted_disc<double, 3>{}, solid), disc - slot, 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(gases_have_their_masses_on_coarse_grids) {
  const ramify::euler<double, 2> gas;
  const auto mass_in_unit_square = [&](const auto& initial, int along) {
    double sum = 0;
    for (int cell = 0; cell < along * along; ++cell) {
      const double h = 1.0 / along;
      const double x = (cell % along) * h;
      const double y = double(cell / along) * h;
      const ramify::initial_cell<double, 2> box{
          {x + h / 2, y + h / 2}, {h, h}, {x, y}, {x + h, y + h}};
      sum += h * h * ramify::average_of(initial, gas, box)[0];
    }
    return sum;
  };
  const ramify::sod<double, 2> tube{.axis = 1, .position = 0.37};
  const double L = 0.002;
  const ramify::kelvin_helmholtz<double, 2> layers{.width = L};
  const ramify::linear_wave<double, 2> wave{.crests = {2, 0}, .amplitude = 0.01};
  for (const int along : {1, 3, 4, 10}) {
    BOOST_TEST(std::abs(mass_in_unit_square(tube, along) - (0.37 + 0.125 * 0.63)) < 1e-14);
    BOOST_TEST(std::abs(mass_in_unit_square(layers, along) - 1.5) < 1e-3);
    BOOST_TEST(std::abs(mass_in_unit_square(wave, along) - 1) < 1e-12);
  }
  // A cell that contains a layer, and as much of the streams on both sides.
  const ramify::initial_cell<double, 2> layer{{0.5, 0.25}, {1, 0.1}, {0, 0.2}, {1, 0.3}};
  const auto average = ramify::average_of(layers, gas, layer);
  BOOST_TEST(std::abs(average[0] - 1.5) < 1e-12);
  const double s = L * (1 - std::exp(-0.05 / L)) / 2 / 0.05;
  const double s2 = L * (1 - std::exp(-0.1 / L)) / 8 / 0.05;
  // Outside (1 + e)(1/2 - e), inside (2 - e)(-1/2 + e), with the means s of e and s2 of e^2.
  const double momentum = 0.5 * (0.5 - 0.5 * s - s2) + 0.5 * (-1 + 2.5 * s - s2);
  BOOST_TEST(std::abs(average[1] - momentum) < 1e-5);
}

BOOST_AUTO_TEST_SUITE_END()
