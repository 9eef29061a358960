// SPDX-License-Identifier: BSD-3-Clause
// Forces on some bodies: by a tree that was built before the bodies moved, and with several lanes
// for each target.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/runtime/launch_trace.hpp>
#include <string_view>

#include "nbody_checks.cuh"

namespace data = boost::unit_test::data;
using ramify::point;
using ramify::detail::nbody::active_bodies;
using ramify::detail::nbody::gravity_progress;
using ramify::detail::nbody::kept_tree;
using ramify::detail::nbody::lanes_of_target;
using tests::cloud;
using tests::field;
using tests::vector3;

namespace {

constexpr double untouched = 12345;  // of results of bodies that are no targets

/// Bodies of a Plummer sphere with velocities, of which each seventh is a target.
struct moving_cloud {
  explicit moving_cloud(std::size_t n)
      : sphere(common::make_plummer_sphere(n, 3)),
        device(cloud<double>{sphere.positions, sphere.masses}),
        velocities(tests::upload_points(sphere.velocities)),
        progress(1, nullptr) {
    std::vector<std::uint8_t> on_level(n);
    for (std::size_t i = 3; i < n; i += 7) on_level[i] = 2;
    on_level[5] = 1;  // no target
    levels = tests::upload(on_level);
    active = {levels.data(), 2, std::size_t(std::ranges::count(on_level, 2))};
    clear_results();
  }

  void clear_results() {
    const std::vector<double> none(device.size(), untouched);
    device.potentials = tests::upload(none);
    clear_progress(progress.data(), nullptr);
  }
  [[nodiscard]] ramify::detail::nbody::moving_bodies<double> all() const {
    return {device.arrays(), device.positions.data(), velocities.data(), nullptr, {}};
  }
  [[nodiscard]] ramify::spatial_tree<double, 3> tree(const ramify::nbody_options& options) const {
    return {device.positions.data(), device.size(), ramify::detail::nbody::tree_options(options)};
  }
  /// Returns the cloud at the positions that the device has now.
  [[nodiscard]] cloud<double> now() const {
    cloud<double> moved{{}, sphere.masses};
    tests::download_points(device.positions, moved.positions);
    return moved;
  }
  /// Returns the results of the targets. Checks that the other ones are unchanged.
  [[nodiscard]] field<double> results_of_targets() const {
    return of_targets(device.result({}), true);
  }
  /// Returns the part of a field that belongs to the targets.
  [[nodiscard]] field<double> of_targets(const field<double>& from, bool check = false) const {
    field<double> part;
    std::size_t changed = 0;
    for (std::size_t i = 0; i < from.potentials.size(); ++i) {
      if (i % 7 == 3) {
        part.accelerations.push_back(from.accelerations[i]);
        part.potentials.push_back(from.potentials[i]);
      } else if (from.potentials[i] != untouched) {
        ++changed;
      }
    }
    if (check) BOOST_TEST(changed == 0u);
    return part;
  }
  [[nodiscard]] gravity_progress read_progress() const {
    return ramify::read_back(progress.data(), nullptr, "reading the progress");
  }

  common::bodies sphere;
  tests::device_cloud<double> device;
  ramify::device_buffer<point<double, 3>> velocities;
  ramify::device_buffer<gravity_progress> progress;
  ramify::device_buffer<std::uint8_t> levels;
  active_bodies active;
};

struct refit_outcome {
  tests::field_error refitted, stale_boxes, built;
  std::uint64_t refitted_interactions, built_interactions;
};

/// Calculates the forces on the targets after a drift of dt: by a refit, by the moments of the
/// moved bodies in the boxes of the old tree, and by a new tree.
template <int order>
refit_outcome compare(double dt, const ramify::nbody_options& options) {
  using namespace ramify::detail::nbody;
  moving_cloud bodies(1'500);  // the errors of fewer bodies vary more
  kept_tree<double> kept(bodies.tree(options));
  const auto old_tree = bodies.tree(options);
  const auto view = old_tree.view();
  refit_outcome found;
  // 1. The refit.
  BOOST_TEST(kept.serves(bodies.active));
  kept.start_forces(bodies.all(), dt, bodies.active, options, bodies.progress.data());
  const auto truth = bodies.of_targets(tests::sum_of_pairs(bodies.now(), options.softening));
  found.refitted = error_of(bodies.results_of_targets(), truth);
  found.refitted_interactions = bodies.read_progress().interactions;
  BOOST_TEST(bodies.read_progress().first_invalid == no_invalid_body);
  // 2. Fault: the boxes are those of the tree before the drift.
  bodies.clear_results();
  gravity_scratch<double> scratch;
  const auto take = [&](void* base) {
    return scratch.take(base, view.point_count, view.node_count, options);
  };
  const ramify::device_buffer<std::byte> memory(take(nullptr), nullptr);
  take(memory.data());
  target_selection targets(bodies.active, bodies.device.size(), nullptr);
  ramify::clear_memory(scratch.counters, view.node_count, nullptr, "clearing the counters");
  ramify::detail::launch_each(
      move_bodies<double>, view.point_count, nullptr, "moving the bodies", view, bodies.all(), 0.0,
      bodies.active,
      moved_bodies<double>{scratch.bodies, targets.flags(), bodies.progress.data(), 1e100});
  targets.launch_list(nullptr, {});
  reduce_to_nodes<moment_reduction<double, order>, order>(view, options, scratch, nullptr, {});
  force_arguments<double> arguments(bodies.device.arrays(), options, bodies.progress.data(), {});
  arguments.targets = targets.list();
  traverse(view, scratch, options, arguments, nullptr);
  found.stale_boxes = error_of(bodies.results_of_targets(), truth);
  // 3. A new tree.
  bodies.clear_results();
  ramify::detail::run_setup setup("nbody", {});
  gravity_run<double> run(setup, bodies.device.arrays(), 0, options, bodies.active);
  found.built_interactions = run.get().interactions;
  found.built = error_of(bodies.results_of_targets(), truth);
  return found;
}

/// Returns the accelerations of the targets with a number of lanes for each of them.
field<double> with_lanes(moving_cloud& bodies, const ramify::nbody_options& options,
                         unsigned lanes) {
  using namespace ramify::detail::nbody;
  bodies.clear_results();
  const tests::tree_with_nodes made(bodies.device, options);
  const auto view = made.built.view();
  const target_selection targets(bodies.active, bodies.device.size(), nullptr);
  targets.launch(view.ids, nullptr, {});
  force_arguments<double> arguments(bodies.device.arrays(), options, bodies.progress.data(), {});
  arguments.targets = targets.list();
  BOOST_TEST(arguments.targets.lanes == 32u);
  arguments.targets.lanes = lanes;
  traverse(view, made.scratch, options, arguments, nullptr);
  return bodies.results_of_targets();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(refit)

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::not_under_thread_sanitizer))
BOOST_DATA_TEST_CASE(a_refit_has_the_error_of_a_new_tree, data::make({0.0, 0.02, 0.3, 3.0}), dt) {
  for (const int order : {1, 2}) {
    for (const double tolerance : {0.0, 0.1}) {
      ramify::nbody_options options{.order = order, .softening = 0.01};
      options.tolerance = tolerance;
      const auto found = order == 1 ? compare<1>(dt, options) : compare<2>(dt, options);
      BOOST_TEST_MESSAGE("order " << order << ", tolerance " << tolerance << ", dt " << dt
                                  << ": rms " << found.refitted.rms << ", stale boxes "
                                  << found.stale_boxes.rms << ", new tree " << found.built.rms
                                  << "; interactions " << found.refitted_interactions << ", "
                                  << found.built_interactions);
      BOOST_TEST(found.refitted.rms <= 1.1 * found.built.rms);
      BOOST_TEST(found.refitted.max <= 2 * found.built.max);
      BOOST_TEST(found.refitted.potential <= 2 * found.built.potential);
      BOOST_TEST(double(found.refitted_interactions) >= 0.99 * double(found.built_interactions));
      if (tolerance > 0) BOOST_TEST(100 * found.refitted.rms <= tolerance);
      if (dt == 0) {
        BOOST_TEST(found.refitted_interactions == found.built_interactions);
        BOOST_TEST(found.refitted.rms == found.built.rms);
      }
      if (dt >= 0.3) BOOST_TEST(found.stale_boxes.rms > 5 * found.built.rms);
    }
  }
}

BOOST_AUTO_TEST_CASE(lanes_share_the_sources_of_a_target) {
  moving_cloud bodies(601);  // 86 targets: the last group is smaller
  const auto truth = bodies.of_targets(tests::sum_of_pairs(bodies.now(), 0.01));
  const std::uint64_t pairs = bodies.active.count * (bodies.device.size() - 1);
  std::uint64_t fewest = pairs;
  for (unsigned lanes = 1; lanes <= 32; lanes *= 2) {
    BOOST_TEST_CONTEXT(lanes << " lanes") {
      const auto exact = with_lanes(bodies, {.theta = 0, .softening = 0.01}, lanes);
      BOOST_TEST(error_of(exact, truth).max < 1e-12);
      BOOST_TEST(error_of(exact, truth).potential < 1e-13);
      BOOST_TEST(bodies.read_progress().interactions == pairs);
      for (const int order : {1, 2}) {
        for (const double tolerance : {0.0, 0.1}) {
          ramify::nbody_options options{.order = order, .softening = 0.01};
          options.tolerance = tolerance;
          const auto found = with_lanes(bodies, options, lanes);
          const double bound = tolerance > 0 ? tolerance / 100 : order == 1 ? 1e-2 : 5e-3;
          BOOST_TEST(error_of(found, truth).rms < bound);
          BOOST_TEST((with_lanes(bodies, options, lanes).accelerations == found.accelerations));
        }
      }
      // A smaller group opens fewer nodes.
      BOOST_TEST(bodies.read_progress().interactions <= fewest);
      fewest = bodies.read_progress().interactions;
    }
  }
  BOOST_TEST(fewest < pairs);
}

BOOST_AUTO_TEST_CASE(few_targets_have_many_lanes) {
  BOOST_TEST(lanes_of_target(1) == 32u);
  unsigned last = 32;
  for (std::uint32_t count = 1; count < 1u << 31; count += count / 3 + 1) {
    const unsigned lanes = lanes_of_target(count);
    BOOST_TEST((lanes == last || lanes < last));
    BOOST_TEST((lanes & (lanes - 1)) == 0u);
    last = lanes;
  }
  BOOST_TEST(last == 2u);
}

BOOST_AUTO_TEST_CASE(a_tree_serves_as_many_forces_as_there_are_bodies) {
  moving_cloud bodies(400);
  const ramify::nbody_options options{.softening = 0.01};
  const auto some = [&](std::size_t count) {
    return active_bodies{bodies.levels.data(), 2, count};
  };
  BOOST_TEST(!kept_tree<double>().serves(some(1)));
  kept_tree<double> kept(bodies.tree(options));
  BOOST_TEST(kept.serves(some(399)));
  BOOST_TEST(!kept.serves(some(400)));  // all bodies: as with steps of one length
  BOOST_TEST(!kept.serves({}));
  kept.start_forces(bodies.all(), 0.01, bodies.active, options, bodies.progress.data());
  const std::size_t left = 400 - bodies.active.count;
  BOOST_TEST(kept.serves(some(left)));
  BOOST_TEST(!kept.serves(some(left + 1)));
}

// The trace of a simulation shows which force calculations build a tree.
BOOST_AUTO_TEST_CASE(few_active_bodies_build_no_tree,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  const auto sphere = common::make_plummer_sphere(400, 4);
  ramify::launch_trace trace;
  auto options = tests::options_for(0.7, 0.002);
  options.step_levels = 8;
  options.step_accuracy = 0.1;
  auto env = tests::environment_for();
  env.trace = &trace;
  ramify::nbody_simulation<double> simulation(sphere.positions, sphere.velocities, sphere.masses,
                                              options, env);
  const auto grids = [&](std::string_view kernel) {
    std::uint64_t count = 0;
    for (const auto& g : trace.grids) {
      if (g.kernel.find(kernel) != std::string_view::npos) count += g.runs;
    }
    return count;
  };
  BOOST_TEST(grids("encode_points") == 1u);
  const std::uint64_t before = simulation.report().force_calculations;
  simulation.step(0.25);
  const std::uint64_t forces = simulation.report().force_calculations - before;
  const std::uint64_t builds = grids("encode_points") - 1;
  const std::uint64_t refits = grids("move_bodies");
  BOOST_TEST_MESSAGE(builds << " builds, " << refits << " refits, " << forces << " forces");
  BOOST_TEST(grids("change_steps") == builds + refits + 1);
  BOOST_TEST(builds >= 1u);
  BOOST_TEST(refits > 2 * builds);
  BOOST_TEST(builds <= forces / 400 + 1);
}

BOOST_AUTO_TEST_SUITE_END()
