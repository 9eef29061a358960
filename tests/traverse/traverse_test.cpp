// SPDX-License-Identifier: BSD-3-Clause
// The walk of implicit trees on the backend under test: extreme shapes, memory, graphs, limits.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <set>
#include <stdexcept>

#include "checks.hpp"
#include "exceptions.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using ramify::route;
using ramify::traverse_report;
using enum numbered_tree::shape;

BOOST_AUTO_TEST_SUITE(traverse)

// ---- shapes ------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(every_node_is_visited_once, data::make(routes), taken) {
  const traverse_setting setting{.config = {.route = taken}};
  const unsigned large = runs_on_cpu() ? unsigned(cut_down(200'000, 2'000)) : 2'000'000;
  int piece = 0;
  for (const unsigned n : {1u, 2u, 31u, 32u, 33u, 1000u, large}) {
    for (const auto& tree :
         {numbered_tree{star, n}, numbered_tree{complete, n, 2}, numbered_tree{complete, n, 7},
          numbered_tree{complete, n, 1000}, numbered_tree{caterpillar, n}}) {
      if (left_out_by_tsan(piece, 4)) continue;
      BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", n = " << n << ", arity " << tree.arity) {
        expect_each_visited_once(tree, setting);
      }
    }
  }
  expect_each_visited_once({combs, 50, RAMIFY_THREAD_SANITIZER ? 1 : unsigned(cut_down(300))},
                           setting);
  // Wide nodes below a wide node: each makes many pieces. Under ThreadSanitizer, once.
  if (effort() < 0.1 && taken != route::device) return;
  const unsigned wide = unsigned(cut_down(400'000, 35'000));
  expect_each_visited_once({complete, wide, 33'000}, setting);
}

BOOST_DATA_TEST_CASE(a_long_path_is_one_round, data::make(routes), taken) {
  const int on_executor = RAMIFY_THREAD_SANITIZER ? 300 : cut_down(50'000);
  const unsigned n = runs_on_cpu() ? unsigned(on_executor) : 1'000'000;
  const traverse_report report = expect_each_visited_once({path, n}, {.config = {.route = taken}});
  BOOST_TEST(report.rounds == 1u);  // nobody could help
}

BOOST_DATA_TEST_CASE(nodes_may_be_large, data::make(routes), taken) {
  int piece = 0;
  for (const auto& tree :
       {numbered_tree{complete, unsigned(cut_down(5'000, 1'000)), 3}, numbered_tree{star, 3000},
        numbered_tree{path, 300}, numbered_tree{combs, 30, unsigned(cut_down(20, 4))}}) {
    if (left_out_by_tsan(piece, 3)) continue;
    std::uint64_t sound = 0;
    with_grids_counted(
        [&] { return cases().count_pages(tree, {.config = {.route = taken}}, sound); });
    BOOST_TEST(sound == tree.nodes());
  }
}

// ---- memory ------------------------------------------------------------------------------------

// With lists as short as may be, the walk gets narrow and visits everything all the same.
BOOST_DATA_TEST_CASE(short_lists_make_the_walk_narrow, data::make(routes), taken) {
  const traverse_setting setting{.config = {.route = taken, .capacity = cases().least_capacity()}};
  const auto wide = unsigned(cut_down(100'000, 10'000));
  int piece = 0;
  for (const auto& tree : {numbered_tree{complete, unsigned(cut_down(500'000)), 6},
                           numbered_tree{combs, 100, unsigned(cut_down(100, 2))},
                           numbered_tree{star, wide}, numbered_tree{complete, wide, 9'000}}) {
    if (left_out_by_tsan(piece, 3)) continue;
    const traverse_report report = expect_each_visited_once(tree, setting);
    BOOST_TEST(report.peak_open_nodes <= setting.config.capacity);
  }
}

// Where even that is too much, nothing is dropped in silence.
BOOST_AUTO_TEST_CASE(too_many_open_nodes_are_an_error,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  const numbered_tree tree{combs, 5000, 40};
  for (const route taken : routes) {
    traverse_setting setting{.config = {.route = taken, .capacity = cases().least_capacity()}};
    std::vector<unsigned> visits;
    BOOST_CHECK_EXCEPTION((void)cases().mark(tree, setting, visits), std::length_error,
                          names("raise traverse_config.capacity"));
    BOOST_TEST(cases().slots_in_use() == 0u);
  }
}

// ---- who begins the rounds, and graphs around a traversal ---------------------------------------

BOOST_AUTO_TEST_CASE(host_and_graph_go_the_same_rounds) {
  using ramify::flat_loop;
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
      // What clears, plants and folds; then the rounds, or one that finds no work.
      BOOST_TEST(by_host.host_grids == 3 + std::max<std::uint64_t>(by_host.rounds, 1));
      BOOST_TEST(by_host.deepest_level == by_host.rounds);

      const traverse_report automatic = mark(flat_loop::automatic);
      BOOST_TEST(!automatic.flat_loop_reason.empty());
      if (runs_on_cpu()) {
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
  BOOST_CHECK_EXCEPTION(expect_each_visited_once(
                            {path, 10}, {.config = {.strategy = ramify::traverse_strategy::spawned,
                                                    .flat_loop = flat_loop::graph}}),
                        ramify::unavailable, names("spawned has no rounds"));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_a_gpu))
BOOST_DATA_TEST_CASE(a_captured_traversal_runs_with_each_launch_of_its_graph, data::make(routes),
                     taken) {
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{complete, 300'000, 5},
                           numbered_tree{combs, 200, 100}}) {
    for (const bool get_each : {true, false}) {
      const auto found = cases().mark_captured(tree, taken, 3, get_each);
      const std::vector<unsigned> values(get_each ? 3 : 1, unsigned(tree.nodes()));
      BOOST_TEST(found.values == values, boost::test_tools::per_element());
      BOOST_TEST(std::ranges::all_of(found.visits, [](unsigned v) { return v == 3; }));
      BOOST_TEST(found.report.taken == taken);
      BOOST_TEST((found.report.looped_by == ramify::flat_loop::graph) == (taken == route::flat));
      BOOST_TEST(cases().slots_in_use() == 0u);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_captured_is_refused,
                     *boost::unit_test::precondition(on_a_gpu)) {
  const auto expect = [](bad_traversal what, const std::string& text) {
    BOOST_CHECK_EXCEPTION(cases().provoke(what), std::exception, names(text));
  };
  expect(bad_traversal::captured_without_scratch, "scratch.data is null");
  expect(bad_traversal::captured_by_host, "cannot be captured");
  expect(bad_traversal::captured_spawned, "only the walk can be captured");
  expect(bad_traversal::got_while_captured, "while the stream is being captured");
  // And the next one runs.
  expect_each_visited_once({complete, 1000, 3}, {});
}

// ---- launch limits -----------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(no_limit_loses_a_node,
                     data::make({1u, 2u, 16u, 32u, 64u, 2048u}) * data::make(routes), limit,
                     taken) {
  const traverse_setting setting{.config = {.route = taken}, .pending_launches = limit};
  for (const auto& tree : {numbered_tree{complete, unsigned(cut_down(20'000, 1'000)), 5},
                           numbered_tree{path, unsigned(cut_down(5000))},
                           numbered_tree{combs, 50, unsigned(cut_down(40))}}) {
    static int piece = 0;  // of all limits and routes
    if (left_out_by_tsan(piece, 5)) continue;
    const traverse_report report = expect_each_visited_once(tree, setting);
    // Two slots are the least that the device route can do with.
    if (taken == route::device && limit <= 16 && runs_on_cpu()) BOOST_TEST(report.taken == route::flat);
    if (taken == route::device && limit >= 32) BOOST_TEST(report.taken == route::device);
  }
}

// A chain of nested grids uses up the slots; the next one is begun behind it. One path keeps one
// warp busy, which hands its leaves out every 24 steps, so this small comb takes many rounds.
BOOST_AUTO_TEST_CASE(a_long_chain_is_resumed) {
  // Reproducible: else it is luck on the executor who learns in time that others are idle.
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config("random:1"));
  const unsigned long_enough = RAMIFY_THREAD_SANITIZER ? 100 : 120;
  const traverse_report report = expect_each_visited_once(
      {combs, long_enough}, {.config = {.route = route::device}, .pending_launches = 32});
  BOOST_REQUIRE(report.rounds > 3u);  // a chain that is not resumed has as many as there are slots
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.peak_slots <= 2u);
  BOOST_TEST(report.child_grids > report.rounds);  // tail launches of the resuming kernel
}

// ---- schedules of the executor -----------------------------------------------------------------

// The negative control: the schedules do visit in different orders, so a reduction for which order
// matters, against the rules, shows it.
BOOST_AUTO_TEST_CASE(a_reduction_that_does_not_commute_shows,
                     *boost::unit_test::precondition(on_the_executor) *
                         boost::unit_test::precondition(not_under_thread_sanitizer)) {
  std::set<std::uint64_t> results;
  for (int seed = 0; seed < 20 && results.size() < 2; ++seed) {
    const ramify::cpu::scoped_executor_config config(
        {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
    results.insert(cases().fold_in_order_of_visits(20'000, {}));
  }
  BOOST_TEST(results.size() > 1u);
}

// ---- arguments ---------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const auto provoke = [](bad_traversal what, const std::string& text) {
    BOOST_CHECK_EXCEPTION(cases().provoke(what), std::invalid_argument, names(text));
  };
  provoke(bad_traversal::scratch_too_small, "scratch.bytes is 1000");
  provoke(bad_traversal::scratch_misaligned, "scratch.data must be aligned");
  provoke(bad_traversal::capacity_too_small, "traverse_config.capacity is 10;");
  provoke(bad_traversal::flat_loop_unknown, "traverse_config.flat_loop is none");
}

BOOST_AUTO_TEST_SUITE_END()
