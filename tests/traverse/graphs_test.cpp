// SPDX-License-Identifier: BSD-3-Clause
// The rounds of the flat route by the host and by a graph, and traversals captured into a graph.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>

#include "exceptions.hpp"
#include "traverse_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::flat_loop;
using ramify::route;
using ramify::traverse_config;
using ramify::traverse_report;
using ramify::traverse_strategy;
using enum numbered_tree::shape;

BOOST_AUTO_TEST_SUITE(traverse)

BOOST_AUTO_TEST_CASE(host_and_graph_run_the_same_rounds) {
  // Two trees of one round or none, one of a few, one of many.
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{path, 50},
                           numbered_tree{complete, unsigned(cut_down(200'000, 5'000)), 3},
                           numbered_tree{combs, 100, unsigned(cut_down(200, 4))}}) {
    BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", n = " << tree.n) {
      const auto mark = [&](flat_loop loop) {
        return expect_each_visited_once(tree,
                                        {.config = {.route = route::flat, .flat_loop = loop}});
      };
      const traverse_report by_host = mark(flat_loop::host);
      BOOST_TEST(by_host.looped_by == flat_loop::host);
      BOOST_TEST(by_host.flat_loop_reason == "asked for");
      BOOST_TEST(by_host.graph_grids == 0u);
      // Three grids clear the totals, visit the root and reduce the totals. The others are rounds,
      // or one grid that finds no work.
      BOOST_TEST(by_host.host_grids == 3 + std::max<std::uint64_t>(by_host.rounds, 1));
      BOOST_TEST(by_host.deepest_level == by_host.rounds);

      const traverse_report automatic = mark(flat_loop::automatic);
      BOOST_TEST(!automatic.flat_loop_reason.empty());
      if (!RAMIFY_ON_CUDA) {
        BOOST_TEST(automatic.looped_by == flat_loop::host);
        BOOST_CHECK_EXCEPTION(mark(flat_loop::graph), ramify::unavailable,
                              names("the CPU executor has no graphs"));
        continue;
      }
      const traverse_report in_graph = mark(flat_loop::graph);
      BOOST_TEST(in_graph.looped_by == flat_loop::graph);
      BOOST_TEST(in_graph.host_grids == 3u);
      BOOST_TEST(in_graph.graph_grids == std::max<std::uint64_t>(in_graph.rounds, 1));
      BOOST_TEST((automatic.looped_by == flat_loop::graph) == (automatic.rounds > 4));
      BOOST_TEST(automatic.host_grids + automatic.graph_grids >= 3 + automatic.rounds);
    }
  }
  BOOST_CHECK_EXCEPTION(
      expect_each_visited_once({path, 10}, {.config = {.strategy = traverse_strategy::task_per_node,
                                                       .flat_loop = flat_loop::graph}}),
      ramify::unavailable, names("task_per_node has no rounds"));
}

#if RAMIFY_ON_CUDA  // the CPU executor has no graphs

namespace {

struct captured_marks {
  std::vector<unsigned> visits;
  std::vector<unsigned> values;  ///< the value of each get()
  traverse_report report;
};

/// Captures a traversal by this route and launches the graph `launches` times. Gets the result
/// after each launch, or after the last one only.
captured_marks mark_captured(const numbered_tree& tree, route taken, unsigned launches,
                             bool get_each) {
  const ramify::host_stream stream;
  captured_marks result;
  result.visits.assign(tree.nodes(), 0);
  const auto visits = upload(result.visits);
  const traverse_config config{.route = taken};
  const ramify::device_buffer<std::byte> scratch(mark_run::scratch_bytes(config), nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  std::optional<mark_run> run;
  const ramify::captured_graph graph(stream.get(), [&] {
    (void)run.emplace(0u, tree, mark_visit{visits.data()}, sum{}, 0u, stream.get(), config,
                      ramify::scratch_memory{scratch.data(), scratch.size()});
  });
  for (unsigned i = 1; i <= launches; ++i) {
    graph.launch(stream.get());
    if (!get_each && i < launches) continue;
    const auto found = run->get();
    result.values.push_back(found.value);
    result.report = found.report;
  }
  download(visits, result.visits);
  return result;
}

/// Captures a traversal of a path, with or without scratch memory, and may call get() too early.
void capture_path(const traverse_config& config, bool has_scratch, bool get) {
  const ramify::host_stream stream;
  const std::size_t bytes =
      ramify::traverse_scratch_bytes<unsigned, numbered_tree, mark_visit, sum, unsigned>(config);
  const ramify::device_buffer<std::byte> scratch(bytes, nullptr);
  const ramify::device_buffer<unsigned> visits(10, nullptr);
  ramify::check(cudaDeviceSynchronize(), "preparing");
  const ramify::scratch_memory memory{has_scratch ? scratch.data() : nullptr, bytes};
  const ramify::captured_graph graph(stream.get(), [&] {
    auto run = start_path(visits.data(), config, memory, stream.get());
    if (get) (void)run.get();
  });
}

}  // namespace

BOOST_DATA_TEST_CASE(a_captured_traversal_runs_with_each_launch_of_its_graph, data::make(routes),
                     taken) {
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{complete, 300'000, 5},
                           numbered_tree{combs, 200, 100}}) {
    for (const bool get_each : {true, false}) {
      const auto found = mark_captured(tree, taken, 3, get_each);
      const std::vector<unsigned> values(get_each ? 3 : 1, unsigned(tree.nodes()));
      BOOST_TEST(found.values == values, boost::test_tools::per_element());
      BOOST_TEST(std::ranges::all_of(found.visits, [](unsigned v) { return v == 3; }));
      BOOST_TEST(found.report.taken == taken);
      BOOST_TEST((found.report.looped_by == flat_loop::graph) == (taken == route::flat));
      BOOST_TEST(slots_in_use() == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_capture_that_is_impossible_is_refused) {
  const auto expect = [](const traverse_config& config, bool has_scratch, bool get,
                         const std::string& text) {
    BOOST_CHECK_EXCEPTION(capture_path(config, has_scratch, get), std::exception, names(text));
  };
  expect({}, false, false, "scratch.data is null");
  expect({.route = route::flat, .flat_loop = flat_loop::host}, true, false, "cannot be captured");
  expect({.strategy = traverse_strategy::task_per_node}, true, false,
         "only the strategy work_sharing can be captured");
  expect({}, true, true, "while the stream is being captured");
  // The next traversal runs.
  expect_each_visited_once({complete, 1000, 3}, {});
}

#endif

BOOST_AUTO_TEST_SUITE_END()
