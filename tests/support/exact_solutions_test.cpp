// SPDX-License-Identifier: BSD-3-Clause
// The exact solutions that other tests use, compared with published numbers and the equations.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/amr/physics/euler.cuh>

#include "exact_riemann.hpp"
#include "linear_waves.hpp"
#include "sedov.hpp"

using tests::exact_riemann;
using tests::gas;
using tests::sedov_blast;

namespace {

/// Returns the derivative of f at x.
template <class F>
double slope(const F& f, double x) {
  const double h = 1e-5;
  return (f(x + h) - f(x - h)) / (2 * h);
}

/// Returns the largest residual of Euler's equations with the symmetry of a blast.
double residual(const sedov_blast& blast, int dimensions, double r, double t) {
  const gas here = blast.at(r, t);
  const double density_t = slope([&](double s) { return blast.at(r, s).density; }, t);
  const double velocity_t = slope([&](double s) { return blast.at(r, s).velocity; }, t);
  const double pressure_t = slope([&](double s) { return blast.at(r, s).pressure; }, t);
  const double density_r = slope([&](double s) { return blast.at(s, t).density; }, r);
  const double velocity_r = slope([&](double s) { return blast.at(s, t).velocity; }, r);
  const double pressure_r = slope([&](double s) { return blast.at(s, t).pressure; }, r);
  const double expansion = velocity_r + (dimensions - 1) * here.velocity / r;
  const double mass = density_t + here.velocity * density_r + here.density * expansion;
  const double momentum = here.density * (velocity_t + here.velocity * velocity_r) + pressure_r;
  const double heat = pressure_t + here.velocity * pressure_r + 1.4 * here.pressure * expansion;
  return std::max({std::abs(mass), std::abs(momentum), std::abs(heat)});
}

/// Returns the mass (or the energy) within the shock at time 1, by the midpoint rule.
template <class F>
double within_shock(const sedov_blast& blast, int dimensions, const F& per_volume) {
  const double surface = dimensions == 1 ? 2 : 2 * (dimensions - 1) * std::acos(-1.0);
  constexpr int shells = 20'000;
  const double thickness = blast.radius(1) / shells;
  double sum = 0;
  for (int i = 0; i < shells; ++i) {
    const double r = (i + 0.5) * thickness;
    sum += surface * std::pow(r, dimensions - 1) * per_volume(blast.at(r, 1)) * thickness;
  }
  return sum;
}

/// Returns the residual of `mode` as a wave of Euler's fluxes: the change of the flux along the
/// direction minus speed times the change of the conserved values, relative to that change.
double violation(const std::array<double, 5>& gas, const std::array<double, 3>& direction,
                 const tests::linear_wave_mode<3>& mode) {
  const ramify::euler<double, 3> physics;
  const double nowhere[3] = {};
  const double small = 1e-5;
  const auto at = [&](double amount) {
    ramify::euler<double, 3>::values primitive;
    for (std::size_t i = 0; i < 5; ++i) primitive[int(i)] = gas[i] + amount * mode.change[i];
    return primitive;
  };
  const auto flow = [&](double amount) {
    ramify::euler<double, 3>::values sum{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto primitive = at(amount);
      sum += direction[std::size_t(axis)] * physics.flux(primitive, primitive, axis, nowhere, 0);
    }
    return sum;
  };
  const auto flow_change = (flow(small) - flow(-small)) * (0.5 / small);
  const auto change =
      (physics.to_conserved(at(small)) - physics.to_conserved(at(-small))) * (0.5 / small);
  double most = 0;
  for (int i = 0; i < 5; ++i) {
    most = std::max(most, std::abs(flow_change[i] - mode.speed * change[i]));
  }
  return most;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exact_solutions)

/// Source: Toro, table 4.2.
BOOST_AUTO_TEST_CASE(star_values_equal_the_published_ones) {
  const struct {
    gas left, right;
    double pressure, velocity;
  } all[] = {{{1, 0, 1}, {0.125, 0, 0.1}, 0.30313, 0.92745},
             {{1, -2, 0.4}, {1, 2, 0.4}, 0.00189, 0},
             {{1, 0, 1000}, {1, 0, 0.01}, 460.894, 19.5975},
             {{1, 0, 0.01}, {1, 0, 100}, 46.0950, -6.19633},
             {{5.99924, 19.5975, 460.894}, {5.99242, -6.19633, 46.0950}, 1691.64, 8.68975}};
  for (const auto& test : all) {
    const exact_riemann exact(test.left, test.right, 1.4);
    // To the digits printed.
    BOOST_TEST(std::abs(exact.star_pressure() - test.pressure) < 1e-5 * (test.pressure + 0.5));
    BOOST_TEST(std::abs(exact.star_velocity() - test.velocity) <
               1e-5 * (std::abs(test.velocity) + 0.5));
    BOOST_TEST(!exact.opens_vacuum());
  }
}

/// Source: Toro, table 4.3, the densities on both sides of the contact.
BOOST_AUTO_TEST_CASE(sods_densities_equal_the_published_ones) {
  const exact_riemann exact({1, 0, 1}, {0.125, 0, 0.1}, 1.4);
  const double contact = exact.star_velocity();
  BOOST_TEST(std::abs(exact.at(contact - 1e-9).density - 0.42632) < 1e-5);
  BOOST_TEST(std::abs(exact.at(contact + 1e-9).density - 0.26557) < 1e-5);
  BOOST_TEST(exact.at(-1.2).density == 1);
  BOOST_TEST(exact.at(1.8).density == 0.125);
}

/// The integral form of Euler's equations over all speeds between -10 and 10, at time 1: the change
/// of the content equals the inflow.
BOOST_AUTO_TEST_CASE(solutions_conserve) {
  const std::pair<gas, gas> all[] = {{{1, 0.75, 1}, {0.125, 0, 0.1}},
                                     {{1, -2, 0.4}, {1, 2, 0.4}},
                                     {{1, -4, 0.4}, {1, 5, 0.4}},  // a vacuum opens
                                     {{1, 2, 1}, {2, -1, 0.5}}};
  const auto mass = [](const gas& g) { return g.density; };
  const auto momentum = [](const gas& g) { return g.density * g.velocity; };
  const auto energy = [](const gas& g) {
    return g.pressure / 0.4 + g.density * g.velocity * g.velocity / 2;
  };
  for (const auto& [left, right] : all) {
    const exact_riemann exact(left, right, 1.4);
    const auto change = [&](const auto& per_volume) {
      constexpr int places = 200'000;
      double sum = -10 * (per_volume(left) + per_volume(right));
      for (int i = 0; i < places; ++i) {
        sum += per_volume(exact.at(-10 + 20 * (i + 0.5) / places)) * 20 / places;
      }
      return sum;
    };
    const auto pushed = [](const gas& g) {
      return g.density * g.velocity * g.velocity + g.pressure;
    };
    const auto worked = [&](const gas& g) { return g.velocity * (energy(g) + g.pressure); };
    BOOST_TEST(std::abs(change(mass) - (momentum(left) - momentum(right))) < 1e-3);
    BOOST_TEST(std::abs(change(momentum) - (pushed(left) - pushed(right))) < 1e-3);
    BOOST_TEST(std::abs(change(energy) - (worked(left) - worked(right))) < 2e-3);
  }
  BOOST_TEST(exact_riemann({1, -4, 0.4}, {1, 5, 0.4}, 1.4).opens_vacuum());
  BOOST_TEST(exact_riemann({1, -4, 0.4}, {1, 5, 0.4}, 1.4).at(0.5).density == 0);
}

/// Kamm and Timmes give energies for which the shock is at 0.5, 0.75 and 1; for a plane, on one
/// side.
BOOST_AUTO_TEST_CASE(the_constants_of_the_blast_equal_the_published_ones) {
  BOOST_TEST(std::abs(sedov_blast(3, 1.4, 0.851072).radius(1) - 1) < 1e-6);
  BOOST_TEST(std::abs(sedov_blast(2, 1.4, 0.311357).radius(1) - 0.75) < 1e-5);
  BOOST_TEST(std::abs(sedov_blast(1, 1.4, 2 * 0.0673185).radius(1) - 0.5) < 1e-4);
  BOOST_TEST(std::abs(sedov_blast(3, 1.4, 1).alpha() - 0.851072) < 1e-6);
  BOOST_TEST(std::abs(sedov_blast(2, 1.4, 1).alpha() - 0.984) < 1e-3);
  // Sedov's xi_0.
  BOOST_TEST(std::abs(sedov_blast(3, 1.4, 1).radius(1) - 1.0328) < 1e-4);
  // It grows as time^(2 / 5).
  const sedov_blast blast(3, 1.4, 2, 3);
  BOOST_TEST(std::abs(blast.radius(32) / blast.radius(1) - 4) < 1e-12);
}

BOOST_AUTO_TEST_CASE(the_blast_solves_eulers_equations) {
  for (const int dimensions : {1, 2, 3}) {
    const sedov_blast blast(dimensions, 1.4, 1);
    for (const double share : {0.1, 0.5, 0.9}) {
      BOOST_TEST(residual(blast, dimensions, share * blast.radius(1), 1) < 1e-7);
    }
    // The mass of the gas that the shock has passed, and the energy.
    const double surface = dimensions == 1 ? 2 : 2 * (dimensions - 1) * std::acos(-1.0);
    const double mass = within_shock(blast, dimensions, [](const gas& g) { return g.density; });
    const double energy = within_shock(blast, dimensions, [](const gas& g) {
      return g.pressure / 0.4 + g.density * g.velocity * g.velocity / 2;
    });
    const double swept = surface / dimensions * std::pow(blast.radius(1), dimensions);
    BOOST_TEST(std::abs(mass / swept - 1) < 1e-6);
    BOOST_TEST(std::abs(energy - 1) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(linear_waves_are_waves) {
  const std::array<double, 5> gas{1.5, 0.3, -0.2, 0.1, 0.8};
  const std::array<double, 3> direction{1.0 / 3, -2.0 / 3, 2.0 / 3};
  BOOST_TEST(violation(gas, direction, tests::sound_mode<3>(gas, direction, 1.4)) < 1e-8);
  BOOST_TEST(violation(gas, direction, tests::sound_mode<3>(gas, direction, 1.4, -1)) < 1e-8);
  BOOST_TEST(violation(gas, direction, tests::entropy_mode<3>(gas, direction)) < 1e-8);
  // Negative control: a sound wave for another gamma.
  BOOST_TEST(violation(gas, direction, tests::sound_mode<3>(gas, direction, 1.5)) > 1e-2);
}

BOOST_AUTO_TEST_SUITE_END()
