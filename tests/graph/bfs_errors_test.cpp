// SPDX-License-Identifier: BSD-3-Clause
// Graphs on the backend of this build: faulty graphs and bad arguments are refused.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <stdexcept>

#include "exceptions.hpp"
#include "graph_checks.cuh"

using namespace tests;
using ramify::bfs_direction;
using ramify::bfs_options;
using ramify::edge_strategy;
using ramify::graph_view;
using ramify::route;

namespace {

/// Checks that a search of the graph is refused on both routes, that the message contains `what`,
/// and that no output is written.
void expect_refused(const host_graph& graph, const std::string& what) {
  for (const route taken : routes) {
    for (const edge_strategy strategy : {edge_strategy::balanced, edge_strategy::aggregated}) {
      const bfs_call call(graph, bfs_settings_of(taken, strategy));
      BOOST_TEST_CONTEXT(ramify::to_string(taken)) {
        BOOST_CHECK_EXCEPTION(call.start(0).get(), std::invalid_argument, names(what));
        BOOST_TEST((call.results() == no_bfs_results(graph.vertices())));
        BOOST_TEST(slots_in_use() == 0u);
      }
    }
  }
}

/// Returns the graph after `change`.
template <class Change>
host_graph changed(host_graph graph, const Change& change) {
  change(graph);
  return graph;
}

/// A graph and arrays in device memory, for calls with bad arguments.
struct call_on_device {
  host_graph host = random_graph(100, 300);
  device_graph graph{host};
  ramify::device_buffer<std::int32_t> numbers{300, nullptr};
  ramify::device_buffer<std::byte> scratch{100'000, nullptr};
  ramify::bfs_arrays levels{.levels = numbers.data()};

  /// Checks that the search throws std::invalid_argument whose message contains `what`.
  void expect(const std::string& what, std::int64_t source, const graph_view& view,
              const ramify::bfs_arrays& results, const bfs_options& options = {},
              const ramify::environment& env = {}) const {
    BOOST_CHECK_EXCEPTION((void)ramify::breadth_first_search(view, source, results, options, env),
                          std::invalid_argument, names(what));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(breadth_first_search)

BOOST_AUTO_TEST_CASE(faulty_graphs_are_refused) {
  const host_graph graph = random_graph(300, 900);
  const auto with_target = [&](std::size_t edge, std::int32_t target) {
    return changed(graph, [&](host_graph& g) { g.targets[edge] = target; });
  };
  expect_refused(with_target(17, 300), "graph: targets[17] is 300; it must be in [0, 300)");
  expect_refused(with_target(899, -1), "targets[899] is -1");
  expect_refused(with_target(0, INT32_MIN), "targets[0] is -2147483648");
  const auto with_offset = [&](std::size_t i, std::int64_t offset) {
    return changed(graph, [&](host_graph& g) { g.offsets[i] = offset; });
  };
  expect_refused(with_offset(0, 1), "offsets[0] is 1; offsets must begin with 0, never decrease");
  expect_refused(with_offset(300, 899), "offsets[300] is 899; offsets must begin with 0");
  expect_refused(with_offset(150, 901), "offsets[150] is 901");
  expect_refused(with_offset(150, -3), "offsets[150] is -3");
  expect_refused(with_offset(20, graph.offsets[22] + 1), "offsets[21] is ");
  expect_refused(changed(graph, [](host_graph& g) { g.in_sources[3] = 300; }),
                 "in_sources[3] is 300");
  expect_refused(changed(graph, [](host_graph& g) { g.in_offsets[9] = 1'000'000; }),
                 "in_offsets[9] is 1000000");
  // The smallest index of several is named.
  expect_refused(changed(graph, [](host_graph& g) { g.targets[40] = g.targets[700] = -5; }),
                 "targets[40] is -5");
}

// A directed graph whose edges by source and by target have the same offsets.
BOOST_AUTO_TEST_CASE(sources_of_shared_offsets_are_checked) {
  const auto offsets = upload(std::vector<std::int64_t>{0, 1, 2, 3});
  const auto targets = upload(std::vector<std::int32_t>{1, 2, 0});
  const auto sources = upload(std::vector<std::int32_t>{2, 0, 7});
  const std::span<const std::int64_t> shared(offsets.data(), 4);
  const auto graph = graph_view::directed(shared, {targets.data(), 3}, shared, {sources.data(), 3});
  BOOST_CHECK_EXCEPTION((void)ramify::breadth_first_search(graph, 0, {}), std::invalid_argument,
                        names("in_sources[2] is 7"));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const call_on_device call;
  const auto view = call.graph.view();
  std::int32_t* const out = call.numbers.data();
  std::byte* const scratch = call.scratch.data();
  call.expect("source is 100; it must be in [0, 100)", 100, view, call.levels);
  call.expect("source is -1", -1, view, call.levels);
  call.expect("source is 0; it must be in [0, 0)", 0, graph_view{}, {});
  call.expect("levels and parents overlap", 0, view, {.levels = out, .parents = out + 50});
  call.expect("targets and levels overlap", 0, view, {.levels = call.graph.targets.data()});
  const auto expect = [&](const std::string& what, const ramify::environment& env) {
    call.expect(what, 0, view, call.levels, {}, env);
  };
  expect("breadth_first_search: environment.memory has 300 bytes", {.memory = {scratch, 300}});
  expect("environment.memory must be aligned", {.memory = {scratch + 8, 90'000}});
  expect("environment.route", {.route = static_cast<route>(9)});
  expect("environment.flat_loop", {.flat_loop = static_cast<ramify::flat_loop>(9)});
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const call_on_device call;
  const auto expect = [&](const std::string& what, const auto& change, bool has_sources = true) {
    bfs_options options;
    change(options);
    call.expect(what, 0, call.graph.view(has_sources), call.levels, options);
  };
  expect("graph_options.heavy_degree is 0; it must be at least 1",
         [](bfs_options& o) { o.heavy_degree = 0; });
  expect("graph_options.strategy",
         [](bfs_options& o) { o.strategy = static_cast<edge_strategy>(9); });
  expect("bfs_options.direction is none",
         [](bfs_options& o) { o.direction = static_cast<bfs_direction>(9); });
  expect("bfs_options.alpha", [](bfs_options& o) { o.alpha = 0; });
  expect("bfs_options.beta", [](bfs_options& o) { o.beta = NAN; });
  expect(
      "bfs_options.direction bottom_up needs the edges by target",
      [](bfs_options& o) { o.direction = bfs_direction::bottom_up; }, false);
}

BOOST_AUTO_TEST_CASE(bad_arrays_of_a_graph_are_named) {
  const call_on_device call;
  const auto view = call.graph.view();
  const auto expect = [&](const std::string& what, const graph_view& other) {
    call.expect(what, 0, other, call.levels);
  };
  auto other = view;
  other.in_sources = other.in_sources.first(299);
  expect("in_sources has 299 elements; it must have as many as targets, 300", other);
  other = view;
  other.in_offsets = other.in_offsets.first(100);
  expect("in_offsets has 100 elements; it must have as many as offsets, 101", other);
  other = call.graph.view(false);
  other.offsets = {};
  expect("offsets has 0 elements, which means no vertices, but there are 300 targets", other);
  other.offsets = view.offsets.first(1);
  expect("offsets has 1 elements, which means no vertices, but there are 300 targets", other);
  other.offsets = {call.graph.offsets.data(), std::size_t{1} << 32};
  expect("4294967295 vertices; the maximum is 2147483647", other);
  BOOST_CHECK_EXCEPTION((void)ramify::bfs_scratch_bytes(other), std::invalid_argument,
                        tests::names("4294967295 vertices; the maximum is 2147483647"));
  other.offsets = view.offsets;
  other.targets = {call.graph.targets.data(), std::size_t{1} << 33};
  expect("8589934592 edges; the maximum is 8589934591", other);
#if RAMIFY_ON_CUDA
  expect("offsets is ordinary host memory",
         graph_view::directed(call.host.offsets, call.host.targets));
#endif
}

BOOST_AUTO_TEST_CASE(a_graph_that_is_known_to_be_valid_needs_no_check) {
  const host_graph graph = random_graph(60, 60);  // one block suffices for all levels
  for (const route taken : routes) {
    auto chosen = bfs_settings_of(taken);
    const auto checked = check_bfs(graph, 0, chosen);
    chosen.check_graph = false;
    const auto unchecked = check_bfs(graph, 0, chosen);
    BOOST_TEST(unchecked.host_grids + unchecked.child_grids + 1 ==
               checked.host_grids + checked.child_grids);
  }
}

BOOST_AUTO_TEST_SUITE_END()
