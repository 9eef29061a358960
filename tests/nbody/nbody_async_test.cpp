// SPDX-License-Identifier: BSD-3-Clause
// Force calculations that are started and completed later: without waits, with failed launches, in
// memory of the caller, and captured into a graph.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "nbody_checks.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::device_buffer;
using ramify::environment;
using ramify::memory_ref;
using ramify::nbody_options;
using ramify::route;
using tests::bodies_of_deep_tree;
using tests::cloud;
using tests::device_cloud;
using tests::field;
using tests::names;
using tests::rounded;
using tests::routes;
using tests::same_bits;
using tests::shape;

namespace {

const nbody_options wide_angle{.theta = 2, .softening = 0.1};

/// Returns memory of the caller for a calculation by the tree code.
device_buffer<std::byte> memory_for(std::size_t n, const nbody_options& options) {
  return {ramify::barnes_hut_scratch_bytes<float>(n, options), nullptr};
}

/// Starts and completes a calculation by the tree code, in memory of the caller if `given`.
field<float> async_field(const cloud<float>& from, const nbody_options& options, environment env,
                         bool given) {
  const device_cloud<float> c(from);
  const ramify::barnes_hut<float> gravity(options);
  const auto memory = memory_for(given ? c.size() : 0, options);
  if (given) env.memory = memory;
  auto run = gravity.accelerations_async(c.positions.data(), c.masses.data(), c.size(),
                                         c.accelerations.data(), c.potentials.data(), env);
  const auto report = run.get();
  BOOST_TEST(tests::leaked_slots() == 0u);
  return c.result(report);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(asynchronous_gravity)

BOOST_DATA_TEST_CASE(every_limit_in_any_memory,
                     data::make({1, 16, 32, 2048}) * data::make(routes) * data::make({false, true}),
                     limit, taken, given) {
  static int piece = 0;  // counts all cases
  if (tests::left_out_by_tsan(piece, 5)) return;
  const auto c = rounded<float>(tests::plummer_cloud(bodies_of_deep_tree, 2));
  static const auto expected = async_field(c, wide_angle, {.route = route::flat}, false);
  const auto limits = tests::scoped_limit(std::size_t(limit));
  BOOST_TEST(same_bits(async_field(c, wide_angle, {.route = taken}, given), expected));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch) {
  const auto c = rounded<float>(tests::plummer_cloud(4'000, 3));
  const environment env{.route = route::device, .completion = ramify::completion::by_get};
  const auto expected = async_field(c, wide_angle, env, false);
  unsigned interrupted = 0;
  for (std::uint64_t failing = 1; failing <= 6; ++failing) {
    BOOST_TEST_CONTEXT("launch " << failing) {
      auto config = ramify::cpu::current_executor_config();
      config.failing_launch = failing;
      const ramify::cpu::scoped_executor_config scope(config);
      const auto found = async_field(c, wide_angle, env, failing % 2 == 0);
      BOOST_TEST(same_bits(found, expected));
      if (found.report.host_grids > expected.report.host_grids || found.report.spilled_tasks > 0) {
        ++interrupted;
      }
    }
  }
  // Negative control: the failures did interrupt the sort and the recursion.
  BOOST_TEST(interrupted >= 2u);
}

BOOST_AUTO_TEST_CASE(a_tree_with_too_many_nodes) {
  const auto c = rounded<float>(tests::make_cloud(shape::cube, 2'500));
  const environment env{.route = route::device};
  auto options = wide_angle;
  const auto expected = async_field(c, options, env, false);
  options.max_nodes = 10;
  BOOST_TEST(same_bits(async_field(c, options, env, false), expected));
  BOOST_CHECK_EXCEPTION((void)async_field(c, options, env, true), std::length_error,
                        names("more than 10 nodes"));
  options.max_nodes = 5'000;
  BOOST_TEST(same_bits(async_field(c, options, env, true), expected));
}

BOOST_AUTO_TEST_CASE(invalid_bodies_are_named_by_get) {
  auto c = rounded<float>(tests::make_cloud(shape::cube, 700));
  c.positions[600][0] = std::numeric_limits<float>::quiet_NaN();
  c.masses[650] = std::numeric_limits<float>::infinity();
  for (const bool given : {false, true}) {
    BOOST_CHECK_EXCEPTION((void)async_field(c, {}, {}, given), std::invalid_argument,
                          names("barnes_hut: positions[600] is ("));
  }
  c.positions[600][0] = 0;
  BOOST_CHECK_EXCEPTION((void)async_field(c, {}, {}, true), std::invalid_argument,
                        names("barnes_hut: masses[650] is inf"));
  BOOST_TEST(tests::leaked_slots() == 0u);
}

BOOST_AUTO_TEST_CASE(bad_memory_is_named) {
  const device_cloud<float> c(rounded<float>(tests::make_cloud(shape::cube, 100)));
  const auto memory = memory_for(100, {});
  BOOST_CHECK_EXCEPTION((void)c.calculate(ramify::barnes_hut<float>(),
                                          {.memory = memory_ref(memory.data(), memory.size() - 1)}),
                        std::invalid_argument, names("barnes_hut: environment.memory has"));
  BOOST_CHECK_EXCEPTION((void)ramify::direct_gravity_async<float>(
                            c.positions.data(), c.masses.data(), 100, c.accelerations.data(),
                            nullptr, {.memory = memory_ref(memory.data(), 8)}),
                        std::invalid_argument,
                        names("direct_gravity: environment.memory has 8 bytes"));
}

BOOST_AUTO_TEST_CASE(a_graph_launches_the_levels_of_the_flat_route_where_it_can) {
  const auto c = rounded<float>(tests::plummer_cloud(bodies_of_deep_tree, 2));
  environment env{.route = route::flat};
  const auto expected = async_field(c, wide_angle, env, false);
  env.flat_loop = ramify::flat_loop::graph;
  if (!RAMIFY_ON_CUDA) {
    BOOST_CHECK_EXCEPTION((void)async_field(c, wide_angle, env, false), ramify::unavailable,
                          names("environment.flat_loop graph is not available"));
    return;
  }
  const auto found = async_field(c, wide_angle, env, true);
  BOOST_TEST(same_bits(found, expected));
  BOOST_TEST(found.report.graph_grids > 0u);
}

BOOST_AUTO_TEST_CASE(no_bodies) {
  ramify::barnes_hut<float> gravity;
  auto run = gravity.accelerations_async(nullptr, nullptr, 0, nullptr);
  BOOST_TEST(run.get().host_grids == 0u);
  auto sum = ramify::direct_gravity_async<float>(nullptr, nullptr, 0, nullptr);
  BOOST_TEST(sum.get().host_grids == 0u);
}

#if RAMIFY_ON_CUDA

namespace {

/// Captures what `start(c, stream)` starts, launches it three times with new positions, and
/// compares each result with `calculate(c)`, an ordinary calculation.
template <class Start, class Calculate>
void expect_captured(std::size_t n, Start start, Calculate calculate) {
  const ramify::host_stream stream;
  const device_cloud<float> c(rounded<float>(tests::plummer_cloud(n, 1)));
  ramify::check(cudaDeviceSynchronize(), "waiting");
  std::optional<decltype(start(c, stream.get()))> run;
  const ramify::captured_graph graph(
      stream.get(),
      [&] {
        run = start(c, stream.get());
        BOOST_CHECK_THROW((void)run->get(), std::logic_error);
      },
      cudaStreamCaptureModeRelaxed);
  for (unsigned launched = 0; launched < 3; ++launched) {
    const auto now = rounded<float>(tests::plummer_cloud(n, launched + 5));
    const device_cloud<float> fresh(now);
    const auto expected = fresh.result(calculate(fresh));
    ramify::check(cudaMemcpy(c.positions.data(), fresh.positions.data(),
                             n * sizeof *c.positions.data(), cudaMemcpyDeviceToDevice),
                  "uploading");
    ramify::check(cudaMemcpy(c.masses.data(), fresh.masses.data(), n * sizeof(float),
                             cudaMemcpyDeviceToDevice),
                  "uploading");
    ramify::check(cudaDeviceSynchronize(), "waiting");
    graph.launch(stream.get());
    const auto report = run->get();
    BOOST_TEST(same_bits(c.result(report), expected));
    BOOST_TEST(report.interactions == expected.report.interactions);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_captured_calculation_runs_in_each_launch_of_its_graph) {
  const auto memory = memory_for(bodies_of_deep_tree, wide_angle);
  const ramify::barnes_hut<float> gravity(wide_angle);
  for (const route taken : routes) {
    if (taken == route::device && !ramify::device_launch_available) continue;
    expect_captured(
        bodies_of_deep_tree,
        [&](const device_cloud<float>& c, cudaStream_t stream) {
          return gravity.accelerations_async(c.positions.data(), c.masses.data(), c.size(),
                                             c.accelerations.data(), c.potentials.data(),
                                             {.stream = stream, .memory = memory, .route = taken});
        },
        [&](const device_cloud<float>& c) { return c.calculate(gravity, {.route = taken}); });
  }
  expect_captured(
      1'000,
      [&](const device_cloud<float>& c, cudaStream_t stream) {
        return ramify::direct_gravity_async(c.positions.data(), c.masses.data(), c.size(),
                                            c.accelerations.data(), c.potentials.data(), wide_angle,
                                            {.stream = stream, .memory = memory});
      },
      [&](const device_cloud<float>& c) {
        return ramify::direct_gravity(c.positions.data(), c.masses.data(), c.size(),
                                      c.accelerations.data(), c.potentials.data(), wide_angle);
      });
}

BOOST_AUTO_TEST_CASE(a_capture_that_is_not_possible_is_refused) {
  const ramify::host_stream stream;
  const device_cloud<float> c(rounded<float>(tests::make_cloud(shape::cube, 100)));
  const ramify::barnes_hut<float> gravity(wide_angle);
  const auto capture = [&](ramify::flat_loop loop, const memory_ref& memory) {
    const ramify::captured_graph graph(stream.get(), [&] {
      (void)gravity.accelerations_async(
          c.positions.data(), c.masses.data(), c.size(), c.accelerations.data(), nullptr,
          {.stream = stream, .memory = memory, .route = route::flat, .flat_loop = loop});
    });
  };
  const auto memory = memory_for(100, wide_angle);
  BOOST_CHECK_EXCEPTION(capture(ramify::flat_loop::automatic, {}), std::invalid_argument,
                        names("environment.memory is empty"));
  BOOST_CHECK_EXCEPTION(capture(ramify::flat_loop::host, memory), ramify::unavailable,
                        names("cannot capture rounds that the host launches"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
