// SPDX-License-Identifier: BSD-3-Clause
// Sorts that return before they are complete, failing launches, loops of graphs, and sorts that a
// graph has captured.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::device_buffer;
using ramify::flat_loop;
using ramify::granularity;
using ramify::quicksort_report;
using ramify::quicksort_strategy;
using ramify::route;
using tests::call_for;
using tests::hidden_from_the_sample;
using tests::make_input;
using tests::names;
using tests::page;
using tests::routes;
using tests::several_leaves;
using tests::strategies;

namespace {

using key = std::uint32_t;

// Pages are large, so sample sort has few buckets and this number of pages takes several levels.
constexpr std::size_t pages = 2'000;

/// Sorts keys with the header template and checks them.
template <class Key>
quicksort_report sort_and_check(const tests::oracle<Key>& input, const tests::sort_call& call) {
  auto keys = input.input();
  const auto report = tests::sort_by_header(keys, call);
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST(tests::slots_left_in_use() == 0u);
  return report;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort)

BOOST_DATA_TEST_CASE(a_started_sort_is_complete_after_get,
                     data::make(strategies) * data::make(routes), strategy, taken) {
  const auto input = make_input<key>(distribution::zipf, several_leaves, 3);
  auto keys = input.input();
  const ramify::host_stream stream;
  auto call = call_for(strategy, taken);
  call.env.stream = stream;
  const auto device_keys = tests::upload(keys, stream.get());
  { const auto dropped = tests::start_sort(device_keys.data(), keys.size(), call); }
  auto run = tests::start_sort(device_keys.data(), keys.size(), call);
  const auto report = run.get();
  BOOST_TEST(report.taken == taken);
  BOOST_TEST(report.keys == keys.size());
  tests::download(device_keys, keys, stream.get());
  BOOST_TEST(input.check(keys) == "");
  BOOST_TEST(tests::slots_left_in_use() == 0u);
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(the_host_continues_after_any_failed_launch,
                     data::make(strategies) *
                         data::make({distribution::uniform, distribution::zipf}),
                     strategy, d) {
  const auto run = [&] {
    const auto report =
        sort_and_check(make_input<page>(d, pages, 1), call_for(strategy, route::device));
    BOOST_TEST(report.taken == route::device);
    return report;
  };
  const auto whole = run();
  const auto last = std::uint64_t(tests::cut_down(16, 5));
  const auto executor = ramify::cpu::current_executor_config();
  const unsigned interrupted = tests::count_interrupted(
      last, executor, [&](std::uint64_t) { return run().host_grids > whole.host_grids; });
  // Negative control: after a failed launch, the host launched more grids. This does not hold for
  // `binary`, where the driver, a kernel, processes the segments whose launch failed.
  if (strategy == quicksort_strategy::sample_sort) BOOST_TEST(interrupted >= 5u);
}
#endif

BOOST_AUTO_TEST_CASE(the_host_launches_levels_that_are_not_launched_ahead) {
  const auto input = hidden_from_the_sample(1);
  const auto in_order = make_input<key>(distribution::sorted, input.input().size(), 1);
  const auto call = call_for(quicksort_strategy::sample_sort, route::flat);
  const auto expected = sort_and_check(in_order, call);
  const auto more = sort_and_check(input, call);
  BOOST_TEST(expected.host_grids == 5u);
  BOOST_TEST(expected.deepest_level == 1u);
  BOOST_TEST(more.host_grids >= 9u);  // a level, and leaves again
  BOOST_TEST(more.deepest_level >= 2u);
  for (const auto& report : {expected, more}) {
    BOOST_TEST(report.looped_by == flat_loop::host);
    BOOST_TEST(report.graph_grids == 0u);
  }
}

BOOST_AUTO_TEST_CASE(host_and_graph_run_the_same_levels_of_binary) {
  const auto input = make_input<key>(distribution::uniform, several_leaves, 4);
  const auto sort = [&](flat_loop loop) {
    auto call = call_for(quicksort_strategy::binary, route::flat);
    call.env.flat_loop = loop;
    return sort_and_check(input, call);
  };
  const auto expect_by_host = [](const quicksort_report& report) {
    BOOST_TEST(report.looped_by == flat_loop::host);
    BOOST_TEST(report.graph_grids == 0u);
    BOOST_TEST(report.deepest_level >= 2u);
    BOOST_TEST(report.host_grids == 1 + report.deepest_level);
  };
  const auto by_host = sort(flat_loop::host);
  expect_by_host(by_host);
  BOOST_TEST(by_host.flat_loop_reason == "requested");
  const auto automatic = sort(flat_loop::automatic);
  expect_by_host(automatic);
  BOOST_TEST(automatic.flat_loop_reason != "requested");
#if RAMIFY_ON_CUDA
  const auto in_graph = sort(flat_loop::graph);
  BOOST_TEST(in_graph.looped_by == flat_loop::graph);
  BOOST_TEST(in_graph.host_grids == 1u);
  BOOST_TEST(in_graph.deepest_level >= 2u);
  // An iteration is two levels: a grid over each list, and the end.
  BOOST_TEST(in_graph.graph_grids == (in_graph.deepest_level + 1) / 2 * 3);
#endif
}

#if !RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_that_is_not_available_is_refused, data::make(strategies), strategy) {
  auto call = call_for(strategy, route::flat);
  call.env.flat_loop = flat_loop::graph;
  BOOST_CHECK_EXCEPTION(
      sort_and_check(hidden_from_the_sample(1), call), ramify::unavailable,
      names("environment.flat_loop graph is not available: compiled by a C++ compiler: the "
            "CPU executor has no graphs"));
}
#endif

#if RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(a_graph_launches_the_levels_that_are_not_launched_ahead) {
  const auto input = hidden_from_the_sample(1);
  const auto in_order = make_input<key>(distribution::sorted, input.input().size(), 1);
  auto call = call_for(quicksort_strategy::sample_sort, route::flat);
  call.env.flat_loop = flat_loop::graph;
  // An iteration has five grids. One iteration finds that nothing is due.
  const auto expected = sort_and_check(in_order, call);
  BOOST_TEST(expected.looped_by == flat_loop::graph);
  BOOST_TEST(expected.host_grids == 5u);
  BOOST_TEST(expected.graph_grids == 5u);
  const auto more = sort_and_check(input, call);
  BOOST_TEST(more.host_grids == 5u);
  BOOST_TEST(more.graph_grids >= 10u);
}

namespace {

/// Captures a sort, and launches the graph three times with the keys that make(1), make(2) and
/// make(3) return.
template <class Make>
void expect_captured_sorts(tests::sort_call call, Make make) {
  using Key = std::decay_t<decltype(make(1).input()[0])>;
  const std::size_t n = make(1).input().size();
  const ramify::host_stream stream;
  const std::size_t bytes = tests::scratch_bytes_of<Key>(n, call.options);
  const device_buffer<Key> keys(n, stream.get());
  const device_buffer<std::byte> scratch(bytes, stream.get());
  stream.synchronize();
  call.env.stream = stream;
  call.env.memory = scratch;
  std::optional<ramify::async_run<quicksort_report>> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    run = tests::start_sort(keys.data(), n, call);
    BOOST_CHECK_THROW((void)run->get(), std::logic_error);
  });
  for (std::uint64_t launch = 1; launch <= 3; ++launch) {
    BOOST_TEST_CONTEXT("launch " << launch << " of " << n << " keys") {
      const auto input = make(launch);
      auto sorted = input.input();
      ramify::check(cudaMemcpyAsync(keys.data(), sorted.data(), n * sizeof(Key),
                                    cudaMemcpyHostToDevice, stream.get()),
                    "uploading");
      graph.launch(stream.get());
      // The sort is complete without get() unless a launch slot was missing.
      tests::download(keys, sorted, stream.get());
      BOOST_TEST(input.check(sorted) == "");
      const auto report = run->get();
      BOOST_TEST(report.taken == call.env.route);
      if (call.options.strategy == quicksort_strategy::binary) {
        BOOST_TEST((report.looped_by == flat_loop::graph) == (call.env.route == route::flat));
      }
      BOOST_TEST(report.spilled_tasks == 0u);
      BOOST_TEST(tests::slots_left_in_use() == 0u);
    }
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(a_captured_sort_runs_in_each_launch_of_its_graph,
                     data::make(strategies) * data::make(routes), strategy, taken) {
  const auto call = call_for(strategy, taken);
  expect_captured_sorts(call, hidden_from_the_sample);
  for (const auto d :
       {distribution::uniform, distribution::zipf, distribution::sorted, distribution::all_equal}) {
    BOOST_TEST_CONTEXT(common::to_string(d)) {
      for (const std::size_t n : {100, 20'000, 1'000'000}) {
        expect_captured_sorts(call, [&](std::uint64_t s) { return make_input<key>(d, n, s); });
      }
      expect_captured_sorts(call, [&](std::uint64_t s) { return make_input<page>(d, pages, s); });
    }
  }
}

BOOST_DATA_TEST_CASE(binary_is_captured_at_any_granularity,
                     data::make(routes) *
                         data::make({granularity::per_block, granularity::per_grid}),
                     taken, grain) {
  auto call = call_for(quicksort_strategy::binary, taken);
  call.options.launches = {grain, 1, 2};
  for (const auto d : {distribution::uniform, distribution::zipf}) {
    expect_captured_sorts(call, [&](std::uint64_t s) { return make_input<key>(d, 300'000, s); });
  }
}

BOOST_DATA_TEST_CASE(get_completes_each_launch_of_a_graph_without_launch_slots,
                     data::make(strategies), strategy) {
  auto call = call_for(strategy, route::device);
  const ramify::host_stream stream;
  const std::size_t n = 300'000;
  const std::size_t bytes = tests::scratch_bytes_of<key>(n, call.options);
  const device_buffer<key> keys(n, stream.get());
  const device_buffer<std::byte> scratch(bytes, stream.get());
  stream.synchronize();
  call.env.stream = stream;
  call.env.memory = scratch;
  std::optional<ramify::async_run<quicksort_report>> run;
  const ramify::captured_graph graph(stream.get(),
                                     [&] { run = tests::start_sort(keys.data(), n, call); });
  BOOST_TEST(tests::slots_left_in_use() == 0u);
  const tests::all_slots_taken by_others(*ramify::current_launch_limits().pending_launches);
  for (std::uint64_t launch = 1; launch <= 3; ++launch) {
    const auto input = make_input<key>(distribution::zipf, n, launch);
    auto sorted = input.input();
    ramify::check(cudaMemcpyAsync(keys.data(), sorted.data(), n * sizeof(key),
                                  cudaMemcpyHostToDevice, stream.get()),
                  "uploading");
    graph.launch(stream.get());
    const auto report = run->get();
    tests::download(keys, sorted, stream.get());
    BOOST_TEST(input.check(sorted) == "");
    BOOST_TEST(report.child_grids == 0u);
    BOOST_TEST(report.spilled_tasks > 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_captured_sort_needs_scratch_memory) {
  const ramify::host_stream stream;
  const device_buffer<key> keys(100, stream.get());
  stream.synchronize();
  BOOST_CHECK_EXCEPTION(
      ramify::captured_graph(
          stream.get(),
          [&] { (void)tests::start_sort(keys.data(), 100, {.env = {.stream = stream}}); }),
      std::invalid_argument, names("environment.memory is empty"));
}

BOOST_DATA_TEST_CASE(a_captured_sort_whose_host_launches_levels_is_refused, data::make(strategies),
                     strategy) {
  auto call = call_for(strategy, route::flat);
  call.env.flat_loop = flat_loop::host;
  // The input is longer than a small root, whose grids need no state (small_root.cuh).
  const auto make = [](std::uint64_t s) {
    return make_input<key>(distribution::uniform, 200'000, s);
  };
  BOOST_CHECK_EXCEPTION(expect_captured_sorts(call, make), ramify::unavailable,
                        names("a graph cannot capture rounds"));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
