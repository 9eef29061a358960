// SPDX-License-Identifier: BSD-3-Clause
// Steps of a simulation that are started and completed later: without waits, with failed launches,
// in memory of the caller, and captured into a graph.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::completion;
using ramify::device_buffer;
using ramify::environment;
using ramify::nbody_method;
using ramify::nbody_options;
using ramify::point;
using ramify::route;
using tests::bodies_of_deep_tree;
using tests::names;
using tests::routes;
using system_type = ramify::nbody_system<float>;

namespace {

constexpr double dt = 0.01;

nbody_options options_of(nbody_method method = nbody_method::tree) {
  return {.theta = 1, .softening = 0.1, .method = method};
}

/// Returns memory of the caller for a system of n bodies.
device_buffer<std::byte> memory_for(std::size_t n, nbody_method method = nbody_method::tree) {
  return {ramify::nbody_system_scratch_bytes<float>(n, options_of(method)), nullptr};
}

/// Returns a cluster of n bodies at rest.
system_type cluster(std::size_t n, const environment& env,
                    nbody_method method = nbody_method::tree) {
  const tests::device_cloud<float> c(tests::rounded<float>(tests::plummer_cloud(n, 2)));
  const auto velocities = tests::upload(std::vector<point<float, 3>>(n));
  ramify::check(cudaDeviceSynchronize(), "waiting for the uploads");
  return {c.positions.data(), velocities.data(), c.masses.data(), n, options_of(method), env};
}

/// The state of all bodies.
struct bodies {
  std::vector<float> numbers;  ///< positions, velocities, accelerations, potentials
  explicit bodies(const system_type& system) {
    const auto append = [&](const void* from, std::size_t count) {
      const std::size_t before = numbers.size();
      numbers.resize(before + count);
      ramify::check(cudaMemcpyAsync(numbers.data() + before, from, count * sizeof(float),
                                    cudaMemcpyDeviceToHost, system.stream()),
                    "downloading the bodies");
      ramify::check(cudaStreamSynchronize(system.stream()), "waiting for the bodies");
    };
    append(system.positions(), 3 * system.size());
    append(system.velocities(), 3 * system.size());
    append(system.accelerations(), 3 * system.size());
    append(system.potentials(), system.size());
  }
  bool operator==(const bodies&) const = default;
};

/// Returns the bodies after some steps of the direct sum or of the tree code by the flat route.
bodies after(std::size_t n, std::uint64_t steps, nbody_method method = nbody_method::tree) {
  system_type system = cluster(n, {.route = route::flat}, method);
  system.step(dt, steps);
  return bodies(system);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(asynchronous_steps)

BOOST_DATA_TEST_CASE(every_limit_in_any_memory,
                     data::make({1, 16, 2048}) * data::make(routes) * data::make({false, true}),
                     limit, taken, given) {
  static int piece = 0;  // counts all cases
  if (tests::left_out_by_tsan(piece, 5)) return;
  static const bodies expected = after(bodies_of_deep_tree, 2);
  const auto limits = tests::scoped_limit(std::size_t(limit));
  const auto memory = memory_for(given ? bodies_of_deep_tree : 0);
  environment env{.route = taken};
  if (given) env.memory = memory;
  system_type system = cluster(bodies_of_deep_tree, env);
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  std::uint64_t reported = 0;
  for (int step = 0; step < 2; ++step) {
    auto run = system.step_async(dt);
    const auto report = run.get();
    BOOST_TEST(report.bodies == bodies_of_deep_tree);
    reported += report.host_grids + report.child_grids;
  }
  if (!RAMIFY_ON_CUDA) BOOST_TEST(reported == ramify::cpu::grids_begun() - grids_before);
  BOOST_TEST((bodies(system) == expected));
  BOOST_TEST(tests::leaked_slots() == 0u);
}

BOOST_AUTO_TEST_CASE(steps_by_the_direct_sum) {
  const auto memory = memory_for(500, nbody_method::direct);
  system_type system = cluster(500, {.memory = memory}, nbody_method::direct);
  system.step_async(dt).get();
  const auto report = system.step_async(dt).get();
  BOOST_TEST(report.interactions == 500u * 499u);
  BOOST_TEST(system.report().interactions == 3 * 500u * 499u);
  BOOST_TEST((bodies(system) == after(500, 2, nbody_method::direct)));
  BOOST_TEST((bodies(system) != after(500, 1, nbody_method::direct)));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  static const bodies expected = after(bodies_of_deep_tree, 1);
  const auto count_interrupted = [](completion until) {
    unsigned interrupted = 0;
    for (std::uint64_t failing = 1; failing <= 4; ++failing) {
      BOOST_TEST_CONTEXT("launch " << failing << ", " << to_string(until)) {
        system_type system =
            cluster(bodies_of_deep_tree, {.route = route::device, .completion = until});
        auto config = ramify::cpu::current_executor_config();
        config.failing_launch = failing;
        const ramify::cpu::scoped_executor_config scope(config);
        auto run = system.step_async(dt);
        if (!(bodies(system) == expected)) ++interrupted;
        (void)run.get();
        BOOST_TEST((bodies(system) == expected));
      }
    }
    return interrupted;
  };
  BOOST_TEST(count_interrupted(completion::in_stream) == 0u);
  BOOST_TEST(count_interrupted(completion::by_get) > 0u);  // the second kick waited for the host
}

// Several steps before get(), as if a graph were launched several times. With by_get the host must
// complete the forces of the first step; until then the other steps do nothing.
BOOST_AUTO_TEST_CASE(the_last_get_completes_all_steps) {
  for (const completion until : {completion::by_get, completion::in_stream}) {
    system_type system = cluster(bodies_of_deep_tree, {.route = route::flat, .completion = until});
    for (int step = 0; step < 2; ++step) static_cast<void>(system.step_async(dt));
    system.step_async(dt).get();
    BOOST_TEST((bodies(system) == after(bodies_of_deep_tree, 3)));
  }
}

BOOST_AUTO_TEST_CASE(a_body_that_leaves_the_range_is_named_by_get) {
  for (const auto method : {nbody_method::tree, nbody_method::direct}) {
    const auto at_rest = tests::upload(std::vector<point<float, 3>>(2));
    const auto fast = tests::upload(std::vector<point<float, 3>>{{}, {{0, 4e18f, 0}}});
    const auto masses = tests::upload(std::vector<float>(2, 1));
    ramify::check(cudaDeviceSynchronize(), "waiting for the uploads");
    system_type system(at_rest.data(), fast.data(), masses.data(), 2, options_of(method),
                       {.route = route::flat});
    auto run = system.step_async(2);
    BOOST_CHECK_EXCEPTION((void)run.get(), std::invalid_argument, names("positions[1] is ("));
    // The bodies are in the middle of the step: they come back, and the next step is complete.
    system.step(-2);
    BOOST_TEST(bodies(system).numbers[4] == 0.f);
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments_change_nothing) {
  const auto memory = memory_for(100);
  BOOST_CHECK_EXCEPTION((void)cluster(100, {.memory = {memory.data(), memory.size() - 1}}),
                        std::invalid_argument, names("environment.memory has"));
  system_type system = cluster(100, {.route = route::flat});
  const bodies before(system);
  BOOST_CHECK_EXCEPTION((void)system.step_async(NAN), std::invalid_argument,
                        names("dt must be finite"));
  BOOST_TEST((bodies(system) == before));
  system_type none(nullptr, nullptr, nullptr, 0);
  BOOST_TEST(none.step_async(dt).get().host_grids == 0u);
}

#if RAMIFY_ON_CUDA

// Each launch of the graph is a step. get() follows each launch, or only the last one; with no free
// launch slots the host completes the steps.
BOOST_DATA_TEST_CASE(a_captured_step_runs_in_each_launch_of_its_graph,
                     data::make(routes) * data::make({nbody_method::tree, nbody_method::direct}) *
                         data::make({false, true}) * data::make({false, true}),
                     taken, method, get_each, without_slots) {
  if (taken == route::device && !ramify::device_launch_available) return;
  const ramify::host_stream stream;
  const auto memory = memory_for(bodies_of_deep_tree, method);
  system_type system =
      cluster(bodies_of_deep_tree, {.stream = stream, .memory = memory, .route = taken}, method);
  ramify::check(cudaDeviceSynchronize(), "waiting");
  std::optional<ramify::async_run<ramify::nbody_report>> run;
  const ramify::captured_graph graph(
      stream.get(),
      [&] {
        run = system.step_async(dt);
        BOOST_CHECK_THROW((void)run->get(), std::logic_error);
      },
      cudaStreamCaptureModeRelaxed);
  std::optional<tests::all_slots_taken> occupied;
  if (without_slots) occupied.emplace(*ramify::current_launch_limits().pending_launches);
  for (int launched = 0; launched < 3; ++launched) {
    graph.launch(stream.get());
    if (get_each || launched == 2) (void)run->get();
  }
  BOOST_TEST((bodies(system) == after(bodies_of_deep_tree, 3, method)));
}

BOOST_AUTO_TEST_CASE(a_captured_step_requires_memory) {
  const ramify::host_stream stream;
  system_type system = cluster(100, {.stream = stream, .route = route::flat});
  const auto capture = [&] {
    const ramify::captured_graph graph(stream.get(), [&] { (void)system.step_async(dt); });
  };
  BOOST_CHECK_EXCEPTION(capture(), std::invalid_argument,
                        names("nbody_system: environment.memory is empty"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
