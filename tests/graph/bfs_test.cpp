// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search on the backend of this build: every kind of graph, strategy, direction and
// route against Boost.Graph.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch_trace.hpp>
#include <vector>

#include "failed_launches.hpp"
#include "graph_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::bfs_direction;
using ramify::edge_strategy;
using ramify::route;

namespace {

constexpr bfs_direction all_directions[] = {bfs_direction::top_down, bfs_direction::bottom_up,
                                            bfs_direction::optimizing};

/// Searches a graph with each strategy, direction and route, or with one in `of` of them.
void check_all_searches(const host_graph& graph, std::int32_t source, int& piece, int of = 1,
                        std::size_t pending_launches = 0) {
  for (const route taken : routes) {
    for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
      for (const bfs_direction direction : all_directions) {
        if (piece++ % of != 0) continue;
        BOOST_TEST_CONTEXT(graph.name << ", " << graph.vertices() << " vertices, "
                                      << to_string(strategy) << ", " << to_string(direction) << ", "
                                      << to_string(taken)) {
          const auto chosen = bfs_settings_of(taken, strategy, direction);
          (void)check_bfs(graph, source, chosen, pending_launches);
        }
      }
    }
  }
}

/// Layers of vertices. In a run of layers of the same width, each vertex has two edges to either
/// neighboring layer, so a search from a layer of one vertex has frontiers of 4 * width edges.
host_graph layers(const std::vector<std::size_t>& widths) {
  edge_list edges;
  std::size_t first = 0;
  for (std::size_t k = 0; k + 1 < widths.size(); ++k) {
    const std::size_t here = widths[k];
    const std::size_t next = widths[k + 1];
    for (std::size_t i = 0; i < std::max(here, next); ++i) {
      const auto from = static_cast<std::int32_t>(first + i % here);
      edges.emplace_back(from, static_cast<std::int32_t>(first + here + i % next));
      edges.emplace_back(from, static_cast<std::int32_t>(first + here + (i + 1) % next));
    }
    first += here;
  }
  return {"layers", first + widths.back(), edges, true};
}

/// The widest layers that are thin.
constexpr std::size_t thin_width = ramify::detail::graph::tuning::thin_edges / 4;

/// Returns layers of the width `thin`, five of the width `wide`, and again layers of `thin`.
host_graph two_thin_parts(std::size_t thin, std::size_t wide) {
  std::vector<std::size_t> widths(46, thin);
  widths[0] = 1;
  std::fill_n(widths.begin() + 21, 5, wide);
  return layers(widths);
}

/// Returns the number of grids of one block that runs thin rounds, in a search from vertex 0.
std::uint64_t thin_grids(const host_graph& graph, route taken, edge_strategy strategy) {
  auto chosen = bfs_settings_of(taken, strategy, bfs_direction::top_down);
  chosen.flat_loop = ramify::flat_loop::host;  // each iteration of a graph's loop has such a grid
  ramify::launch_trace trace;
  chosen.trace = &trace;
  const bfs_call call(graph, chosen);  // check_bfs() would count the grid that a trace adds
  (void)call.start(0).get();
  BOOST_TEST(bfs_fault(graph, 0, call.results()) == "");
  std::uint64_t found = 0;
  for (const ramify::traced_grid& g : trace.grids) {
    if (g.kernel == "visit_thin_rounds") found += g.runs;
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(breadth_first_search)

BOOST_AUTO_TEST_CASE(the_example_of_the_header) {
  const host_graph graph("example", 5, {{0, 1}, {0, 2}, {1, 3}}, true);
  const bfs_call call(graph, {});
  (void)call.start(0).get();
  const bfs_results expected{{0, 1, 1, 2, -1}, {-1, 0, 0, 1, -1}};
  BOOST_TEST((call.results() == expected));
}

BOOST_AUTO_TEST_CASE(every_graph_strategy_direction_and_route) {
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(400)) {
    check_all_searches(graph, 0, piece, stride(1));
  }
}

BOOST_AUTO_TEST_CASE(every_size_and_source) {
  int piece = 0;
  for (const std::size_t n : {2, 31, 32, 33, 63, 64, 65, 129, 1025}) {
    for (const host_graph& graph : graphs_of_each_kind(n, n)) {
      const auto last = static_cast<std::int32_t>(graph.vertices() - 1);
      for (const std::int32_t source : {last, last / 2}) {
        check_all_searches(graph, source, piece, stride(17));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_large_kronecker_graph) {
  const host_graph graph = kronecker(RAMIFY_ON_CUDA ? 18 : effort() < 1 ? 9 : 12, 16);
  const auto busiest = [&] {
    std::size_t best = 0;
    for (std::size_t v = 0; v < graph.vertices(); ++v) {
      const auto degree = [&](std::size_t u) { return graph.offsets[u + 1] - graph.offsets[u]; };
      if (degree(v) > degree(best)) best = v;
    }
    return static_cast<std::int32_t>(best);
  }();
  for (const route taken : routes) {
    const auto by_edges = check_bfs(graph, busiest, bfs_settings_of(taken));
    BOOST_TEST(by_edges.bottom_up_levels > 0u);
    BOOST_TEST(by_edges.bottom_up_levels < by_edges.rounds);
    const auto down = check_bfs(
        graph, busiest, bfs_settings_of(taken, edge_strategy::balanced, bfs_direction::top_down));
    BOOST_TEST(down.bottom_up_levels == 0u);
    const auto up = check_bfs(
        graph, busiest, bfs_settings_of(taken, edge_strategy::balanced, bfs_direction::bottom_up));
    BOOST_TEST(up.bottom_up_levels == up.rounds);
    auto aggregated = bfs_settings_of(taken, edge_strategy::aggregated, bfs_direction::top_down);
    aggregated.heavy_degree = 64;
    const auto with_children = check_bfs(graph, busiest, aggregated);
    if (taken == route::device) BOOST_TEST(with_children.child_grids > 3 * with_children.rounds);
  }
}

BOOST_AUTO_TEST_CASE(a_bottom_up_level_is_followed_by_top_down) {
  // A clique, which is searched bottom-up, with a path at its end.
  edge_list edges;
  for (int u = 0; u < 60; ++u) {
    for (int v = 0; v < u; ++v) edges.emplace_back(u, v);
  }
  for (int v = 60; v < 160; ++v) edges.emplace_back(v - 1, v);
  const host_graph graph("clique and path", 160, edges, true);
  for (const route taken : routes) {
    for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
      auto chosen = bfs_settings_of(taken, strategy, bfs_direction::optimizing);
      chosen.alpha = 100;
      const auto report = check_bfs(graph, 0, chosen);
      BOOST_TEST(report.levels == 101u);
      BOOST_TEST(report.bottom_up_levels >= 1u);
      BOOST_TEST(report.bottom_up_levels < 30u);
    }
  }
}

BOOST_AUTO_TEST_CASE(small_levels_share_one_grid) {
  const host_graph graph = path(300);
  for (const route taken : routes) {
    for (const edge_strategy strategy : ramify::all_choices<edge_strategy>()) {
      BOOST_TEST_CONTEXT(to_string(strategy) << ", " << to_string(taken)) {
        auto chosen = bfs_settings_of(taken, strategy);
        chosen.flat_loop = ramify::flat_loop::host;  // the grids of a graph's loop are not counted
        const auto report = check_bfs(graph, 0, chosen);
        BOOST_TEST(report.levels == 299u);
        const unsigned grids = report.host_grids + report.child_grids;
        const bool has_children =
            strategy == edge_strategy::child_grid || strategy == edge_strategy::aggregated;
        BOOST_TEST((has_children ? grids > 299 : grids < 10));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(one_block_searches_many_consecutive_thin_levels,
                     *boost::unit_test::enable_if<ramify::trace_available>()) {
  const host_graph thin = two_thin_parts(thin_width, 2 * thin_width);
  const host_graph too_wide = two_thin_parts(thin_width + 1, thin_width + 1);
  for (const route taken : routes) {
    BOOST_TEST_CONTEXT(to_string(taken)) {
      BOOST_TEST(thin_grids(thin, taken, edge_strategy::balanced) == 2u);
      BOOST_TEST(thin_grids(too_wide, taken, edge_strategy::balanced) == 0u);
      BOOST_TEST(thin_grids(thin, taken, edge_strategy::warp) == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_host_continues_after_a_failed_launch_of_thin_levels,
                     *boost::unit_test::precondition(on_the_executor)) {
  const host_graph graph = two_thin_parts(thin_width, 2 * thin_width);
  const auto chosen =
      bfs_settings_of(route::device, edge_strategy::balanced, bfs_direction::top_down);
  check_failed_launches(8, 5, [&] { return check_bfs(graph, 0, chosen); });
}

BOOST_AUTO_TEST_CASE(heavy_vertices_get_child_grids) {
  const host_graph graph = star(2'000);
  for (const edge_strategy strategy : {edge_strategy::child_grid, edge_strategy::aggregated}) {
    auto chosen = bfs_settings_of(route::device, strategy, bfs_direction::top_down);
    const auto with_child = check_bfs(graph, 0, chosen);
    chosen.heavy_degree = 10'000;
    const auto without = check_bfs(graph, 0, chosen);
    BOOST_TEST(with_child.child_grids == without.child_grids + 1);
    chosen.heavy_degree = 3;
    chosen.route = route::flat;
    BOOST_TEST(check_bfs(graph, 0, chosen).child_grids == 0u);
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  int piece = seed;
  for (const host_graph& graph : graphs_of_each_kind(120, std::uint64_t(seed))) {
    check_all_searches(graph, 0, piece, stride(61));
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(the_extreme_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(300))
    check_all_searches(graph, 0, piece, stride(11));
}

BOOST_DATA_TEST_CASE(no_work_is_lost_at_any_limit, data::make({1, 2, 16, 32, 2048}),
                     pending_launches) {
  int piece = 0;
  for (const host_graph& graph : graphs_of_each_kind(500)) {
    check_all_searches(graph, 0, piece, stride(11), std::size_t(pending_launches));
  }
}

BOOST_AUTO_TEST_CASE(the_arrays_may_be_omitted) {
  const host_graph graph = kronecker(7, 8);
  const device_graph on_device(graph);
  const auto levels = zeros<std::int32_t>(graph.vertices());
  const auto parents = zeros<std::int32_t>(graph.vertices());
  const auto search = [&](const ramify::bfs_arrays& results) {
    return ramify::breadth_first_search(on_device.view(), 0, results).reached;
  };
  const std::uint64_t reached = search({});
  BOOST_TEST(search({.levels = levels.data()}) == reached);
  BOOST_TEST(search({.parents = parents.data()}) == reached);
  BOOST_TEST(bfs_fault(graph, 0, {download(levels), download(parents)}) == "");
}

BOOST_AUTO_TEST_CASE(scratch_is_as_documented) {
  const std::vector<std::int64_t> no_offsets;
  const ramify::graph_view graph = ramify::graph_view::directed({no_offsets.data(), 1'000'001}, {});
  BOOST_TEST(double(ramify::bfs_scratch_bytes(graph)) < 24.26 * 1e6);
  BOOST_TEST(double(ramify::bfs_scratch_bytes(
                 graph, bfs_settings_of(route::flat, edge_strategy::aggregated))) < 36.26 * 1e6);
}

BOOST_AUTO_TEST_CASE(the_oracle_detects_wrong_results) {
  const host_graph graph = kronecker(6, 4);
  const bfs_call call(graph, {});
  (void)call.start(0).get();
  const bfs_results right = call.results();
  BOOST_TEST(bfs_fault(graph, 0, right) == "");
  for (const std::size_t v : {0, 1, 40}) {
    bfs_results wrong = right;
    ++wrong.levels[v];
    BOOST_TEST(bfs_fault(graph, 0, wrong) != "");
    wrong = right;
    wrong.parents[v] = static_cast<std::int32_t>(v);
    BOOST_TEST(bfs_fault(graph, 0, wrong) != "");
  }
}

BOOST_AUTO_TEST_SUITE_END()
