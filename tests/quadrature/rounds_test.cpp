// SPDX-License-Identifier: BSD-3-Clause
// The rounds of quadrature(): their grids, and the same result for all routes, limits, schedules,
// sizes and failed launches.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/quadrature.cuh>
#include <ramify/quadrature/genz.cuh>
#include <ramify/runtime/captured_graph.cuh>

#include "device_vectors.cuh"
#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "quadrature_checks.cuh"
#include "run_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;

BOOST_AUTO_TEST_SUITE(quadratures)

BOOST_DATA_TEST_CASE(results_have_the_same_bits_under_every_limit,
                     data::make(routes) * data::make({1, 16, 32, 2048}), taken, limit) {
  const auto f = random_genz(genz_family::c0, 2, 3, 8.0);
  const auto run = [&](route r, std::size_t pending) {
    return integrate(unit_cube<2>(), genz_function<2>(f), {.relative_tolerance = 1e-4},
                     {.route = r, .pending_launches = pending}, in_turn);
  };
  static const quadrature_result expected = run(route::flat, 0);
  const auto found = run(taken, std::size_t(limit));
  expect_route(found.report.taken, taken, std::size_t(limit));
  BOOST_TEST(found.value == expected.value);
  BOOST_TEST(found.error == expected.error);
  BOOST_TEST(found.evaluations == expected.evaluations);
  BOOST_TEST(found.report.rounds == expected.report.rounds);
}

// A different number of warps adds the values of a region, so the results may differ by round-off.
BOOST_DATA_TEST_CASE(rounds_of_all_sizes_have_the_same_result, data::make(routes), taken) {
  const auto f = random_genz(genz_family::c0, 3, 3, 8.0);
  const auto run = [&](const round_bounds& bounds) {
    return integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 2e-3},
                     {.route = taken}, bounds);
  };
  const auto expected = run(all_small);
  BOOST_TEST(expected.regions > 100u);
  BOOST_TEST(expected.report.child_grids == 0u);
  const bool drives = taken == route::device;  // with a driver and a release of slots
  BOOST_TEST(expected.report.host_grids <= (drives ? 3u : 1u));
  std::uint64_t grids = 0;
  for (const auto& bounds : {in_turn, all_medium, all_large}) {
    const auto found = run(bounds);
    BOOST_TEST(found.value == expected.value, boost::test_tools::tolerance(1e-13));
    BOOST_TEST(found.error == expected.error, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(found.regions == expected.regions);
    BOOST_TEST(found.report.rounds == expected.report.rounds);
    // Negative control: each of them launches other grids.
    const std::uint64_t launched = found.report.host_grids + found.report.child_grids;
    BOOST_TEST(launched != grids);
    BOOST_TEST(launched > expected.report.host_grids + 2);
    grids = launched;
  }
}

// On the device route a medium round has one grid, and a large one has four.
BOOST_AUTO_TEST_CASE(rounds_have_as_few_grids_as_their_size_allows) {
  const auto f = random_genz(genz_family::gaussian, 3, 3, 7.0);
  const auto run = [&](const round_bounds& bounds) {
    return integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 1e-6},
                     {.route = route::device}, bounds);
  };
  const auto medium = run(all_medium);
  BOOST_TEST(medium.report.rounds >= 4u);
  BOOST_TEST(medium.report.child_grids == medium.report.rounds - 1);
  const auto large = run(all_large);
  // The first round has the list of its splits. The last splits and the check after them have no
  // further ones.
  BOOST_TEST(large.report.child_grids == 4 * (large.report.rounds - 1) - 4);
}

// All regions are split in each round, so round i evaluates 2^i regions. On the device route each
// round that is not small has one grid.
template <unsigned d>
void expect_small_rounds(unsigned expected) {
  const std::size_t evaluations = ramify::quadrature_points(d) << (expected + 2);
  const auto found = integrate(unit_cube<d>(), constant{1}, {.min_evaluations = evaluations},
                               {.route = route::device});
  BOOST_TEST(found.report.rounds > expected + 1);
  BOOST_TEST(found.report.child_grids == found.report.rounds - 1 - expected);
}

// A lane evaluates at most 5 points in a small round, in which 16 warps evaluate the regions.
BOOST_AUTO_TEST_CASE(a_lane_evaluates_few_points_in_a_small_round) {
  expect_small_rounds<1>(6);  // 64 regions: 4 for each warp
  expect_small_rounds<2>(6);
  expect_small_rounds<3>(4);  // 16 regions: 77 points for each warp
  expect_small_rounds<5>(3);  // 8 regions: 273 points for 2 warps
  expect_small_rounds<8>(1);  // 2 regions: 1105 points for 8 warps
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(results_have_the_same_bits_under_any_schedule,
                     data::make({"eager", "late", "random:1", "random:2"}), s) {
  const auto f = random_genz(genz_family::discontinuous, 3, 2, 4.3);
  const auto run = [&] {
    return integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 3e-2},
                     {.route = route::device, .pending_launches = 64}, in_turn);
  };
  const auto expected = run();
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  const auto found = run();
  BOOST_TEST(found.value == expected.value);
  BOOST_TEST(found.error == expected.error);
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto f = random_genz(genz_family::gaussian, 2, 1, 7.0);
  const auto run = [&] {
    return integrate(unit_cube<2>(), genz_function<2>(f), {.relative_tolerance = 1e-6},
                     {.route = route::device},
                     {.small_evaluations = 0, .block_regions = 24, .block_splits = 6});
  };
  const auto whole = run();
  const auto executor = ramify::cpu::parse_executor_config("random:1");
  const unsigned interrupted = tests::count_interrupted(16, executor, [&](std::uint64_t) {
    const auto found = run();
    BOOST_TEST(found.value == whole.value);
    BOOST_TEST(found.evaluations == whole.evaluations);
    return found.report.host_grids > whole.report.host_grids;
  });
  BOOST_TEST(interrupted >= 4u);  // negative control: the failures did end launches
}

// More regions than a block has threads, so several blocks count and sum them.
BOOST_DATA_TEST_CASE(many_regions_are_split_and_summed, data::make(routes), taken) {
  const quadrature_box<1> box{{0}, {3}};
  const auto evaluations = std::size_t(cut_down(70'000, 2'000));
  const auto found = integrate(box, constant{2.5},
                               {.min_evaluations = evaluations, .max_evaluations = 4 * evaluations},
                               {.route = taken});
  BOOST_TEST(found.converged());
  BOOST_TEST(found.value == 7.5, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(found.evaluations >= evaluations);
  BOOST_TEST(found.regions == std::uint64_t{1} << (found.report.rounds - 2));  // and a check
}

// A round that splits all regions ends with 651 points, and the next one would end with 1323.
BOOST_DATA_TEST_CASE(min_evaluations_are_reached_within_max_evaluations,
                     data::make(routes) * data::xrange(4), taken, sizes) {
  const round_bounds& bounds = sizes_of_rounds[sizes];
  const auto run = [&](std::size_t least, std::size_t most) {
    const auto found =
        integrate(unit_cube<2>(), constant{2.5},
                  {.min_evaluations = least, .max_evaluations = most}, {.route = taken}, bounds);
    BOOST_TEST(found.converged());
    BOOST_TEST(found.value == 2.5, boost::test_tools::tolerance(1e-14));
    return found.evaluations - found.report.check_evaluations;
  };
  BOOST_TEST(run(1'000, 1'100) == 1'029u);  // as many splits of 42 points as required
  BOOST_TEST(run(1'000, 1'029) == 1'029u);
  BOOST_TEST(run(1'000, 1'000) == 987u);  // no further split is allowed
  BOOST_TEST(run(1'000, 2'000) == 1'323u);
  if (effort() < 1) return;
  // More regions than a block has threads: the list of splits ends in the first chunk.
  BOOST_TEST(run(25'000, 25'100) == 25'011u);
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

BOOST_DATA_TEST_CASE(a_captured_quadrature_runs_with_each_launch_of_its_graph, data::make(routes),
                     taken) {
  const auto f = random_genz(genz_family::c0, 3, 3, 8.0);
  const quadrature_options options{.relative_tolerance = 1e-4};
  const auto expected = integrate(unit_cube<3>(), genz_function<3>(f), options, {.route = taken});
  const ramify::host_stream stream;
  const std::size_t bytes = ramify::quadrature_scratch_bytes<3, genz_function<3>>(options);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  std::optional<ramify::async_run<quadrature_result>> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    (void)run.emplace(
        ramify::quadrature_async(unit_cube<3>(), genz_function<3>(f), options,
                                 {.stream = stream, .memory = scratch, .route = taken}));
  });
  for (int launches = 0; launches < 2; ++launches) {
    graph.launch(stream.get());
    const auto found = run->get();
    BOOST_TEST(found.value == expected.value);
    BOOST_TEST(found.evaluations == expected.evaluations);
  }
}

BOOST_AUTO_TEST_CASE(host_and_graph_run_the_same_rounds) {
  const auto f = random_genz(genz_family::c0, 3, 3, 8.0);
  const auto run = [&](flat_loop loop) {
    return integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 1e-4},
                     {.route = route::flat, .flat_loop = loop}, in_turn);
  };
  const auto by_host = run(flat_loop::host);
  const auto by_graph = run(flat_loop::graph);
  BOOST_TEST(by_graph.report.looped_by == flat_loop::graph);
  BOOST_TEST(by_graph.value == by_host.value);
  BOOST_TEST(by_graph.report.rounds == by_host.report.rounds);
  const auto large = integrate(unit_cube<3>(), genz_function<3>(f), {.relative_tolerance = 1e-4},
                               {.route = route::flat, .flat_loop = flat_loop::graph}, all_large);
  BOOST_TEST(large.report.graph_grids == 4 * (large.report.rounds - 1));
}

#else

BOOST_AUTO_TEST_CASE(a_loop_of_a_graph_is_refused_on_the_executor) {
  BOOST_CHECK_EXCEPTION(
      (void)ramify::quadrature(unit_cube<2>(), constant{1},
                               {.route = route::flat, .flat_loop = flat_loop::graph}),
      ramify::unavailable, names("the CPU executor has no graphs"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
