// SPDX-License-Identifier: BSD-3-Clause
// The capacity of a trace, traces of several runs, and the negative control of the checks.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/amr.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/launch_trace.hpp>
#include <string_view>

#include "backend_under_test.hpp"
#include "printing.hpp"
#include "trace_checks.hpp"

using namespace tests;
using ramify::launch_stream;
using ramify::launch_trace;
using ramify::route;
using ramify::traced_grid;

BOOST_AUTO_TEST_SUITE(shared_traces)

// ---- the capacity of a trace ----

BOOST_AUTO_TEST_CASE(child_grids_beyond_the_capacity_are_counted) {
  launch_trace trace;
  trace.capacity = 3;
  const auto n = static_cast<std::size_t>(tests::runs_on_cpu() ? 60'000 : 1'000'000);
  const auto report = sort_traced(&trace, n, route::device, ramify::quicksort_strategy::binary);
  BOOST_TEST(report.child_grids > 3u);
  BOOST_TEST(trace.lost == report.child_grids - 3);
  BOOST_TEST(trace.count() + trace.lost == grids_of(report));
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_AUTO_TEST_CASE(host_grids_beyond_the_capacity_are_counted) {
  launch_trace trace;
  trace.capacity = 1;
  const auto report = sort_traced(&trace, 50'000, route::flat, strategies[0]);
  BOOST_TEST(trace.count() == 1u);
  BOOST_TEST(trace.lost == report.host_grids - 1);
}

BOOST_AUTO_TEST_CASE(one_run_after_another) {
  launch_trace trace;
  std::uint64_t all = 0;
  for (const auto strategy : strategies) {
    all += grids_of(sort_traced(&trace, 50'000, route::device, strategy));
    BOOST_TEST(trace.count() == all);
  }
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_AUTO_TEST_CASE(two_runs_share_a_trace) {
  launch_trace trace;
  ramify::amr_simulation blast(small_blast(false), traced_by(trace, route::device));
  const auto sort = grids_of(sort_traced(&trace, 50'000, route::device, strategies[0]));
  blast.advance(1);
  BOOST_TEST(trace.count() == grids_of(blast.report()) + sort);
  BOOST_TEST(trace.lost == 0u);
  BOOST_TEST(broken_rule(trace) == "");
}

// The run that began first may be read last.
BOOST_AUTO_TEST_CASE(two_runs_at_the_same_time,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  launch_trace trace;
  const ramify::host_stream first_stream;
  const ramify::host_stream second_stream;
  auto first_keys = random_keys(20'000);
  auto second_keys = random_keys(30'000);
  const auto start = [&](std::vector<std::uint32_t>& keys, const ramify::host_stream& stream) {
    return ramify::quicksort_async(
        keys.data(), keys.size(), ramify::ascending{},
        {.stream = stream, .trace = &trace, .completion = ramify::completion::by_get});
  };
  auto first = start(first_keys, first_stream);
  ramify::check(cudaStreamSynchronize(first_stream.get()), "waiting");
  auto second = start(second_keys, second_stream);
  auto all = grids_of(second.get());
  BOOST_TEST(trace.count() == all);
  const std::uint64_t origin = trace.origin;
  all += grids_of(first.get());
  BOOST_TEST(trace.count() == all);
  BOOST_TEST(trace.origin < origin);
  BOOST_TEST(trace.grids[0].begin == 0u);
  BOOST_TEST(broken_rule(trace) == "");
}

// The capacity limits the grids between two reads of the trace, not those of the whole simulation.
BOOST_AUTO_TEST_CASE(a_long_simulation_fits) {
  launch_trace trace;
  trace.capacity = 400;
  ramify::amr_simulation blast(small_blast(false), traced_by(trace, route::device));
  while (trace.count() < 1000) blast.advance(1);
  BOOST_TEST(trace.lost == 0u);
  BOOST_TEST(trace.count() == grids_of(blast.report()));
}

BOOST_AUTO_TEST_CASE(a_trace_has_one_clock,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  launch_trace trace;
  static_cast<void>(sort_traced(&trace, 1'000, route::flat, strategies[0]));
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("late"));
  BOOST_CHECK_THROW(static_cast<void>(sort_traced(&trace, 1'000, route::flat, strategies[0])),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_full_mesh_leaves_a_trace) {
  launch_trace trace;
  ramify::amr_setup setup = small_blast(false);
  setup.options.mesh.max_level = 4;
  setup.options.mesh.max_blocks = 60;
  BOOST_CHECK_THROW(ramify::amr_simulation(setup, traced_by(trace, route::device)).advance(50),
                    ramify::amr_error);
  BOOST_TEST(trace.count() > 0u);
  BOOST_TEST(broken_rule(trace) == "");
}

BOOST_AUTO_TEST_CASE(an_invalid_capacity_is_rejected) {
  for (const std::size_t capacity : {std::size_t{0}, (std::size_t{1} << 24) + 1}) {
    launch_trace trace;
    trace.capacity = capacity;
    BOOST_CHECK_EXCEPTION(static_cast<void>(sort_traced(&trace, 100, route::flat, strategies[0])),
                          std::invalid_argument, [](const std::invalid_argument& e) {
                            return std::string_view(e.what()).starts_with("launch_trace.capacity");
                          });
  }
}

// ---- the negative control ----

BOOST_AUTO_TEST_CASE(a_falsified_trace_is_detected) {
  launch_trace honest;
  ramify::amr_simulation blast(small_blast(true), traced_by(honest, route::device));
  blast.advance(1);
  BOOST_TEST(broken_rule(honest) == "");
  const auto first_with = [&](auto is_one) {
    return static_cast<std::size_t>(std::ranges::find_if(honest.grids, is_one) -
                                    honest.grids.begin());
  };
  const auto expect_found = [&](std::size_t i, auto falsify) {
    BOOST_REQUIRE(i < honest.grids.size());
    launch_trace trace = honest;
    falsify(trace.grids[i]);
    BOOST_TEST(broken_rule(trace) != "");
  };
  const auto tail =
      first_with([](const traced_grid& g) { return g.stream == launch_stream::tail; });
  const auto child = first_with([](const traced_grid& g) { return g.depth > 0; });
  expect_found(child, [](traced_grid& g) { g.kernel.clear(); });
  expect_found(child, [](traced_grid& g) { g.launched = g.begin + 1; });
  expect_found(child, [](traced_grid& g) { g.complete += 1'000'000'000'000; });
  expect_found(child, [](traced_grid& g) { ++g.depth; });
  expect_found(child, [](traced_grid& g) { g.parent_block += 1'000'000; });
  expect_found(tail, [&](traced_grid& g) {
    g.launched = honest.grids[g.parent].begin;
    g.begin = honest.grids[g.parent].end - 1;
  });
}

BOOST_AUTO_TEST_SUITE_END()
