// SPDX-License-Identifier: BSD-3-Clause
// Simulations, compared with the theory of orbits and clusters.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>

#include "exceptions.hpp"
#include "kepler.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"
#include "times_check.hpp"

namespace data = boost::unit_test::data;
using ramify::nbody_options;
using ramify::nbody_simulation;
using tests::distance;
using tests::environment_for;
using tests::kepler;
using tests::names;
using tests::options_for;
using tests::vector3;

namespace {

nbody_simulation<double> cluster(std::size_t n, const nbody_options& options) {
  const auto sphere = common::make_plummer_sphere(n, 4);
  return {sphere.positions, sphere.velocities, sphere.masses, options, environment_for()};
}

/// Returns the maximum relative change of the energy up to `time`.
double drift(nbody_simulation<double> simulation, double time, int steps) {
  const double first = simulation.conserved().energy();
  double max = 0;
  for (int i = 0; i < steps; ++i) {
    simulation.step(time / steps);
    max = tests::greater_error(max, std::abs(simulation.conserved().energy() / first - 1));
  }
  return max;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(nbody)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(an_orbit_closes, data::make({0.0, 0.5}), eccentricity) {
  const kepler orbit(eccentricity);
  auto options = options_for(0.5, 0);
  options.gravitational_constant = kepler::gravity;
  nbody_simulation<double> planet(orbit.positions, orbit.velocities, orbit.masses, options,
                                  environment_for());
  const int steps = tests::cut_down(2'000, 500);
  const double bound = 1e-3 * std::pow(2'000.0 / steps, 2);  // the leapfrog is of second order
  std::vector<vector3> now(2);
  planet.step(kepler::period() / steps, steps / 2);
  planet.download(now);
  const double nearest = kepler::semi_axis * (1 - eccentricity);
  BOOST_TEST(distance(now[0], now[1]) == nearest, boost::test_tools::tolerance(bound));
  BOOST_TEST(now[1][0] == -nearest * 3 / 4, boost::test_tools::tolerance(bound));
  planet.step(kepler::period() / steps, steps / 2);
  planet.download(now);
  BOOST_TEST(distance(now[0], orbit.positions[0]) < bound);
  BOOST_TEST(distance(now[1], orbit.positions[1]) < bound);
  // With an error of one percent in the period, the orbit does not close.
  planet.step(kepler::period() / 100);
  planet.download(now);
  BOOST_TEST(distance(now[1], orbit.positions[1]) > 10 * 1e-3);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_energy_drift_falls_as_the_square_of_dt) {
  const auto options = options_for(0, 0.1);
  double last = 0;
  for (const int steps : {10, 20, 40, 80}) {
    const double now = drift(cluster(400, options), 1, steps);
    BOOST_TEST_MESSAGE(steps << " steps: " << now);
    if (last > 0) {
      BOOST_TEST(last / now > 3);
      BOOST_TEST(last / now < 5.5);
    }
    last = now;
  }
  BOOST_TEST(last < 2e-5);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(the_energy_drift_of_the_tree_code_is_small) {
  for (const double theta : {0.5, 0.8}) {
    const double max = drift(cluster(1'000, options_for(theta, 0.05)), 1, 40);
    BOOST_TEST_MESSAGE("theta " << theta << ": " << max);
    BOOST_TEST(max < 2e-3);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(momenta_are_conserved_by_exact_forces) {
  auto simulation = cluster(300, options_for(0, 0.05));
  const auto before = simulation.conserved();
  simulation.step(0.02, 50);
  const auto after = simulation.conserved();
  for (int axis = 0; axis < 3; ++axis) {
    BOOST_TEST(std::abs(after.momentum[axis]) < 1e-13);
    BOOST_TEST(std::abs(after.angular_momentum[axis] - before.angular_momentum[axis]) < 1e-13);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(steps_back_in_time_return_to_the_start) {
  auto simulation = cluster(300, options_for(0.5, 0.1));
  const auto sphere = common::make_plummer_sphere(300, 4);
  simulation.step(0.02, 40);
  std::vector<vector3> away(300);
  simulation.download(away);
  BOOST_TEST(distance(away[5], sphere.positions[5]) > 0.01);
  simulation.step(-0.02, 40);
  std::vector<vector3> back(300);
  std::vector<vector3> velocities(300);
  simulation.download(back, velocities);
  for (std::size_t i = 0; i < 300; ++i) {
    BOOST_REQUIRE(distance(back[i], sphere.positions[i]) < 1e-9);
    BOOST_REQUIRE(distance(velocities[i], sphere.velocities[i]) < 1e-9);
  }
}

BOOST_AUTO_TEST_CASE(conserved_sums_match_sums_over_the_bodies) {
  const auto n = static_cast<std::size_t>(tests::cut_down(3'000, 500));
  const auto options = options_for(0, 0.05);
  const auto sphere = common::make_plummer_sphere(n, 4);
  const nbody_simulation<float> simulation = [&] {
    std::vector<std::array<float, 3>> x;
    std::vector<std::array<float, 3>> v;
    for (const auto& p : sphere.positions) x.push_back({float(p[0]), float(p[1]), float(p[2])});
    for (const auto& p : sphere.velocities) v.push_back({float(p[0]), float(p[1]), float(p[2])});
    const std::vector<float> m(sphere.masses.begin(), sphere.masses.end());
    return nbody_simulation<float>(x, v, m, options, environment_for());
  }();
  const auto sums = simulation.conserved();
  const auto truth = tests::sum_of_pairs({sphere.positions, sphere.masses}, 0.05);
  ramify::nbody_conserved expected{};
  for (std::size_t i = 0; i < n; ++i) {
    const auto& x = sphere.positions[i];
    const auto& v = sphere.velocities[i];
    const double m = sphere.masses[i];
    expected.kinetic += m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
    expected.potential += m * truth.potentials[i] / 2;
    expected.angular_momentum[2] += m * (x[0] * v[1] - x[1] * v[0]);
  }
  const auto tolerance = boost::test_tools::tolerance(1e-5);
  BOOST_TEST(sums.kinetic == expected.kinetic, tolerance);
  BOOST_TEST(sums.potential == expected.potential, tolerance);
  BOOST_TEST(std::abs(sums.angular_momentum[2] - expected.angular_momentum[2]) < 1e-6);
  for (const double p : sums.momentum) BOOST_TEST(std::abs(p) < 1e-7);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(a_plummer_sphere_is_in_standard_units) {
  const auto sphere = common::make_plummer_sphere(5'000, 3);
  const auto truth = tests::sum_of_pairs({sphere.positions, sphere.masses}, 0);
  double kinetic = 0;
  double potential = 0;
  vector3 mean{};
  std::vector<double> radii;
  for (std::size_t i = 0; i < sphere.size(); ++i) {
    const auto& v = sphere.velocities[i];
    kinetic += sphere.masses[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
    potential += sphere.masses[i] * truth.potentials[i] / 2;
    for (std::size_t k = 0; k < 3; ++k) mean[k] += sphere.positions[i][k] + v[k];
    radii.push_back(distance(sphere.positions[i], {}));
  }
  BOOST_TEST(std::abs(kinetic - 0.25) < 0.01);
  BOOST_TEST(std::abs(potential + 0.5) < 0.02);
  BOOST_TEST(distance(mean, {}) < 1e-9);
  std::ranges::nth_element(radii, radii.begin() + 2'500);
  const double half_mass = 3 * std::numbers::pi / 16 / std::sqrt(std::pow(2.0, 2.0 / 3) - 1);
  BOOST_TEST(radii[2'500] == half_mass, boost::test_tools::tolerance(0.05));
  BOOST_TEST((common::make_plummer_sphere(10, 3).positions[9] !=
              common::make_plummer_sphere(10, 4).positions[9]));
}

BOOST_AUTO_TEST_CASE(a_simulation_can_be_moved_and_be_empty) {
  auto first = cluster(100, options_for(0.5, 0.1));
  const double work_at_first = first.report().work_ms;
  BOOST_TEST(tests::check_times(first.report(), {RAMIFY_ON_CUDA != 0, false}) == "");
  first.step(0.1);
  BOOST_TEST(first.report().work_ms > work_at_first);
  std::vector<vector3> before(100);
  first.download(before);
  nbody_simulation<double> second = std::move(first);
  std::vector<vector3> after(100);
  second.download(after);
  BOOST_TEST((before == after));
  BOOST_TEST(tests::check_times(second.report(), {RAMIFY_ON_CUDA != 0, true}) == "");
  const auto interactions_before = second.report().interactions;
  second.step(0.1, 2);
  BOOST_TEST(second.report().interactions > 1.9 * double(interactions_before));
  BOOST_TEST(!second.report().backend_reason.empty());

  nbody_simulation<double> none(std::span<const vector3>{}, {}, {}, options_for(0.5, 0.1),
                                environment_for());
  none.step(0.1, 3);
  none.download({});
  BOOST_TEST(none.size() == 0u);
  BOOST_TEST(none.conserved().energy() == 0);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  auto simulation = cluster(10, options_for(0.5, 0.1));
  BOOST_CHECK_EXCEPTION(simulation.step(NAN), std::invalid_argument, names("dt must be finite"));
  std::vector<vector3> nine(9);
  BOOST_CHECK_EXCEPTION(simulation.download({}, nine), std::invalid_argument,
                        names("10 bodies, but 9 velocities"));
  BOOST_CHECK_EXCEPTION(cluster(10, options_for(7, 0.1)), std::invalid_argument, names("theta"));
  std::vector<vector3> ten(10);
  std::vector<double> masses(10, 1);
  BOOST_CHECK_EXCEPTION(
      nbody_simulation<double>(ten, nine, masses, options_for(0.5, 0.1), environment_for()).step(1),
      std::invalid_argument, names("10 bodies, but 9 velocities"));
  ten[7][2] = NAN;
  BOOST_CHECK_EXCEPTION(
      nbody_simulation<double>(ten, ten, masses, options_for(0.5, 0.1), environment_for()).step(1),
      std::invalid_argument, names("positions[7]"));
  const auto sphere = common::make_plummer_sphere(10, 4);
  for (const double bad : {double(NAN), double(INFINITY)}) {
    auto velocities = sphere.velocities;
    velocities[6][1] = bad;
    BOOST_CHECK_EXCEPTION(nbody_simulation<double>(sphere.positions, velocities, masses,
                                                   options_for(0.5, 0.1), environment_for()),
                          std::invalid_argument, names("velocities[6]"));
  }
  const std::vector<std::array<float, 3>> at_rest(1);
  const std::vector<float> one(1, 1);
  nbody_simulation<float> single(at_rest, at_rest, one, options_for(0.5, 0.1), environment_for());
  for (const double dt : {1e39, 1e-39, -1e-46}) {  // float rounds the last one to 0
    BOOST_CHECK_EXCEPTION(single.step(dt), std::invalid_argument, names("dt must be finite"));
  }
  BOOST_CHECK_NO_THROW(single.step(0));
  BOOST_CHECK_NO_THROW(single.step(-1e-37));
}

BOOST_AUTO_TEST_SUITE_END()
