// SPDX-License-Identifier: BSD-3-Clause
// The initial states that are also conditions of sides, those in gravity, and regions.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <ramify/amr/physics/dam_break.cuh>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/noh.cuh>
#include <ramify/amr/physics/rayleigh_taylor.cuh>
#include <ramify/amr/physics/regions.cuh>
#include <ramify/amr/physics/shallow_water.cuh>

namespace {

using box_2d = ramify::initial_cell<double, 2>;

/// Returns cell (i, j) of a grid of along x along cells on the unit square.
box_2d grid_cell(int i, int j, int along) {
  const double h = 1.0 / along;
  return {{(i + 0.5) * h, (j + 0.5) * h}, {h, h}, {i * h, j * h}, {(i + 1) * h, (j + 1) * h}};
}

/// Returns the mass in the unit square on a grid.
template <class Initial>
double mass_on_grid(const Initial& initial, int along) {
  const ramify::euler<double, 2> gas;
  double sum = 0;
  for (int cell = 0; cell < along * along; ++cell) {
    const box_2d box = grid_cell(cell % along, cell / along, along);
    sum += ramify::average_of(initial, gas, box)[0] / (along * along);
  }
  return sum;
}

using gas_regions = ramify::regions<double, 2, 4>;
using gas_region = gas_regions::region_type;
using kind = gas_region::kind;

/// Returns regions with the density 1 everywhere and 2 in `part`.
gas_regions with_part(gas_region part) {
  gas_regions all;
  all.count = 2;
  all.parts[0].values = {1, 0, 0, 1};
  all.parts[1] = part;
  all.parts[1].values = {2, 0, 0, 1};
  return all;
}

/// Checks that the gas of noh before the shock conserves mass, by differences.
template <int dim>
void check_continuity(const double (&where)[dim], double time) {
  const ramify::noh<double, dim> fall;
  const double h = 1e-4;
  double change = (fall.before_shock(where, time + h)[0] - fall.before_shock(where, time - h)[0]);
  for (int axis = 0; axis < dim; ++axis) {
    double side[dim];
    std::copy_n(where, dim, side);
    side[axis] = where[axis] + h;
    const auto above = fall.before_shock(side, time);
    side[axis] = where[axis] - h;
    const auto below = fall.before_shock(side, time);
    change += above[0] * above[1 + axis] - below[0] * below[1 + axis];
  }
  BOOST_TEST(std::abs(change / (2 * h)) < 1e-6);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_sides)

BOOST_AUTO_TEST_CASE(the_gas_of_noh_conserves_mass_and_moves_inward) {
  check_continuity<2>({0.4, 0.7}, 0.5);
  check_continuity<3>({0.4, 0.7, 0.2}, 0.5);
  const ramify::noh<double, 3> fall;
  const auto gas = fall({0.3, 0.4, 1.2});
  BOOST_TEST(gas[0] == 1);
  BOOST_TEST(std::abs(std::hypot(gas[1], gas[2], gas[3]) - 1) < 1e-15);
  BOOST_TEST(std::abs(gas[3] + 1.2 / 1.3) < 1e-15);
  // At the shock, r = t / 3, the density jumps by 4 to 16 and 64.
  const double at_shock[3] = {0, 0, 0.2};
  BOOST_TEST(std::abs(4 * fall.before_shock(at_shock, 0.6)[0] - 64) < 1e-12);
  BOOST_TEST(std::isfinite(fall({0, 0, 0})[1]));
}

BOOST_AUTO_TEST_CASE(the_layers_are_in_hydrostatic_equilibrium) {
  const ramify::rayleigh_taylor<double, 2> layers;
  for (const double y : {-0.7, -0.2, 0.1, 0.6}) {
    const double h = 1e-4;
    const auto gas = layers({0.1, y});
    const double slope = (layers({0.1, y + h})[3] - layers({0.1, y - h})[3]) / (2 * h);
    BOOST_TEST(std::abs(slope + 0.1 * gas[0]) < 1e-9);
    BOOST_TEST(gas[0] == (y > 0 ? 2 : 1));
    BOOST_TEST(gas[1] == 0);
  }
  BOOST_TEST(std::abs(layers({0, 0})[2] - 0.01) < 1e-15);
  BOOST_TEST(std::abs(layers({0.25, 0})[2]) < 1e-15);
  BOOST_TEST(std::abs(layers({0, 0.75})[2]) < 1e-15);
  const ramify::rayleigh_taylor<double, 3> solid;
  BOOST_TEST(std::abs(solid({0, 0, 0})[3] - 0.01) < 1e-15);
  BOOST_TEST(std::abs(solid({0, 0.25, 0})[3]) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_dam_has_its_water_in_cells_that_it_cuts) {
  const ramify::shallow_water<double> water;
  const ramify::dam_break<double> dam;
  const auto cut = ramify::average_of(dam, water, grid_cell(1, 0, 3));
  BOOST_TEST(std::abs(cut[0] + 0.45) < 1e-15);
  BOOST_TEST(std::abs(cut[3] - 0.5) < 1e-15);
  BOOST_TEST(ramify::average_of(dam, water, grid_cell(0, 0, 2))[0] == 0);
}

BOOST_AUTO_TEST_CASE(regions_have_their_areas_on_each_grid) {
  const auto box = with_part({.shape = kind::box, .point = {0.2, 0.3}, .extent = {0.45, 0.9}});
  const auto disc = with_part({.shape = kind::ball, .point = {0.6, 0.5}, .extent = {0.3}});
  // Below the line y = 0.3 + 2 (x - 0.1), which leaves the square at (0, 0.1) and (0.45, 1).
  const auto half = with_part({.shape = kind::half_space, .point = {0.1, 0.3}, .extent = {-2, 1}});
  const auto dot = with_part({.shape = kind::ball, .point = {0.53, 0.47}, .extent = {0.01}});
  for (const int along : {1, 3, 8}) {
    BOOST_TEST(std::abs(mass_on_grid(box, along) - 1.15) < 0.02 / along);
    BOOST_TEST(std::abs(mass_on_grid(disc, along) - (1 + std::numbers::pi * 0.09)) < 0.02 / along);
    BOOST_TEST(std::abs(mass_on_grid(half, along) - 1.7975) < 0.02 / along);
    BOOST_TEST(std::abs(mass_on_grid(dot, along) - (1 + std::numbers::pi * 1e-4)) <
               (along == 1 ? 6e-5 : 2e-5));
  }
  // Boxes whose sides are faces of cells are exact.
  const auto fitting = with_part({.shape = kind::box, .point = {0.25, 0.5}, .extent = {0.75, 1}});
  BOOST_TEST(std::abs(mass_on_grid(fitting, 8) - 1.25) < 1e-15);
}

BOOST_AUTO_TEST_CASE(the_last_region_that_contains_a_point_has_its_state) {
  gas_regions all = with_part({.shape = kind::ball, .point = {0.5, 0.5}, .extent = {0.3}});
  all.parts[2] = {.shape = kind::box, .point = {0.5, 0}, .extent = {1, 1}, .values = {3, 0, 0, 1}};
  all.count = 3;
  BOOST_TEST(all({0.4, 0.5})[0] == 2);
  BOOST_TEST(all({0.5, 0.5})[0] == 3);  // a box has its lower sides
  BOOST_TEST(all({1, 0.5})[0] == 1);    // but not its upper ones
  BOOST_TEST(all({0.1, 0.5})[0] == 1);
  // Beyond the domain they continue.
  const ramify::euler<double, 2> gas;
  BOOST_TEST(std::abs(all(gas, {}, 0, 0, {0.9, 0.2}, 7)[3] - 2.5) < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()
