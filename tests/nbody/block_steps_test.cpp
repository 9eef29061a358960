// SPDX-License-Identifier: BSD-3-Clause
// Simulations with block time steps, compared with steps of one length, with a plain reference, and
// with the theory of orbits.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <ramify/cpu/executor.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "kepler.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"
#include "reference_steps.hpp"

namespace data = boost::unit_test::data;
using ramify::environment;
using ramify::nbody_method;
using ramify::nbody_options;
using ramify::nbody_simulation;
using tests::bodies_of_deep_tree;
using tests::distance;
using tests::environment_for;
using tests::kepler;
using tests::names;
using tests::routes;
using tests::vector3;

namespace {

constexpr nbody_method methods[] = {nbody_method::tree, nbody_method::direct};
constexpr double any_step = 1e30;     // a step_accuracy with which all bodies are on level 0
constexpr double least_step = 1e-30;  // a step_accuracy with which all bodies are on the last level

nbody_options options_of(unsigned levels, double accuracy, nbody_method method, double theta = 0.7,
                         double softening = 0.05) {
  return {.theta = theta,
          .softening = softening,
          .step_levels = levels,
          .step_accuracy = accuracy,
          .method = method};
}

template <class Real>
tests::vectors<Real> as_real(const std::vector<vector3>& from, double factor = 1) {
  tests::vectors<Real> to;
  for (const auto& x : from)
    to.push_back({Real(factor * x[0]), Real(factor * x[1]), Real(factor * x[2])});
  return to;
}

/// Starts a simulation with the velocities times a factor.
template <class Real>
nbody_simulation<Real> start(const common::bodies& from, const nbody_options& options,
                             double factor = 1, const environment& env = environment_for()) {
  const std::vector<Real> masses(from.masses.begin(), from.masses.end());
  return {as_real<Real>(from.positions), as_real<Real>(from.velocities, factor), masses, options,
          env};
}

/// The state of all bodies.
template <class Real>
struct state {
  tests::vectors<Real> positions, velocities, accelerations;
  std::vector<Real> potentials;

  explicit state(const nbody_simulation<Real>& from)
      : positions(from.size()),
        velocities(from.size()),
        accelerations(from.size()),
        potentials(from.size()) {
    from.download(positions, velocities, accelerations, potentials);
  }
  bool operator==(const state&) const = default;
};

/// Returns the state after steps of dt. Checks that the report counts all grids that the CPU
/// executor began, and that no launch slot is in use afterwards.
template <class Real>
state<Real> after(const common::bodies& from, const nbody_options& options, double dt,
                  std::uint64_t steps, const environment& env = environment_for()) {
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  auto simulation = start<Real>(from, options, 1, env);
  simulation.step(dt, steps);
  const auto report = simulation.report();
  if (!RAMIFY_ON_CUDA) {
    BOOST_TEST(report.host_grids + report.child_grids == ramify::cpu::grids_begun() - grids_before);
  }
  BOOST_TEST(tests::leaked_slots() == 0u);
  return state<Real>(simulation);
}

template <class Real>
void check_equal_levels(nbody_method method, int order, double tolerance) {
  const auto sphere = common::make_plummer_sphere(std::size_t(tests::cut_down(300, 100)), 4);
  auto options = options_of(1, 0.025, method);
  options.order = order;
  if (tolerance > 0) {
    options.theta = nbody_options{}.theta;
    options.tolerance = tolerance;
  }
  const auto large = after<Real>(sphere, options, 0.04, 2);
  const auto small = after<Real>(sphere, options, 0.01, 8);
  options.step_levels = 3;
  options.step_accuracy = any_step;
  BOOST_TEST((after<Real>(sphere, options, 0.04, 2) == large));
  options.step_accuracy = least_step;
  BOOST_TEST((after<Real>(sphere, options, 0.04, 2) == small));
  BOOST_TEST((large != small));
}

/// Returns the maximum distance of a body of the simulation from that of the reference.
double difference(const nbody_simulation<double>& simulation,
                  const tests::reference_steps& reference) {
  const state<double> found(simulation);
  double max = 0;
  for (std::size_t i = 0; i < found.positions.size(); ++i) {
    max = tests::greater_error(max, distance(found.positions[i], reference.bodies.positions[i]));
    max = tests::greater_error(max, distance(found.velocities[i], reference.bodies.velocities[i]));
  }
  return max;
}

/// The errors of a simulation, and its cost.
struct run_error {
  double energy = 0;    ///< maximum relative change of the energy after a step
  double position = 0;  ///< maximum distance from Kepler's solution, if there are two bodies
  std::uint64_t force_calculations = 0;
};

/// Takes steps of time / steps, and compares the energy after each time / samples.
run_error error_of_run(nbody_simulation<double> simulation, double time, unsigned steps,
                       unsigned samples, const kepler* orbit = nullptr) {
  const double first = simulation.conserved().energy();
  run_error found;
  std::vector<vector3> now(simulation.size());
  for (unsigned i = 1; i <= samples; ++i) {
    simulation.step(time / steps, steps / samples);
    const double change = std::abs(simulation.conserved().energy() / first - 1);
    found.energy = tests::greater_error(found.energy, change);
    if (orbit == nullptr) continue;
    simulation.download(now);
    const vector3 apart{now[1][0] - now[0][0], now[1][1] - now[0][1], now[1][2] - now[0][2]};
    found.position =
        tests::greater_error(found.position, distance(apart, orbit->apart_at(time * i / samples)));
  }
  found.force_calculations = simulation.report().force_calculations;
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(block_steps)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(bodies_on_one_level_have_the_bits_of_equal_steps) {
  for (const auto method : methods) {
    check_equal_levels<float>(method, 2, 0);
    check_equal_levels<double>(method, 2, 0);
  }
  check_equal_levels<float>(nbody_method::tree, 1, 0);
  check_equal_levels<double>(nbody_method::tree, 2, 0.1);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(steps_match_a_plain_reference) {
  const auto sphere = common::make_plummer_sphere(150, 4);
  for (const auto method : methods) {
    for (const double dt : {0.1, -0.1}) {
      BOOST_TEST_CONTEXT(to_string(method) << ", dt " << dt) {
        const auto options = options_of(5, 0.005, method, 0);
        auto simulation = start<double>(sphere, options);
        tests::reference_steps reference(sphere, options);
        for (int i = 0; i < 4; ++i) reference.step(dt);
        simulation.step(dt, 4);
        BOOST_TEST(difference(simulation, reference) < 1e-10);
        const auto report = simulation.report();
        BOOST_TEST(report.force_calculations == 150 + reference.force_calculations);
        BOOST_TEST(report.bodies_on_level == reference.bodies_on_level(),
                   boost::test_tools::per_element());
        if (method == nbody_method::direct) {
          BOOST_TEST(report.interactions == report.force_calculations * 149);
        }
        BOOST_TEST(std::ranges::count(report.bodies_on_level, 0u) <= 1);
        using fault = tests::reference_steps::fault;
        for (const auto inserted : {fault::unaligned, fault::frozen_sources, fault::late_kick}) {
          tests::reference_steps wrong(sphere, options);
          for (int i = 0; i < 4; ++i) wrong.step(dt, inserted);
          BOOST_TEST_MESSAGE("fault " << int(inserted) << ": " << difference(simulation, wrong));
          BOOST_TEST(difference(simulation, wrong) > 1e-6);
        }
      }
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(an_eccentric_orbit_needs_fewer_forces) {
  const kepler orbit(0.9);
  const common::bodies two{orbit.positions, orbit.velocities, orbit.masses};
  // This softening moves the bodies from Kepler's orbit by less than 1e-4.
  auto options = options_of(14, 0.2, nbody_method::direct, 0, 1e-3);
  options.gravitational_constant = kepler::gravity;
  const auto blocks = error_of_run(start<double>(two, options), kepler::period(), 16, 16, &orbit);
  options.step_levels = 1;
  const auto equal_steps = [&](std::uint64_t steps) {
    steps = (steps + 15) / 16 * 16;
    return error_of_run(start<double>(two, options), kepler::period(), unsigned(steps), 16, &orbit);
  };
  const auto equal = equal_steps(blocks.force_calculations / 2);
  const auto many = equal_steps(4 * blocks.force_calculations);
  for (const auto& found : {blocks, equal, many}) {
    BOOST_TEST_MESSAGE(found.force_calculations << " force calculations: energy " << found.energy
                                                << ", position " << found.position);
  }
  BOOST_TEST(blocks.force_calculations <= equal.force_calculations);
  BOOST_TEST(blocks.energy < equal.energy / 50);
  BOOST_TEST(blocks.position < equal.position / 50);
  BOOST_TEST(blocks.position < 2e-3);
  BOOST_TEST(blocks.energy < many.energy);
  BOOST_TEST(blocks.position < many.position);
}

// The bodies with close neighbors have small steps, the others large ones.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(a_cluster_needs_fewer_forces, data::make(methods), method) {
  const auto sphere = common::make_plummer_sphere(300, 4);
  auto options = options_of(7, 0.025, method, 0.3, 0.005);
  const auto steps = [&](unsigned levels, unsigned count) {
    options.step_levels = levels;
    return error_of_run(start<double>(sphere, options), 0.5, count, 4);
  };
  const auto blocks = steps(7, 4);
  const auto equal = steps(1, unsigned(blocks.force_calculations / 300 / 4 + 1) * 4);
  const auto smallest = steps(1, 4 << 6);
  for (const auto& found : {blocks, equal, smallest}) {
    BOOST_TEST_MESSAGE(found.force_calculations << " force calculations: " << found.energy);
  }
  BOOST_TEST(blocks.force_calculations <= equal.force_calculations);
  BOOST_TEST(blocks.energy < equal.energy / 5);
  BOOST_TEST(blocks.force_calculations < smallest.force_calculations / 4);
  BOOST_TEST(blocks.energy < 4 * smallest.energy);
}

// A body and those that it acts on are kicked at different times.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_AUTO_TEST_CASE(momenta_change_by_the_error_of_the_steps) {
  const auto sphere = common::make_plummer_sphere(200, 4);
  const auto momentum = [&](unsigned levels, double accuracy) {
    auto simulation =
        start<double>(sphere, options_of(levels, accuracy, nbody_method::direct, 0.5, 0.02));
    simulation.step(0.125, 4);
    const auto after = simulation.conserved();
    return std::hypot(after.momentum[0], after.momentum[1], after.momentum[2]);
  };
  const double coarse = momentum(8, 0.025);
  const double fine = momentum(8, 0.0025);
  BOOST_TEST_MESSAGE("momenta " << coarse << ", " << fine << ", " << momentum(1, 0.025));
  BOOST_TEST(momentum(1, 0.025) < 1e-13);
  BOOST_TEST(momentum(8, least_step) < 1e-13);  // all bodies on one level
  BOOST_TEST(coarse < 1e-3);
  BOOST_TEST(fine < coarse / 3);
  BOOST_TEST(fine > 1e-13);
}

BOOST_AUTO_TEST_CASE(a_negative_dt_mirrors_the_velocities) {
  const auto sphere = common::make_plummer_sphere(200, 4);
  for (const auto method : methods) {
    const auto options = options_of(6, 0.01, method);
    auto forth = start<float>(sphere, options);
    auto back = start<float>(sphere, options, -1);
    forth.step(0.1, 3);
    back.step(-0.1, 3);
    const state<float> a(forth);
    state<float> b(back);
    BOOST_TEST((a.velocities != b.velocities));
    for (auto& v : b.velocities) v = {-v[0], -v[1], -v[2]};
    BOOST_TEST((a == b));
    BOOST_TEST(forth.report().bodies_on_level[0] < 200u);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(every_schedule_gives_the_same_bits) {
  const auto sphere = common::make_plummer_sphere(2'300, 2);  // grids launch grids from 2,049 on
  const auto options = options_of(3, 0.025, nbody_method::tree, 2);
  const auto bits = [&](ramify::route taken) {
    return after<float>(sphere, options, 0.05, 1, environment_for(taken));
  };
  const auto expected = bits(ramify::route::automatic);
  const int schedules = RAMIFY_THREAD_SANITIZER ? 2 : tests::sampled(24, 4, 2);
  for (int seed = 0; seed < schedules; ++seed) {
    const ramify::cpu::scoped_executor_config config(
        {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
    BOOST_TEST_CONTEXT("seed " << seed) { BOOST_TEST((bits(routes[seed % 2]) == expected)); }
  }
  int piece = 0;
  for (const char* order : {"eager", "late", "parallel:7"}) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(order));
    for (const auto taken : routes) {
      if (tests::left_out(piece, RAMIFY_THREAD_SANITIZER ? 4 : 2)) continue;
      BOOST_TEST((bits(taken) == expected));
    }
  }
}

BOOST_DATA_TEST_CASE(every_limit_gives_the_same_bits, data::make({1, 2048}) * data::make(routes),
                     pending_launches, taken) {
  static int piece = 0;  // counts all limits and routes
  if (tests::left_out_by_tsan(piece, 5)) return;
  const auto sphere = common::make_plummer_sphere(bodies_of_deep_tree, 2);
  const auto options = options_of(2, 0.025, nbody_method::tree, 2);
  static const auto expected = after<float>(sphere, options, 0.05, 1);
  auto env = environment_for(taken);
  env.pending_launches = std::size_t(pending_launches);
  BOOST_TEST((after<float>(sphere, options, 0.05, 1, env) == expected));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  const auto sphere = common::make_plummer_sphere(bodies_of_deep_tree, 2);
  const auto options = options_of(3, 0.004, nbody_method::tree, 2);
  const auto env = environment_for(ramify::route::device);
  const auto expected = after<float>(sphere, options, 0.05, 1, env);
  for (std::uint64_t failing = 1; failing <= 3; ++failing) {
    BOOST_TEST_CONTEXT("launch " << failing) {
      auto simulation = start<float>(sphere, options, 1, env);
      auto config = ramify::cpu::current_executor_config();
      config.failing_launch = failing;
      const ramify::cpu::scoped_executor_config scope(config);
      simulation.step(0.05);
      BOOST_TEST((state<float>(simulation) == expected));
      // More than half of the bodies are active twice before the middle of the step, and some are
      // not in the middle. So the first build, which the failed launch interrupts, is there.
      const auto levels = simulation.report().bodies_on_level;
      BOOST_TEST(levels[0] > 0u);
      BOOST_TEST(2 * levels[2] > sphere.size());
    }
  }
}

BOOST_AUTO_TEST_CASE(small_simulations) {
  const auto options = options_of(4, 0.025, nbody_method::tree);
  auto none = start<double>({}, options);
  none.step(0.1, 3);
  BOOST_TEST(none.report().bodies_on_level.empty());
  // One body has no acceleration, and a dt of 0 moves nothing.
  const common::bodies single{{{1, 2, 3}}, {{1, 0, 0}}, {1}};
  auto one = start<double>(single, options);
  one.step(0.5, 2);
  BOOST_TEST((state<double>(one).positions[0] == vector3{2, 2, 3}));
  const std::vector<std::uint64_t> on_level_0{1, 0, 0, 0};
  BOOST_TEST(one.report().bodies_on_level == on_level_0, boost::test_tools::per_element());
  const auto sphere = common::make_plummer_sphere(100, 4);
  auto simulation = start<double>(sphere, options);
  const state<double> before(simulation);
  simulation.step(0);
  BOOST_TEST((state<double>(simulation) == before));
  // A moved simulation keeps its levels. dt may differ between steps.
  simulation.step(0.2);
  const auto levels = simulation.report().bodies_on_level;
  BOOST_TEST(std::accumulate(levels.begin(), levels.end(), std::uint64_t{0}) == 100u);
  auto moved = std::move(simulation);
  BOOST_TEST(moved.report().bodies_on_level == levels, boost::test_tools::per_element());
  moved.step(1e-6);
  BOOST_TEST(moved.report().bodies_on_level[0] == 100u);
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto sphere = common::make_plummer_sphere(10, 4);
  const auto refused = [&](unsigned levels, double accuracy, double softening, const char* text) {
    BOOST_CHECK_EXCEPTION(
        start<float>(sphere, options_of(levels, accuracy, nbody_method::tree, 0.5, softening)),
        std::invalid_argument, names(text));
  };
  refused(0, 0.025, 0.1, "nbody_options.step_levels is 0; it must be in [1, 20]");
  refused(21, 0.025, 0.1, "nbody_options.step_levels is 21; it must be in [1, 20]");
  for (const double bad : {0.0, -1.0, double(NAN), double(INFINITY)}) {
    refused(1, bad, 0.1, "nbody_options.step_accuracy is ");
  }
  refused(2, 0.025, 0, "nbody_options.softening is 0; it must be larger than 0 if step_levels");

  auto simulation = start<float>(sphere, options_of(20, 0.025, nbody_method::tree));
  BOOST_CHECK_EXCEPTION(simulation.step(NAN), std::invalid_argument, names("dt must be finite"));
  ramify::nbody_system<float> system(nullptr, nullptr, nullptr, 0,
                                     options_of(2, 0.025, nbody_method::tree));
  BOOST_CHECK_EXCEPTION((void)system.step_async(0.1), std::invalid_argument,
                        names("nbody_options.step_levels is 2; it must be 1 for"));
  // A body that leaves the range of coordinates.
  const common::bodies fast{{{0, 0, 0}, {1, 0, 0}}, {{0, 0, 0}, {0, 4e18, 0}}, {1, 1}};
  for (const auto method : methods) {
    auto two = start<float>(fast, options_of(3, 0.025, method));
    BOOST_CHECK_EXCEPTION(two.step(2), std::invalid_argument, names("positions[1] is ("));
  }
}

BOOST_AUTO_TEST_SUITE_END()
