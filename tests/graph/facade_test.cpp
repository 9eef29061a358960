// SPDX-License-Identifier: BSD-3-Clause
// The facade of graph algorithms, on the backend of this build.
#include <boost/test/unit_test.hpp>
#include <ramify/graph.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "graph_checks.cuh"
#include "times_check.hpp"

using namespace tests;
using ramify::graph_view;
using ramify::route;

namespace {

ramify::bfs_options bfs_options_of(route taken) {
  return {{bfs_config_of(taken)}, {.backend = backend_under_test()}};
}

graph_view view_of(const host_graph& g) {
  if (g.is_symmetric) return graph_view::symmetric(g.offsets, g.targets);
  return graph_view::directed(g.offsets, g.targets, g.in_offsets, g.in_sources);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(graph_facade)

BOOST_AUTO_TEST_CASE(it_searches_breadth_first) {
  for (const host_graph& graph : {kronecker(9, 8), random_graph(400, 1'500)}) {
    for (const route taken : routes) {
      bfs_results results = no_bfs_results(graph.vertices());
      auto options = bfs_options_of(taken);
      options.pending_launches = 64;
      const auto report = ramify::breadth_first_search(
          view_of(graph), 1, {.levels = results.levels, .parents = results.parents}, options);
      BOOST_TEST(bfs_fault(graph, 1, results) == "");
      BOOST_TEST(report.bottom_up_levels > 0u);
      BOOST_TEST(report.pending_launch_limit == 64u);
      BOOST_TEST(report.ran_on == backend_under_test());
      BOOST_TEST(check_times(report, {RAMIFY_ON_CUDA != 0, RAMIFY_ON_CUDA != 0}) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(it_searches_without_the_edges_by_target) {
  const host_graph graph = random_graph(300, 900);
  bfs_results results = no_bfs_results(300);
  const auto report = ramify::breadth_first_search(
      graph_view::directed(graph.offsets, graph.targets), 0,
      {.levels = results.levels, .parents = results.parents}, bfs_options_of(route::flat));
  BOOST_TEST(bfs_fault(graph, 0, results) == "");
  BOOST_TEST(report.bottom_up_levels == 0u);
}

BOOST_AUTO_TEST_CASE(it_refuses_bad_arguments) {
  host_graph graph = random_graph(300, 900);
  std::vector<std::int32_t> levels(300, -7);
  const auto unchanged = levels;
  const auto expect = [&](const std::string& what, std::int64_t source, std::span<std::int32_t> to,
                          const ramify::bfs_options& options) {
    BOOST_CHECK_EXCEPTION(
        (void)ramify::breadth_first_search(view_of(graph), source, {.levels = to}, options),
        std::invalid_argument, names(what));
    BOOST_TEST((levels == unchanged));
  };
  auto options = bfs_options_of(route::device);
  expect("300 vertices, but 299 levels", 0, std::span(levels).first(299), options);
  expect("source is 300", 300, levels, options);
  options.beta = -1;
  expect("bfs_config.beta is -1", 0, levels, options);
  options = bfs_options_of(route::device);
  options.backend = static_cast<ramify::backend>(7);
  expect("bfs_options.backend", 0, levels, options);
  graph.targets[5] = 400;
  expect("targets[5] is 400", 0, levels, bfs_options_of(route::device));
}

BOOST_AUTO_TEST_SUITE_END()
