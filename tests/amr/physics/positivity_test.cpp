// SPDX-License-Identifier: BSD-3-Clause
// A gas whose density and pressure stay positive: the flux of first order, and the floors.
#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <ramify/amr/physics/euler.cuh>
#include <ramify/amr/physics/extensions.cuh>
#include <ramify/amr/physics/positivity.cuh>

#include "random_gas.hpp"

using ramify::euler;
using ramify::with_positivity;
using ramify::with_scalars;
using tests::not_a_number;

namespace {

template <class Real, int dim>
using safe = with_positivity<euler<Real, dim>>;
using every_safe = boost::mpl::list<safe<double, 2>, safe<double, 3>, safe<float, 2>>;

template <class Physics>
using gases = tests::random_gas<typename Physics::real, Physics::dimensions>;

template <class Physics>
constexpr typename Physics::real nowhere[Physics::dimensions] = {};

/// Returns how often the flux between two random gases takes too much out of one of them, in steps
/// of `length`: 1 if the fastest wave crosses a cell.
template <class Physics, class Flux>
int invalid_after_steps(double length, Flux flux) {
  const Physics physics;
  gases<Physics> next(7);
  int invalid = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto [left, right] = next.neighbors();
    const int axis = round % Physics::dimensions;
    const auto speed = std::max(physics.max_wave_speed(left, axis, nowhere<Physics>, 0),
                                physics.max_wave_speed(right, axis, nowhere<Physics>, 0));
    const auto change =
        flux(physics, left, right, axis) * typename Physics::real(length / double(speed));
    invalid += !physics.is_valid(physics.to_conserved(left) - change) ||
               !physics.is_valid(physics.to_conserved(right) + change);
  }
  return invalid;
}

constexpr auto first_order = [](const auto& physics, const auto& left, const auto& right,
                                int axis) {
  using physics_type = std::remove_cvref_t<decltype(physics)>;
  return physics.fallback_flux(left, right, axis, nowhere<physics_type>, 0);
};

}  // namespace

BOOST_AUTO_TEST_SUITE(amr_positivity)

BOOST_AUTO_TEST_CASE_TEMPLATE(the_fallback_flux_keeps_both_cells_positive, Physics, every_safe) {
  BOOST_TEST(invalid_after_steps<Physics>(0.99, first_order) == 0);
  // The negative control: longer steps.
  BOOST_TEST(invalid_after_steps<Physics>(1.5, first_order) > 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_fallback_flux_of_equal_gases_is_their_flux, Physics, every_safe) {
  const Physics physics;
  gases<Physics> next(8);
  const double rounding = std::numeric_limits<typename Physics::real>::epsilon();
  for (int round = 0; round < 1'000; ++round) {
    const auto gas = next();
    const int axis = round % Physics::dimensions;
    const auto expected = physics.flux(gas, gas, axis, nowhere<Physics>, 0);
    const auto found = first_order(physics, gas, gas, axis);
    for (int i = 0; i < Physics::variables; ++i) {
      BOOST_REQUIRE_SMALL(double(found[i] - expected[i]),
                          8 * rounding * std::abs(double(expected[i])));
    }
  }
}

// Mass and momentum keep their bits.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_low_pressure_is_raised_to_its_floor, Physics, every_safe) {
  using real = typename Physics::real;
  Physics physics;
  physics.density_floor = physics.pressure_floor = real(1e-3);
  typename Physics::values u{};
  u[0] = real(0.3);
  u[1] = real(0.1);
  u[2] = real(-0.7);
  for (const real energy : {real(1), real(0.8), real(0), real(-5)}) {
    u[Physics::energy] = energy;
    BOOST_TEST(physics.is_above_floors(u) == (energy == 1));
    if (energy == 1) continue;
    const auto raised = physics.at_floors(u);
    for (int i = 0; i < Physics::energy; ++i) BOOST_TEST(raised[i] == u[i]);
    BOOST_TEST(physics.is_valid(raised));
    BOOST_TEST(physics.is_above_floors(raised));
    const double pressure = 0.4 * (double(raised[Physics::energy]) - 0.25 / 0.3);
    BOOST_TEST(std::abs(pressure - 1e-3) < 1e-3 * 1e-2);
  }
  // The kinetic energy is so large that the floor is less than its rounding.
  u[1] = real(1e9);
  u[Physics::energy] = 0;
  BOOST_TEST(physics.is_valid(physics.at_floors(u)));
  BOOST_TEST(physics.at_floors(u)[1] == real(1e9));
}

BOOST_AUTO_TEST_CASE(a_low_density_becomes_a_gas_at_rest) {
  with_positivity<with_scalars<euler<double, 2>, 1>> physics;
  physics.density_floor = 0x1p-10;
  physics.pressure_floor = 0.5;
  for (const double density : {0x1p-11, 0.0, -1.0}) {
    const auto raised = physics.at_floors({{density, 5, 6, 7, 8}});
    BOOST_TEST(raised[0] == 0x1p-10);
    BOOST_TEST(raised[1] == 0.0);
    BOOST_TEST(raised[2] == 0.0);
    BOOST_TEST(std::abs(raised[3] - 0.5 / 0.4) < 1e-15);
    BOOST_TEST(raised[4] == 0.0);
  }
  // A scalar stays with its gas, and NaN is not hidden.
  BOOST_TEST(physics.at_floors({{1, 0, 0, 0.1, 0.25}})[4] == 0.25);
  BOOST_TEST(physics.is_above_floors({{not_a_number, 0, 0, 1, 0}}));
  BOOST_TEST(physics.is_above_floors({{1, 0, 0, not_a_number, 0}}));
}

BOOST_AUTO_TEST_SUITE_END()
