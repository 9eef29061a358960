// SPDX-License-Identifier: BSD-3-Clause
// Traversal of implicit trees on the backend under test: published trees, extreme shapes, schedules,
// limits.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <boost/uuid/detail/sha1.hpp>
#include <limits>
#include <ramify/cpu/executor.hpp>
#include <ramify/tree_search.hpp>
#include <random>
#include <set>
#include <stdexcept>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "exceptions.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using ramify::route;
using ramify::traverse_report;
using ramify::uts_counts;
using ramify::uts_parameters;
using tests::numbered_tree;
using tests::on_cpu;
using tests::traverse_setting;
using enum numbered_tree::shape;

namespace {

constexpr route routes[] = {route::device, route::flat};

const tests::traverse_cases& cases() {
  return on_cpu() ? *tests::traverse_cases_on_cpu() : *tests::traverse_cases_on_cuda();
}

/// The grids that the executor began are those that the report tells of.
template <class Run>
traverse_report with_grids_counted(Run run) {
  const std::uint64_t before = ramify::cpu::grids_begun();
  const traverse_report report = run();
  if (on_cpu()) {
    BOOST_TEST(report.host_grids + report.child_grids == ramify::cpu::grids_begun() - before);
  }
  BOOST_TEST(cases().slots_in_use() == 0u);
  return report;
}

void expect_counts(const uts_counts& found, const uts_counts& expected) {
  BOOST_TEST(found.nodes == expected.nodes);
  BOOST_TEST(found.leaves == expected.leaves);
  BOOST_TEST(found.depth == expected.depth);
}

traverse_report expect_published(const ramify::uts_named_tree& tree,
                                 const traverse_setting& setting) {
  uts_counts found{};
  const traverse_report report =
      with_grids_counted([&] { return cases().search(tree.parameters, setting, found); });
  expect_counts(found, tree.counts);
  return report;
}

const ramify::uts_named_tree& named(std::string_view name) {
  return *std::ranges::find(ramify::uts_trees(), name, &ramify::uts_named_tree::name);
}

traverse_report expect_each_visited_once(const numbered_tree& tree,
                                         const traverse_setting& setting) {
  std::vector<unsigned> visits;
  const traverse_report report =
      with_grids_counted([&] { return cases().mark(tree, setting, visits); });
  BOOST_TEST(visits.size() == tree.nodes());
  BOOST_TEST(std::ranges::all_of(visits, [](unsigned v) { return v == 1; }));
  return report;
}

/// A tree of a few thousand nodes that is deep for its size.
const uts_parameters thin{.type = ramify::uts_type::binomial,
                          .root_branches = 40,
                          .probability = 0.1985,
                          .branches = 5,
                          .seed = 38};

}  // namespace

BOOST_AUTO_TEST_SUITE(traverse)

// ---- SHA-1, against Boost's and the standard's examples ----------------------------------------

BOOST_AUTO_TEST_CASE(sha1_is_that_of_boost) {
  std::mt19937 random(1);
  for (int i = 0; i < (on_cpu() ? 1000 : 100); ++i) {
    std::array<std::uint32_t, 6> message{};
    boost::uuids::detail::sha1 reference;
    for (std::uint32_t& word : message) {
      word = static_cast<std::uint32_t>(random());
      for (int byte = 3; byte >= 0; --byte) {
        reference.process_byte(static_cast<unsigned char>(word >> 8 * byte));
      }
    }
    boost::uuids::detail::sha1::digest_type digest;
    reference.get_digest(digest);
    const auto found = cases().sha1(message);
    BOOST_REQUIRE(std::equal(found.begin(), found.end(), digest));
  }
}

// ---- Unbalanced Tree Search, against the published counts --------------------------------------

BOOST_DATA_TEST_CASE(published_trees_have_the_published_counts, data::make(routes), taken) {
  for (const auto& tree : ramify::uts_trees()) {
    // Of the large ones, what the backend does in a second or two.
    const double most = on_cpu() ? 5e6 * tests::effort() : 2e8;
    if (double(tree.counts.nodes) > most) continue;
    if (on_cpu() && tree.name != "small" && tree.name != "T1" && tree.name != "T3") continue;
    BOOST_TEST_CONTEXT(tree.name) { expect_published(tree, {.config = {.route = taken}}); }
  }
}

BOOST_AUTO_TEST_CASE(a_thin_tree_takes_no_launch_a_level) {
  const auto& tree = tests::effort() < 1 ? named("small") : named("T3");
  const traverse_report report = expect_published(tree, {.config = {.route = route::device}});
  BOOST_TEST(report.rounds < std::max<std::uint64_t>(tree.counts.depth / 5, 5));
  BOOST_TEST(report.taken == route::device);
}

// The negative control of the counts: other parameters give others.
BOOST_AUTO_TEST_CASE(another_seed_is_another_tree) {
  uts_parameters tree = named("small").parameters;
  tree.seed += 1;
  uts_counts found{};
  (void)cases().search(tree, {}, found);
  BOOST_TEST(found.nodes != named("small").counts.nodes);
}

BOOST_DATA_TEST_CASE(degenerate_trees, data::make(routes), taken) {
  const auto search = [&](const uts_parameters& tree) {
    uts_counts found{};
    with_grids_counted([&] { return cases().search(tree, {.config = {.route = taken}}, found); });
    return found;
  };
  uts_parameters tree{.type = ramify::uts_type::binomial, .root_branches = 0};
  expect_counts(search(tree), {1, 1, 0});
  const auto leaves = std::uint64_t(tests::cut_down(100'000, 5'000));
  tree.root_branches = double(leaves);
  tree.probability = 0;
  expect_counts(search(tree), {leaves + 1, leaves, 1});
  tree = {.type = ramify::uts_type::geometric, .root_branches = 0};
  expect_counts(search(tree), {1, 1, 0});
  // A binomial path.
  tree = {.type = ramify::uts_type::binomial, .root_branches = 1, .probability = 1, .branches = 0};
  expect_counts(search(tree), {2, 1, 1});
}

// ---- shapes ------------------------------------------------------------------------------------

BOOST_DATA_TEST_CASE(every_node_is_visited_once, data::make(routes), taken) {
  const traverse_setting setting{.config = {.route = taken}};
  const unsigned large = on_cpu() ? unsigned(tests::cut_down(200'000, 2'000)) : 2'000'000;
  int piece = 0;
  for (const unsigned n : {1u, 2u, 31u, 32u, 33u, 1000u, large}) {
    for (const auto& tree :
         {numbered_tree{star, n}, numbered_tree{complete, n, 2}, numbered_tree{complete, n, 7},
          numbered_tree{complete, n, 1000}, numbered_tree{caterpillar, n}}) {
      if (tests::left_out_by_tsan(piece, 4)) continue;
      BOOST_TEST_CONTEXT("shape " << int(tree.kind) << ", n = " << n << ", arity " << tree.arity) {
        expect_each_visited_once(tree, setting);
      }
    }
  }
  expect_each_visited_once(
      {combs, 50, RAMIFY_THREAD_SANITIZER ? 1 : unsigned(tests::cut_down(300))}, setting);
  // Wide nodes below a wide node: each makes many pieces. Under ThreadSanitizer, once.
  if (tests::effort() < 0.1 && taken != route::device) return;
  const unsigned wide = unsigned(tests::cut_down(400'000, 35'000));
  expect_each_visited_once({complete, wide, 33'000}, setting);
}

BOOST_DATA_TEST_CASE(a_long_path_is_one_round, data::make(routes), taken) {
  const int on_executor = RAMIFY_THREAD_SANITIZER ? 300 : tests::cut_down(200'000);
  const unsigned n = on_cpu() ? unsigned(on_executor) : 1'000'000;
  const traverse_report report = expect_each_visited_once({path, n}, {.config = {.route = taken}});
  BOOST_TEST(report.rounds == 1u);  // nobody could help
}

BOOST_DATA_TEST_CASE(nodes_may_be_large, data::make(routes), taken) {
  int piece = 0;
  for (const auto& tree : {numbered_tree{complete, unsigned(tests::cut_down(5'000, 1'000)), 3},
                           numbered_tree{star, 3000}, numbered_tree{path, 300},
                           numbered_tree{combs, 30, unsigned(tests::cut_down(20, 4))}}) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
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
  const auto wide = unsigned(tests::cut_down(100'000, 10'000));
  int piece = 0;
  for (const auto& tree : {numbered_tree{complete, unsigned(tests::cut_down(500'000)), 6},
                           numbered_tree{combs, 100, unsigned(tests::cut_down(100, 2))},
                           numbered_tree{star, wide}, numbered_tree{complete, wide, 9'000}}) {
    if (tests::left_out_by_tsan(piece, 3)) continue;
    const traverse_report report = expect_each_visited_once(tree, setting);
    BOOST_TEST(report.peak_open_nodes <= setting.config.capacity);
  }
}

// Where even that is too much, nothing is dropped in silence.
BOOST_AUTO_TEST_CASE(too_many_open_nodes_are_an_error,
                     *boost::unit_test::precondition(tests::on_the_executor) *
                         boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
  const numbered_tree tree{combs, 5000, 40};
  for (const route taken : routes) {
    traverse_setting setting{.config = {.route = taken, .capacity = cases().least_capacity()}};
    std::vector<unsigned> visits;
    BOOST_CHECK_EXCEPTION((void)cases().mark(tree, setting, visits), std::length_error,
                          tests::names("raise traverse_config.capacity"));
    BOOST_TEST(cases().slots_in_use() == 0u);
  }
}

// ---- who begins the rounds, and graphs around a traversal ---------------------------------------

BOOST_AUTO_TEST_CASE(host_and_graph_go_the_same_rounds) {
  using ramify::flat_loop;
  // Two trees of one round or none, one of a few, one of many.
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{path, 50},
                           numbered_tree{complete, unsigned(tests::cut_down(200'000, 5'000)), 3},
                           numbered_tree{combs, 100, unsigned(tests::cut_down(200, 4))}}) {
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
      if (on_cpu()) {
        BOOST_TEST(automatic.looped_by == flat_loop::host);
        BOOST_CHECK_EXCEPTION(mark(flat_loop::graph), ramify::unavailable,
                              tests::names("the CPU executor has no graphs"));
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
                        ramify::unavailable, tests::names("spawned has no rounds"));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_a_gpu))
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
                     *boost::unit_test::precondition(tests::on_a_gpu)) {
  using tests::bad_traversal;
  const auto expect = [](bad_traversal what, const std::string& text) {
    BOOST_CHECK_EXCEPTION(cases().provoke(what), std::exception, tests::names(text));
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
  for (const auto& tree : {numbered_tree{complete, unsigned(tests::cut_down(20'000, 1'000)), 5},
                           numbered_tree{path, unsigned(tests::cut_down(5000))},
                           numbered_tree{combs, 50, unsigned(tests::cut_down(40))}}) {
    static int piece = 0;  // of all limits and routes
    if (tests::left_out_by_tsan(piece, 5)) continue;
    const traverse_report report = expect_each_visited_once(tree, setting);
    // Two slots are the least that the device route can do with.
    if (taken == route::device && limit <= 16 && on_cpu()) BOOST_TEST(report.taken == route::flat);
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

BOOST_AUTO_TEST_CASE(without_a_slot_the_host_launches_the_rounds) {
  uts_counts found{};
  const traverse_report report = cases().search_without_slots(named("small").parameters, found);
  expect_counts(found, named("small").counts);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.spilled_tasks > 0u);
}

BOOST_AUTO_TEST_CASE(two_searches_at_once) {
  const auto found = cases().search_two(named("small").parameters, thin);
  expect_counts(found[0], named("small").counts);
  uts_counts alone{};
  (void)cases().search(thin, {}, alone);
  expect_counts(found[1], alone);
}

// ---- schedules of the executor -----------------------------------------------------------------

BOOST_AUTO_TEST_CASE(every_schedule_finds_the_same_tree,
                     *boost::unit_test::precondition(tests::on_the_executor)) {
  uts_parameters tree = thin;
  if (tests::effort() < 1) tree.root_branches = 8;
  uts_counts expected{};
  (void)cases().search(tree, {}, expected);
  BOOST_TEST(expected.nodes > 500u);
  if (tests::effort() == 1) BOOST_TEST(expected.nodes == 6286u);
  const auto check = [&](const std::string& schedule) {
    const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(schedule));
    BOOST_TEST_CONTEXT(schedule) {
      for (const route taken : routes) {
        uts_counts found{};
        (void)cases().search(tree, {.config = {.route = taken}}, found);
        expect_counts(found, expected);
      }
    }
  };
  check("eager");
  check("late");
  for (int seed = 0; seed < tests::random_schedules(); ++seed) {
    check("random:" + std::to_string(seed));
  }
}

// The negative control: the schedules do visit in different orders, so a reduction for which order
// matters, against the rules, shows it.
BOOST_AUTO_TEST_CASE(a_reduction_that_does_not_commute_shows,
                     *boost::unit_test::precondition(tests::on_the_executor) *
                         boost::unit_test::precondition(tests::not_under_thread_sanitizer)) {
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
  const auto expect = [](auto call, const std::string& text) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, tests::names(text));
  };
  using tests::bad_traversal;
  const auto provoke = [&](bad_traversal what, const std::string& text) {
    expect([&] { cases().provoke(what); }, text);
  };
  provoke(bad_traversal::scratch_too_small, "scratch.bytes is 1000");
  provoke(bad_traversal::scratch_misaligned, "scratch.data must be aligned");
  provoke(bad_traversal::capacity_too_small, "traverse_config.capacity is 10;");
  provoke(bad_traversal::flat_loop_unknown, "traverse_config.flat_loop is none");

  const auto search = [&](const uts_parameters& tree, const std::string& text) {
    expect([&] { (void)ramify::tree_search(tree, {{.backend = tests::backend_under_test()}}); },
           text);
  };
  using enum ramify::uts_type;
  search({.depth = 0}, "depth is 0; it must be in [1, 1000000]");
  search({.root_branches = -1}, "root_branches is -1; it must be in [0, 100]");
  search({.type = binomial, .probability = 1.5}, "probability is 1.5");
  search({.type = binomial, .probability = 0.5, .branches = 3}, "the tree would not end");
  search({.type = binomial, .probability = 1, .branches = 1}, "the tree would not end");
  search({.root_branches = std::numeric_limits<double>::infinity()}, "root_branches is inf");
  search({.root_branches = std::numeric_limits<double>::quiet_NaN()}, "root_branches is");
  search({.type = hybrid, .shift = 2}, "shift is 2");
  search({.shape = ramify::uts_shape::exponential, .depth = 1}, "depth is 1");
  search({.type = static_cast<ramify::uts_type>(7)}, "type is none");
  expect([] { (void)ramify::parse_uts_tree("T9"); }, "none of small, T1");
  expect(
      [&] {
        ramify::tree_search_options options{{.backend = tests::backend_under_test()}};
        options.capacity = std::size_t{1} << 31;
        (void)ramify::tree_search({}, options);
      },
      "capacity");
}

BOOST_AUTO_TEST_CASE(the_facade_searches_and_says_where) {
  ramify::tree_search_options options{{.backend = tests::backend_under_test()}};
  for (const route taken : {route::automatic, route::device, route::flat}) {
    options.route = taken;
    options.pending_launches = 100;
    const auto found = ramify::tree_search(named("small").parameters, options);
    expect_counts(found.counts, named("small").counts);
    BOOST_TEST(found.report.ran_on == tests::backend_under_test());
    BOOST_TEST(found.report.pending_launch_limit == 100u);
    BOOST_TEST(!found.report.backend_reason.empty());
  }
}

// ---- every open node a task --------------------------------------------------------------------

namespace {

constexpr ramify::granularity grains[] = {
    ramify::granularity::per_task, ramify::granularity::per_block, ramify::granularity::per_grid};

traverse_setting spawned(route taken, ramify::launch_granularity launches,
                         std::size_t pending_launches) {
  return {.config = {.route = taken,
                     .capacity = 100'000,
                     .strategy = ramify::traverse_strategy::spawned,
                     .launches = launches},
          .pending_launches = pending_launches};
}

void expect_every_shape_visited(const traverse_setting& setting) {
  for (const auto& tree : {numbered_tree{path, 1}, numbered_tree{path, 40},
                           numbered_tree{star, 1'500}, numbered_tree{complete, 1'000, 3},
                           numbered_tree{caterpillar, 60}, numbered_tree{combs, 5, 3}}) {
    expect_each_visited_once(tree, setting);
  }
}

}  // namespace

BOOST_DATA_TEST_CASE(spawned_nodes_are_visited_once,
                     data::make(grains) * data::make({1, 2, 16, 64, 2048}), grain,
                     pending_launches) {
  static int piece = 0;
  if (tests::left_out(piece, 7)) return;
  for (const auto taken : routes) {
    const auto limit = std::size_t(pending_launches);
    expect_every_shape_visited(spawned(taken, {grain, 0, 1}, limit));
    expect_every_shape_visited(spawned(taken, {grain, 3, 4}, limit));
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(spawned_nodes_are_visited_once_under_any_schedule,
                     data::make(grains) * data::make({"eager", "late", "random:1", "random:2"}),
                     grain, s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  for (const std::size_t limit : {2, 64, 2048}) {
    const auto setting = spawned(route::device, {grain, 2, 2}, limit);
    expect_each_visited_once({complete, 100, 3}, setting);
    expect_each_visited_once({star, 100}, setting);
    expect_each_visited_once({caterpillar, 20}, setting);
  }
}

BOOST_AUTO_TEST_CASE(spawned_nodes_share_grids) {
  // Levels of 1, 4, 16 and 64 open nodes; the root comes first, and its leaves are no tasks.
  const numbered_tree tree{complete, 1 + 4 + 16 + 64 + 256, 4};
  const auto grids = [&](ramify::launch_granularity launches) {
    return expect_each_visited_once(tree, spawned(route::device, launches, 2048)).child_grids;
  };
  using ramify::granularity;
  BOOST_TEST(grids({granularity::per_task}) == 1u + 4 + 16 + 64);
  BOOST_TEST(grids({granularity::per_block}) == 1u + 1 + 4 + 16);
  BOOST_TEST(grids({granularity::per_grid}) == 4u);
  BOOST_TEST(grids({granularity::per_task, 5}) < 1u + 4 + 16 + 64);
}

// A chain of nested grids has as many places in the pool as links: none may give its slot back.
BOOST_DATA_TEST_CASE(a_path_of_spawned_nodes_keeps_its_slots, data::make(grains), grain) {
  const traverse_setting setting = spawned(route::device, {grain, 0, 1}, 64);
  const auto report = expect_each_visited_once({path, 300}, setting);
  BOOST_TEST(report.spilled_tasks > 300u / 6);  // 4 slots, and a drain has 2 of them
  BOOST_TEST(report.peak_slots <= 4u);
}

BOOST_DATA_TEST_CASE(spawned_nodes_of_a_published_tree, data::make(routes) * data::make(grains),
                     taken, grain) {
  const auto& tree = named("small");
  expect_published(tree, spawned(taken, {grain, 0, 1}, 2048));
}

BOOST_AUTO_TEST_CASE(too_many_spawned_nodes_are_an_error) {
  for (const route taken : routes) {
    auto setting = spawned(taken, {ramify::granularity::per_grid, 0, 1}, 2048);
    setting.config.capacity = 10;
    std::vector<unsigned> visits;
    BOOST_CHECK_EXCEPTION((void)cases().mark({complete, 100, 4}, setting, visits),
                          std::length_error,
                          tests::names("raise traverse_config.capacity, which is 10"));
    BOOST_TEST(cases().slots_in_use() == 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
