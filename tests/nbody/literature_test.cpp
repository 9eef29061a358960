// SPDX-License-Identifier: BSD-3-Clause
// Simulations of the literature: the figure-8 of three bodies, and the collapse of a cold sphere.
#include <algorithm>
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "kepler.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::nbody_method;
using ramify::nbody_options;
using ramify::nbody_simulation;
using tests::distance;
using tests::environment_for;
using tests::vector3;

namespace {

// A. Chenciner, R. Montgomery: A remarkable periodic solution of the three-body problem in the case
// of equal masses. Annals of Mathematics 152, 2000. The initial values are Carles Simó's.
struct figure_8 {
  static constexpr double period = 6.32591398;
  std::vector<vector3> positions{
      {0.97000436, -0.24308753, 0}, {-0.97000436, 0.24308753, 0}, {0, 0, 0}};
  std::vector<vector3> velocities{{0.93240737 / 2, 0.86473146 / 2, 0},
                                  {0.93240737 / 2, 0.86473146 / 2, 0},
                                  {-0.93240737, -0.86473146, 0}};
  std::vector<double> masses{1, 1, 1};
};

/// Returns the largest distance of a body from where body `follows(i)` was at the beginning.
template <class Follows>
double displacement(const nbody_simulation<double>& bodies, Follows follows) {
  const figure_8 initial;
  std::vector<vector3> now(3);
  bodies.download(now);
  double largest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    largest = std::max(largest, distance(now[i], initial.positions[follows(i)]));
  }
  return largest;
}

/// A uniform sphere of mass and radius 1, at rest.
struct cold_sphere {
  explicit cold_sphere(std::size_t n) : positions(n), velocities(n), masses(n, 1.0 / double(n)) {
    tests::numbers random(9);
    for (vector3& x : positions) {
      do {
        for (double& c : x) c = random.next();
      } while (distance(x, {}) > 1);
    }
  }
  std::vector<vector3> positions, velocities;
  std::vector<double> masses;
};

/// Returns the distance from the origin within which half of the bodies are.
double half_mass_radius(const nbody_simulation<double>& bodies) {
  std::vector<vector3> now(bodies.size());
  bodies.download(now);
  std::vector<double> radii;
  for (const vector3& x : now) radii.push_back(distance(x, {}));
  std::ranges::nth_element(radii, radii.begin() + std::ptrdiff_t(radii.size() / 2));
  return radii[radii.size() / 2];
}

/// Returns twice the kinetic energy over the virial, the sum of -x . a, of the bodies that do not
/// escape, in the frame of their center. In equilibrium it is 1, also with softened forces.
double virial_ratio_of_bound(const nbody_simulation<double>& bodies) {
  const std::size_t n = bodies.size();
  std::vector<vector3> x(n), v(n), a(n);
  std::vector<double> potentials(n);
  bodies.download(x, v, a, potentials);
  double virial = 0;
  double kinetic = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double count = 0;
    double mean_x = 0;
    double mean_v = 0;
    const auto for_bound = [&](auto use) {
      for (std::size_t i = 0; i < n; ++i) {
        const double speed = distance(v[i], {});
        if (speed * speed / 2 + potentials[i] < 0) use(i);
      }
    };
    for_bound([&](std::size_t i) {
      ++count;
      mean_x += x[i][k];
      mean_v += v[i][k];
    });
    for_bound([&](std::size_t i) {
      virial -= (x[i][k] - mean_x / count) * a[i][k];
      kinetic += (v[i][k] - mean_v / count) * (v[i][k] - mean_v / count);
    });
  }
  return kinetic / virial;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(literature)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(a_figure_8_closes, data::make({nbody_method::direct, nbody_method::tree}),
                     method) {
  const figure_8 initial;
  double last = 0;
  for (const int steps : {600, 1'200}) {
    nbody_simulation<double> bodies(initial.positions, initial.velocities, initial.masses,
                                    {.theta = 0, .method = method}, environment_for());
    const double energy = bodies.conserved().energy();
    const double dt = figure_8::period / steps;
    // Each body follows the next one, a third of the period behind it.
    bodies.step(dt, std::uint64_t(steps / 3));
    const double third = displacement(bodies, [](std::size_t i) { return std::array{2, 0, 1}[i]; });
    bodies.step(dt, std::uint64_t(steps - steps / 3));
    const double whole = displacement(bodies, [](std::size_t i) { return i; });
    BOOST_TEST_MESSAGE(steps << " steps: " << third << ", " << whole);
    if (last > 0) BOOST_TEST(std::abs(last / whole - 4) < 1);  // second order
    last = whole;
    BOOST_TEST(third < 2e-3);
    BOOST_TEST(bodies.conserved().energy() == energy, boost::test_tools::tolerance(1e-6));
    // Negative control: an error of one per cent in the period.
    bodies.step(figure_8::period / 100);
    BOOST_TEST(displacement(bodies, [](std::size_t i) { return i; }) > 0.02);
  }
  BOOST_TEST(last < 1e-3);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(a_cold_sphere_collapses_in_the_time_of_free_fall_and_virializes) {
  const auto n = static_cast<std::size_t>(tests::cut_down(400, 200));
  const cold_sphere sphere(n);
  const nbody_options options{.theta = 0.7, .softening = 0.07};
  nbody_simulation<double> bodies(sphere.positions, sphere.velocities, sphere.masses, options,
                                  environment_for());
  const auto before = bodies.conserved();
  // The potential energy of a uniform sphere is -3/5 G M^2 / R.
  BOOST_TEST(before.potential == -0.6, boost::test_tools::tolerance(0.05));
  BOOST_TEST(before.kinetic == 0);
  const double initial_radius = half_mass_radius(bodies);

  constexpr double dt = 0.01;
  double least_radius = 1;
  double time_of_least = 0;
  double ratios = 0;
  for (int i = 1; i <= 80; ++i) {
    bodies.step(dt, 5);
    const double time = 5 * i * dt;
    const double radius = half_mass_radius(bodies);
    if (radius < least_radius) time_of_least = time;
    least_radius = std::min(least_radius, radius);
    const auto now = bodies.conserved();
    BOOST_TEST(now.energy() == before.energy(), boost::test_tools::tolerance(0.02));
    if (time > 3) ratios += virial_ratio_of_bound(bodies) / 20;
  }
  // Free fall to the center takes pi/2 sqrt(R^3 / (2 G M)).
  const double free_fall = std::numbers::pi / 2 * std::sqrt(0.5);
  BOOST_TEST_MESSAGE("least radius " << least_radius << " of " << initial_radius << " at "
                                     << time_of_least << ", virial ratio " << ratios);
  BOOST_TEST(time_of_least == free_fall, boost::test_tools::tolerance(0.1));
  BOOST_TEST(least_radius < initial_radius / 3);
  BOOST_TEST(ratios == 1, boost::test_tools::tolerance(0.1));
}

BOOST_AUTO_TEST_SUITE_END()
