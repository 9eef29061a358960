// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search on the backend of this build: runs that return before they are complete,
// launches that fail, loops of CUDA graphs, captured runs and traces.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/launch_trace.hpp>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "failed_launches.hpp"
#include "graph_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::edge_strategy;
using ramify::flat_loop;
using ramify::route;

namespace {

constexpr edge_strategy two_strategies[] = {edge_strategy::balanced, edge_strategy::aggregated};

void expect_right(const bfs_call& call, const host_graph& graph, std::int32_t source) {
  BOOST_TEST(bfs_fault(graph, source, call.results()) == "");
  BOOST_TEST(slots_in_use() == 0u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(breadth_first_search)

BOOST_DATA_TEST_CASE(a_run_is_complete_after_get, data::make(routes), taken) {
  const host_graph graph = kronecker(8, 8);
  const bfs_call call(graph, bfs_settings_of(taken));
  const ramify::host_stream stream;
  ramify::check(cudaStreamSynchronize(nullptr), "waiting for the input");
  auto run = call.start(0, stream.get());
  auto moved = std::move(run);
  BOOST_TEST(moved.get().taken == taken);
  expect_right(call, graph, 0);
  BOOST_CHECK_THROW((void)moved.get(), std::logic_error);
}

BOOST_DATA_TEST_CASE(a_run_that_is_destroyed_before_get_does_no_harm, data::make(routes), taken) {
  const host_graph graph = kronecker(8, 8);
  const bfs_call call(graph, bfs_settings_of(taken));
  { const auto run = call.start(0); }
  ramify::check(cudaStreamSynchronize(nullptr), "waiting");
  (void)call.start(3).get();
  expect_right(call, graph, 3);
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const host_graph graph = grid_with_holes(12);
  for (const edge_strategy strategy :
       {edge_strategy::block, edge_strategy::child_grid, edge_strategy::aggregated}) {
    BOOST_TEST_CONTEXT(to_string(strategy)) {
      const auto chosen = bfs_settings_of(route::device, strategy);
      check_failed_launches(12, 6, [&] { return check_bfs(graph, 0, chosen); });
    }
  }
}

BOOST_DATA_TEST_CASE(without_launch_slots_the_host_or_a_loop_launches, data::make(two_strategies),
                     strategy) {
  const host_graph graph = kronecker(8, 8);
  const bfs_call call(graph, bfs_settings_of(route::device, strategy));
  const auto with_slots = call.start(0).get();
  const all_slots_taken taken(*ramify::current_launch_limits().pending_launches);
  const auto report = call.start(0).get();
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.child_grids == 0u);
  // A loop in the stream launches the rounds or, without loops in graphs, the host.
  BOOST_TEST(with_slots.graph_grids == 0u);
  BOOST_TEST((report.graph_grids > 0 || report.host_grids > with_slots.host_grids));
  BOOST_TEST(bfs_fault(graph, 0, call.results()) == "");
}

BOOST_AUTO_TEST_CASE(levels_are_launched_as_requested) {
  const host_graph graph = kronecker(9, 16);
  for (const flat_loop loop : {flat_loop::automatic, flat_loop::graph, flat_loop::host}) {
    for (const edge_strategy strategy : two_strategies) {
      BOOST_TEST_CONTEXT(ramify::to_string(loop) << ", " << to_string(strategy)) {
        auto chosen = bfs_settings_of(route::flat, strategy);
        chosen.flat_loop = loop;
        if (loop == flat_loop::graph && !RAMIFY_ON_CUDA) {
          BOOST_CHECK_EXCEPTION((void)bfs_call(graph, chosen).start(0), ramify::unavailable,
                                names("environment.flat_loop"));
          continue;
        }
        const auto report = check_bfs(graph, 0, chosen);
        const bool by_graph = RAMIFY_ON_CUDA && loop != flat_loop::host;
        // A run whose grids run all rounds needs no loop.
        BOOST_TEST((report.looped_by == flat_loop::graph) == by_graph);
        const bool has_grid_a_round = strategy == edge_strategy::aggregated;
        if (has_grid_a_round && !by_graph) BOOST_TEST(report.looped_by == flat_loop::host);
        BOOST_TEST((report.graph_grids > 0) == by_graph);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_trace_has_all_grids) {
  if (!ramify::trace_available) return;
  const host_graph graph = star(2'000);
  for (const route taken : routes) {
    ramify::launch_trace trace;
    auto chosen =
        bfs_settings_of(taken, edge_strategy::child_grid, ramify::bfs_direction::top_down);
    chosen.trace = &trace;
    const auto report = bfs_call(graph, chosen).start(0).get();
    const auto count = [&](std::string_view kernel) {
      return std::ranges::count(trace.grids, kernel, &ramify::traced_grid::kernel);
    };
    BOOST_TEST(count("check_graph") == 1);
    BOOST_TEST(count("initialize_bfs") == 1);
    BOOST_TEST(count("visit_edges") == std::ptrdiff_t(report.rounds));
    BOOST_TEST(count("visit_child") == (taken == route::device ? 1 : 0));
  }
}

#if RAMIFY_ON_CUDA

BOOST_DATA_TEST_CASE(a_captured_run_is_right_in_each_launch_of_its_graph,
                     data::make(routes) * data::make(two_strategies) * data::make({false, true}),
                     taken, strategy, slots_are_taken) {
  const host_graph graph = kronecker(12, 8);
  const bfs_call call(graph, bfs_settings_of(taken, strategy));
  const ramify::host_stream stream;
  ramify::check(cudaDeviceSynchronize(), "waiting for the input");
  std::optional<ramify::async_run<ramify::bfs_report>> run;
  const ramify::captured_graph captured(stream.get(), [&] {
    run = call.start(5, stream.get());
    BOOST_CHECK_THROW((void)run->get(), std::logic_error);
  });
  for (int i = 0; i < 3; ++i) {
    std::optional<all_slots_taken> no_slots;
    if (slots_are_taken) no_slots.emplace(*ramify::current_launch_limits().pending_launches);
    captured.launch(stream.get());
    (void)run->get();
    no_slots.reset();
    expect_right(call, graph, 5);
  }
}

BOOST_AUTO_TEST_CASE(what_a_graph_cannot_capture_is_refused) {
  const device_graph graph(kronecker(8, 8));
  const ramify::host_stream stream;
  ramify::check(cudaDeviceSynchronize(), "waiting for the input");
  const ramify::device_buffer<std::byte> memory(ramify::bfs_scratch_bytes(graph.view()), nullptr);
  const auto capture = [&](ramify::environment env) {
    env.stream = stream;
    const ramify::captured_graph captured(stream.get(), [&] {
      const auto run = ramify::breadth_first_search_async(graph.view(), 0, {}, env);
    });
  };
  BOOST_CHECK_EXCEPTION(capture({}), std::invalid_argument, names("environment.memory is empty"));
  BOOST_CHECK_EXCEPTION(
      capture({.memory = memory, .route = route::flat, .flat_loop = flat_loop::host}),
      ramify::unavailable, names("a graph cannot capture rounds that the host launches"));
}

#endif

BOOST_AUTO_TEST_SUITE_END()
