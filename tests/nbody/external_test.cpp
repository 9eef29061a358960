// SPDX-License-Identifier: BSD-3-Clause
// Simulations in external fields, compared with exact solutions, and with a callback between steps,
// which runs once for each step.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "exceptions.hpp"
#include "external_systems.cuh"
#include "printing.hpp"

namespace tests::inline RAMIFY_BUILD {

/// A force against the velocity.
struct drag {
  double rate;
  __device__ vec acceleration(const vec&, const vec& v, double, std::uint32_t) const {
    return {{-rate * v.x[0], -rate * v.x[1], -rate * v.x[2]}};
  }
};

/// An acceleration that depends on the time and on the body.
struct pulse {
  __device__ vec acceleration(const vec&, double time, std::uint32_t body) const {
    return {{6 * time * (body + 1), 0, 0}};
  }
};

/// A callback that counts its calls, records the last time, and turns bodies back at a wall.
struct wall {
  unsigned* calls;
  double* last;
  __device__ void after_step(const vec& x, vec& v, double mass, double time,
                             std::uint32_t body) const {
    ++calls[body];
    last[body] = time * mass;
    if (x.x[0] > 1 && v.x[0] > 0) v.x[0] = -v.x[0];
  }
};

/// A kernel of a user that does what the wall does.
__global__ void turn_back(const vec* x, vec* v, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i].x[0] > 1 && v[i].x[0] > 0) v[i].x[0] = -v[i].x[0];
}

/// A cloud that crosses the wall.
struct falling_cloud {
  explicit falling_cloud(std::size_t n) : x(n), v(n), m(n, 1.0 / double(n)) {
    numbers random(5);
    for (std::size_t i = 0; i < n; ++i) {
      for (double& c : x[i].x) c = random.next();
      v[i] = {{1 + random.next() / 2, random.next(), random.next()}};
    }
  }
  std::vector<vec> x, v;
  std::vector<double> m;
};

bool same(const std::vector<vec>& a, const std::vector<vec>& b) {
  return std::ranges::equal(a, b, [](const vec& p, const vec& q) {
    return p.x[0] == q.x[0] && p.x[1] == q.x[1] && p.x[2] == q.x[2];
  });
}

}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;

BOOST_AUTO_TEST_SUITE(external_fields)

BOOST_AUTO_TEST_CASE(a_body_in_a_trap_oscillates) {
  const std::vector<vec> x{{{2, 1, 0}}};
  const std::vector<vec> v{{{0, 0, 0}}};
  const named_field<double> trap({.stiffness = 4, .center = {1, 1, 0}});
  auto system = system_of(x, v, {3.0}, trap, {});
  const auto before = system.conserved();
  BOOST_TEST(before.potential == 3 * 4 * 1 / 2.0);
  const int steps = 1'000;
  const double period = std::numbers::pi;
  double worst = 0;
  for (int part = 0; part < 4; ++part) {
    system.step(period / steps, steps / 4);
    const double exact = 1 + std::cos(2 * period / 4 * (part + 1));
    worst = std::max(worst, std::abs(positions_of(system)[0].x[0] - exact));
    BOOST_TEST(system.conserved().energy() == before.energy(), boost::test_tools::tolerance(1e-4));
  }
  BOOST_TEST(worst < 1e-4);
  BOOST_TEST(positions_of(system)[0].x[1] == 1);
}

BOOST_AUTO_TEST_CASE(a_named_field_has_the_potential_of_its_acceleration) {
  // Free fall, and a circle around a point mass with a core: r omega^2 = G M r / (r^2 + c^2)^1.5.
  const double core = 0.5;
  const double omega = std::sqrt(2 * 3 / std::pow(1 + core * core, 1.5));
  const std::vector<vec> x{{{5, 0, 0}}};
  const std::vector<vec> v{{{0, omega, 0}}};
  const named_field<double> sun({.point_mass = 3, .core_radius = core, .center = {4, 0, 0}},
                                {.gravitational_constant = 2});
  auto circle = system_of(x, v, {1.0}, sun, {.gravitational_constant = 2});
  const double energy = circle.conserved().energy();
  BOOST_TEST(energy == omega * omega / 2 - 6 / std::sqrt(1 + core * core),
             boost::test_tools::tolerance(1e-14));
  circle.step(2 * std::numbers::pi / omega / 1'000, 250);
  const auto quarter = positions_of(circle)[0];
  BOOST_TEST(distance({quarter.x[0], quarter.x[1], 0}, {4, 1, 0}) < 1e-4);
  BOOST_TEST(circle.conserved().energy() == energy, boost::test_tools::tolerance(1e-6));

  auto fall = system_of(x, v, {1.0}, named_field<double>({.uniform = {0, 0, -10}}), {});
  const double above = fall.conserved().energy();
  fall.step(0.1, 10);
  BOOST_TEST(positions_of(fall)[0].x[2] == -5, boost::test_tools::tolerance(1e-13));
  BOOST_TEST(fall.conserved().energy() == above, boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(a_drag_is_of_second_order_and_a_pulse_is_exact) {
  const std::vector<vec> x(2);
  const std::vector<vec> v(2, {{1, 0, 0}});
  double last = 0;
  for (const int steps : {20, 40, 80}) {
    auto slowed = system_of(x, v, {0.0, 0.0}, drag{1.5}, {});
    slowed.step(1.0 / steps, std::uint64_t(steps));
    const double speed = download_array(slowed.velocities(), 2)[1].x[0];
    const double error = std::abs(speed / std::exp(-1.5) - 1);
    if (last > 0) BOOST_TEST(std::abs(last / error - 4) < 0.4);
    last = error;
  }
  BOOST_TEST(last < 2e-4);
  // v = 1 + 3 t^2 (i + 1): the sum of the kicks is exact for a linear force.
  for (const unsigned levels : {1u, 4u}) {
    auto pushed = system_of(x, v, {0.0, 0.0}, pulse{},
                            {.softening = 1, .step_levels = levels, .step_accuracy = 1e-3});
    pushed.step(0.125, 16);
    const auto end = download_array(pushed.velocities(), 2);
    BOOST_TEST(end[0].x[0] == 1 + 3 * 4.0, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(end[1].x[0] == 1 + 6 * 4.0, boost::test_tools::tolerance(1e-13));
    if (levels > 1) BOOST_TEST(pushed.report().bodies_on_level[0] < 2u);
    BOOST_TEST(pushed.time() == 2);
  }
}

BOOST_AUTO_TEST_CASE(a_callback_runs_once_after_each_step_as_a_kernel_between_steps_would) {
  const std::size_t n = 300;
  const falling_cloud c(n);
  const nbody_options options{.softening = 0.1};
  nbody_system<double> by_kernel(c.x.data(), c.v.data(), c.m.data(), n, options);
  for (int i = 0; i < 8; ++i) {
    auto step = by_kernel.step_async(0.05);
    check(launch(turn_back, {3, 128}, nullptr, by_kernel.positions(), by_kernel.velocities(),
                 unsigned(n))
              .code(),
          "turning back");
    step.get();
  }
  const auto expected = positions_of(by_kernel);

  const auto expect = [&](bool async, const environment& env) {
    const auto calls = zeros<unsigned>(n);
    const auto last = zeros<double>(n);
    nbody_system<double, wall> system(c.x.data(), c.v.data(), c.m.data(), n,
                                      {calls.data(), last.data()}, options, env);
    const std::uint64_t grids = ramify::cpu::grids_begun();
    const auto before = system.report();
    for (int i = 0; i < (async ? 8 : 0); ++i) system.step_async(0.05).get();
    if (!async) system.step(0.05, 8);
    const auto counted = system.report();
    if (!RAMIFY_ON_CUDA) {
      BOOST_TEST(counted.host_grids + counted.child_grids - before.host_grids -
                     before.child_grids ==
                 ramify::cpu::grids_begun() - grids);
    }
    BOOST_TEST(same(positions_of(system), expected));
    BOOST_TEST(std::ranges::count(download(calls), 8u) == std::ptrdiff_t(n));
    BOOST_TEST(download(last)[7] == 0.4 / double(n), boost::test_tools::tolerance(1e-13));
    BOOST_TEST(system.time() == 0.4, boost::test_tools::tolerance(1e-13));
  };
  expect(true, {});
  expect(false, {});
  expect(true, {.completion = ramify::completion::by_get});
  expect(true, {.route = ramify::route::flat});
}

// A step that waits for the host: the second kick runs later, and the callback after it.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(a_callback_runs_once_if_the_host_completes_a_step) {
  const std::size_t n = bodies_of_deep_tree;
  const falling_cloud c(n);
  const nbody_options options{.theta = 1, .softening = 0.1};
  unsigned interrupted = 0;
  std::vector<vec> expected;
  for (std::uint64_t failing = 0; failing <= 4; ++failing) {
    const auto calls = zeros<unsigned>(n);
    const auto last = zeros<double>(n);
    nbody_system<double, wall> system(
        c.x.data(), c.v.data(), c.m.data(), n, {calls.data(), last.data()}, options,
        {.route = ramify::route::device, .completion = ramify::completion::by_get});
    auto config = ramify::cpu::current_executor_config();
    config.failing_launch = failing;
    const ramify::cpu::scoped_executor_config scope(config);
    auto step = system.step_async(0.05);
    if (download(calls)[0] == 0) ++interrupted;
    step.get();
    const auto velocities = download_array(system.velocities(), n);
    if (failing == 0) expected = velocities;
    BOOST_TEST(same(velocities, expected));
    BOOST_TEST(std::ranges::count(download(calls), 1u) == std::ptrdiff_t(n));
    BOOST_TEST(system.time() == 0.05);
  }
  BOOST_TEST(interrupted > 0u);  // negative control
}

BOOST_AUTO_TEST_CASE(block_steps_on_one_level_have_the_bits_of_steps_without_levels) {
  const falling_cloud c(60);
  const named_field<double> trap(
      {.uniform = {0.1, 0, 0}, .stiffness = 2, .point_mass = 0.5, .core_radius = 0.3});
  nbody_options options{.softening = 0.1};
  auto plain = system_of(c.x, c.v, c.m, trap, options);
  options.step_levels = 3;
  options.step_accuracy = 1e6;  // all bodies on level 0
  auto blocks = system_of(c.x, c.v, c.m, trap, options);
  plain.step(0.02, 5);
  blocks.step(0.02, 5);
  BOOST_TEST(same(positions_of(plain), positions_of(blocks)));
  BOOST_TEST(plain.time() == blocks.time());
  BOOST_TEST(plain.conserved().energy() == blocks.conserved().energy());
}

BOOST_AUTO_TEST_CASE(a_bad_field_is_named) {
  const auto refuses = [](const ramify::nbody_field& field, const char* what) {
    BOOST_CHECK_EXCEPTION((void)named_field<float>(field), std::invalid_argument, names(what));
  };
  refuses({.uniform = {0, std::nan(""), 0}}, "nbody_field.uniform[1] is nan; it must be finite");
  refuses({.stiffness = INFINITY}, "nbody_field.stiffness is inf");
  refuses({.stiffness = 1e39}, "nbody_field.stiffness is 1e+39; it must be in the range");
  refuses({.point_mass = -1e39}, "nbody_field.point_mass");
  refuses({.core_radius = -1}, "nbody_field.core_radius is -1; it must be finite and at least 0");
  refuses({.center = {1e30, 0, 0}}, "nbody_field.center[0]");
  BOOST_CHECK_EXCEPTION(
      (void)named_field<float>({.point_mass = 1e20}, {.gravitational_constant = 1e20}),
      std::invalid_argument, names("nbody_field.point_mass"));
}

BOOST_AUTO_TEST_CASE(a_compiled_simulation_has_the_field_of_the_header) {
  const auto sphere = common::make_plummer_sphere(60, 3);
  const nbody_options options{.softening = 0.1, .gravitational_constant = 2};
  const ramify::nbody_field field{
      .uniform = {0.1, 0, 0}, .stiffness = 0.5, .point_mass = 1, .center = {3, 0, 0}};
  ramify::nbody_simulation<double> compiled(sphere.positions, sphere.velocities, sphere.masses,
                                            field, options, environment_for());
  const auto x = upload_points(sphere.positions);
  const auto v = upload_points(sphere.velocities);
  nbody_system<double, named_field<double>> system(x.data(), v.data(), sphere.masses.data(), 60,
                                                   named_field<double>(field, options), options);
  compiled.step(0.01, 5);
  system.step(0.01, 5);
  std::vector<vector3> positions(60);
  compiled.download(positions);
  BOOST_TEST(positions[7][1] == positions_of(system)[7].x[1]);
  BOOST_TEST(compiled.conserved().energy() == system.conserved().energy());
  const auto make = [&](const ramify::nbody_field& bad, const nbody_options& of) {
    return ramify::nbody_simulation<double>(sphere.positions, sphere.velocities, sphere.masses, bad,
                                            of, environment_for());
  };
  BOOST_CHECK_EXCEPTION((void)make({.core_radius = NAN}, options), std::invalid_argument,
                        names("nbody_field.core_radius"));
  BOOST_CHECK_EXCEPTION((void)make(field, {.gravitational_constant = NAN}), std::invalid_argument,
                        names("nbody_options.gravitational_constant"));
}

BOOST_AUTO_TEST_CASE(a_system_of_no_bodies_has_a_time_of_its_own) {
  nbody_system<double, drag> none(nullptr, nullptr, nullptr, 0, drag{1}, {});
  none.step(0.5, 2);
  BOOST_TEST(none.conserved().energy() == 0);
  nbody_system<double, drag> moved(std::move(none));
  BOOST_TEST(moved.size() == 0u);
}

__global__ void evaluate(named_field<float> field, const point<float, 3>* x,
                         point<float, 3>* accelerations) {
  accelerations[threadIdx.x] = field.acceleration(x[threadIdx.x], 0, 0);
}

// The third power of these distances, and of their inverses, is not in the range of float.
BOOST_AUTO_TEST_CASE(a_point_mass_attracts_at_any_distance_of_its_type) {
  const std::vector<point<float, 3>> x{{{1e13f, 0, 0}}, {{0, 1e-15f, 0}}, {{0, 0, 0}}};
  const auto on_device = tests::upload(x);
  const auto found_on_device = tests::upload(std::vector<point<float, 3>>(3));
  const named_field<float> sun({.point_mass = 1e20});
  BOOST_REQUIRE(
      ramify::launch(evaluate, {1, 3}, nullptr, sun, on_device.data(), found_on_device.data()));
  std::vector<point<float, 3>> found(3);
  tests::download(found_on_device, found);
  BOOST_TEST(found[0].x[0] == -1e-6f, boost::test_tools::tolerance(1e-5f));
  // 1e50 is beyond float; a mass of 1 has 1e30 there.
  BOOST_TEST(std::isinf(found[1].x[1]));
  BOOST_TEST(found[2].x[0] == 0.0f);
  const named_field<float> unit({.point_mass = 1});
  BOOST_REQUIRE(
      ramify::launch(evaluate, {1, 3}, nullptr, unit, on_device.data(), found_on_device.data()));
  tests::download(found_on_device, found);
  BOOST_TEST(found[1].x[1] == -1e30f, boost::test_tools::tolerance(1e-5f));
}

BOOST_AUTO_TEST_SUITE_END()
