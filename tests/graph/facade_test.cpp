// SPDX-License-Identifier: BSD-3-Clause
// The facade of graph algorithms, on the backend of this build.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <ramify/graph.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "graph_checks.cuh"
#include "times_check.hpp"

using namespace tests;
using ramify::graph_view;
using ramify::route;

namespace {

/// Returns settings for the backend of this build.
bfs_settings facade_settings_of(route taken) {
  bfs_settings chosen = bfs_settings_of(taken);
  chosen.backend = backend_under_test();
  return chosen;
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
      auto chosen = facade_settings_of(taken);
      chosen.pending_launches = 64;
      const auto report = ramify::breadth_first_search(
          view_of(graph), 1, {.levels = results.levels, .parents = results.parents}, chosen,
          chosen);
      BOOST_TEST(bfs_fault(graph, 1, results) == "");
      BOOST_TEST(report.bottom_up_levels > 0u);
      BOOST_TEST(report.pending_launch_limit == 64u);
      BOOST_TEST(report.ran_on == backend_under_test());
      BOOST_TEST(check_times(report, {RAMIFY_ON_CUDA != 0, RAMIFY_ON_CUDA != 0}) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(it_searches_from_many_sources) {
  const host_graph graph = random_graph(300, 900);
  const std::vector<std::int64_t> sources{7, 0, 299};
  std::vector<std::int32_t> levels(900, -7), expected;
  for (const std::int64_t source : sources) {
    const auto row = boost_levels(300, graph.list, std::int32_t(source));
    expected.insert(expected.end(), row.begin(), row.end());
  }
  const ramify::environment env{.backend = backend_under_test()};
  const auto report = ramify::breadth_first_searches(view_of(graph), sources, levels, env);
  BOOST_TEST(levels == expected, boost::test_tools::per_element());
  BOOST_TEST(report.levels == std::uint64_t(*std::ranges::max_element(expected)));
  levels.pop_back();
  BOOST_CHECK_EXCEPTION(
      (void)ramify::breadth_first_searches(view_of(graph), sources, levels, env),
      std::invalid_argument,
      names("levels has 899 elements; it must have as many as vertices times sources, 900"));
}

BOOST_AUTO_TEST_CASE(it_searches_without_the_edges_by_target) {
  const host_graph graph = random_graph(300, 900);
  bfs_results results = no_bfs_results(300);
  const auto report =
      ramify::breadth_first_search(graph_view::directed(graph.offsets, graph.targets), 0,
                                   {.levels = results.levels, .parents = results.parents},
                                   {.backend = backend_under_test(), .route = route::flat});
  BOOST_TEST(bfs_fault(graph, 0, results) == "");
  BOOST_TEST(report.bottom_up_levels == 0u);
}

BOOST_AUTO_TEST_CASE(it_computes_paths_components_and_ranks) {
  for (const host_graph& graph : {kronecker(8, 4), random_graph(400, 500)}) {
    const std::size_t n = graph.vertices();
    const std::vector<float> weights(graph.targets.size(), 0.5f);
    std::vector<float> distances(n);
    std::vector<std::int32_t> parents(n), components(n);
    std::vector<double> ranks(n);
    for (const route taken : routes) {
      const ramify::environment env{.backend = backend_under_test(), .route = taken};
      const auto paths =
          ramify::shortest_paths(view_of(graph), weights, 1,
                                 {.distances = distances, .parents = parents}, {{}, 0.25}, env);
      BOOST_TEST((distances == boost_distances(n, graph.list, weights, 1)));
      BOOST_TEST(parents[1] == -1);
      BOOST_TEST(paths.reached == std::uint64_t(std::ranges::count_if(
                                      distances, [](float d) { return d < 1e30f; })));
      BOOST_TEST(check_times(paths, {RAMIFY_ON_CUDA != 0, RAMIFY_ON_CUDA != 0}) == "");

      const auto found =
          ramify::connected_components(view_of(graph), components, {.heavy_degree = 3}, env);
      BOOST_TEST((components == boost_components(n, graph.list)));
      BOOST_TEST(found.components > 1u);
      BOOST_TEST(found.taken == taken);

      const auto ranked = ramify::pagerank(view_of(graph), ranks, env);
      BOOST_TEST(ranked.converged);
      const auto expected = serial_ranks(n, graph.list, 0.85, unsigned(ranked.iterations));
      for (std::size_t v = 0; v < n; ++v) BOOST_TEST(std::abs(ranks[v] - expected[v]) < 1e-12);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_graph_without_edges_needs_no_lengths_on_a_facade) {
  const host_graph graph("two vertices", 2, {}, false);
  const ramify::environment env{.backend = backend_under_test()};
  std::vector<float> distances(2);
  std::vector<std::uint64_t> integers(2);
  BOOST_TEST(ramify::shortest_paths(view_of(graph), {}, 1, ramify::sssp_spans{}, env).reached ==
             1u);
  (void)ramify::shortest_paths(view_of(graph), {}, 1, {.distances = distances}, env);
  (void)ramify::shortest_paths(view_of(graph), std::span<std::uint64_t>(), 1,
                               {.distances = integers}, env);
  BOOST_TEST((distances == std::vector<float>{INFINITY, 0}));
  BOOST_TEST((integers == std::vector<std::uint64_t>{~std::uint64_t{0}, 0}));
}

BOOST_AUTO_TEST_CASE(it_refuses_bad_arguments_of_the_algorithms) {
  const host_graph graph = random_graph(300, 900);
  const std::vector<float> weights(900, 1);
  std::vector<float> distances(299);
  std::vector<std::int32_t> components(301);
  std::vector<double> ranks(1);
  const auto view = view_of(graph);
  const auto expect = [](const std::string& what, auto call) {
    BOOST_CHECK_EXCEPTION((void)call(), std::invalid_argument, names(what));
  };
  expect("300 vertices, but 299 distances",
         [&] { return ramify::shortest_paths(view, weights, 0, {.distances = distances}); });
  expect("weights has 899 elements", [&] {
    return ramify::shortest_paths(view, std::span(weights).first(899), 0, ramify::sssp_spans{});
  });
  expect("300 vertices, but 301 components",
         [&] { return ramify::connected_components(view, components); });
  expect("300 vertices, but 1 ranks", [&] { return ramify::pagerank(view, ranks); });
  const ramify::environment bad{.backend = static_cast<ramify::backend>(9)};
  expect("environment.backend",
         [&] { return ramify::shortest_paths(view, weights, 0, ramify::sssp_spans{}, bad); });
  expect("environment.backend",
         [&] { return ramify::connected_components(view, std::span<std::int32_t>(), bad); });
  expect("environment.backend", [&] { return ramify::pagerank(view, std::span<double>(), bad); });
}

BOOST_AUTO_TEST_CASE(it_refuses_bad_arguments) {
  host_graph graph = random_graph(300, 900);
  std::vector<std::int32_t> levels(300, -7);
  const auto unchanged = levels;
  const auto expect = [&](const std::string& what, std::int64_t source, std::span<std::int32_t> to,
                          const bfs_settings& chosen) {
    BOOST_CHECK_EXCEPTION(
        (void)ramify::breadth_first_search(view_of(graph), source, {.levels = to}, chosen, chosen),
        std::invalid_argument, names(what));
    BOOST_TEST((levels == unchanged));
  };
  auto chosen = facade_settings_of(route::device);
  expect("300 vertices, but 299 levels", 0, std::span(levels).first(299), chosen);
  expect("source is 300", 300, levels, chosen);
  chosen.beta = -1;
  expect("bfs_options.beta is -1", 0, levels, chosen);
  chosen = facade_settings_of(route::device);
  chosen.backend = static_cast<ramify::backend>(7);
  expect("environment.backend", 0, levels, chosen);
  graph.targets[5] = 400;
  expect("targets[5] is 400", 0, levels, facade_settings_of(route::device));
}

BOOST_AUTO_TEST_SUITE_END()
