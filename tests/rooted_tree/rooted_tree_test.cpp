// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees on the backend of this build: every shape, input form and route against a serial
// traversal.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>

#include "rooted_tree_checks.cuh"

namespace data = boost::unit_test::data;
using namespace tests;
using common::forest_kind;
using ramify::environment;
using ramify::rooted_tree_report;
using ramify::route;
using ramify::tree_shape;

namespace {

rooted_tree_report check_run(const oracle& tree, const tree_shape& shape, tree_results requested,
                             const environment& env) {
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  const rooted_tree_report report = run_tree(shape, tree.values, requested, env);
  if (!RAMIFY_ON_CUDA) {
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(report.host_grids + report.child_grids == grids);
  }
  BOOST_TEST(tree.check(requested) == "");
  BOOST_TEST(report.nodes == tree.parents.size());
  BOOST_TEST(slots_in_use() == 0u);
  return report;
}

/// Checks all outputs, and those without an order, for both forms of input on both routes.
void check_all_inputs_and_routes(const oracle& tree, std::size_t pending_launches = 0) {
  const std::size_t n = tree.parents.size();
  for (const route taken : routes) {
    auto env = on_route(taken);
    env.pending_launches = pending_launches;
    BOOST_TEST_CONTEXT(ramify::to_string(taken) << ", n = " << n) {
      (void)check_run(tree, tree_shape::of_parents(tree.parents), all_outputs(n), env);
      (void)check_run(tree, tree_shape::of_parents(tree.parents), orderless_outputs(n), env);
      (void)check_run(tree, tree_shape::of_children(tree.lists.offsets, tree.lists.children),
                      all_outputs(n), env);
    }
  }
}

parent_array reversed_path(std::size_t n) {
  parent_array parents(n);
  for (std::size_t v = 0; v < n; ++v) {
    parents[v] = v + 1 < n ? static_cast<std::int32_t>(v + 1) : -1;
  }
  return parents;
}

parent_array complete(std::size_t n, std::size_t degree) {
  parent_array parents(n, -1);
  for (std::size_t v = 1; v < n; ++v) parents[v] = static_cast<std::int32_t>((v - 1) / degree);
  return parents;
}

/// Returns forests of each kind, also with random node numbers, so that parents come after
/// children.
std::vector<parent_array> forests_of(std::size_t n, std::uint64_t seed) {
  std::vector<parent_array> all{reversed_path(n), complete(n, 7), parent_array(n, -1)};
  for (const forest_kind kind : ramify::all_choices<common::forest_kind>()) {
    all.push_back(common::make_parents(kind, n, seed));
    all.push_back(common::relabeled(all.back(), seed));
  }
  return all;
}

/// Returns a million; for the CPU executor fewer, with as many ranking levels and groups of folds.
std::size_t many_nodes() {
  return RAMIFY_ON_CUDA ? 1'000'000 : static_cast<std::size_t>(cut_down(250'000, 20'000));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rooted_tree)

BOOST_AUTO_TEST_CASE(the_example_of_the_header) {
  const parent_array parents{-1, 0, 0, 1, -1};
  tree_results results = all_outputs(5);
  (void)run_tree(tree_shape::of_parents(parents), values_for(5), results,
                 on_route(route::automatic));
  BOOST_TEST(results.levels == parent_array({0, 1, 1, 2, 0}), boost::test_tools::per_element());
  BOOST_TEST(results.subtree_sizes == parent_array({4, 2, 1, 1, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(results.preorder == parent_array({0, 1, 3, 2, 4}), boost::test_tools::per_element());
  BOOST_TEST(results.postorder == parent_array({3, 1, 2, 0, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_shape_and_size) {
  int piece = 0;
  for (const std::size_t n : {0, 1, 2, 3, 4, 31, 63, 64, 65, 500, 1023, 1024, 1025, 4097}) {
    for (const auto& parents : forests_of(n, n)) {
      if (!left_out(piece)) check_all_inputs_and_routes(oracle(parents));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_large_forest) {
  const std::size_t n = many_nodes();
  for (const forest_kind kind : ramify::all_choices<common::forest_kind>()) {
    const oracle tree(common::make_parents(kind, n, 1));
    const auto shape = tree_shape::of_parents(tree.parents);
    BOOST_TEST_CONTEXT(common::to_string(kind)) {
      (void)check_run(tree, shape, all_outputs(n), on_route(route::device));
      const auto report = check_run(tree, shape, orderless_outputs(n), on_route(route::flat));
      BOOST_TEST(report.ranking_levels > 2u);
    }
  }
}

BOOST_AUTO_TEST_CASE(large_forests_in_any_order) {
  const std::size_t n = many_nodes();
  for (const parent_array& parents :
       {reversed_path(n), common::relabeled(common::make_parents(forest_kind::path, n, 2), 2),
        common::relabeled(common::make_parents(forest_kind::random, n, 2), 2)}) {
    const oracle tree(parents);
    (void)check_run(tree, tree_shape::of_children(tree.lists.offsets, tree.lists.children),
                    all_outputs(n), on_route(route::automatic));
  }
}

BOOST_AUTO_TEST_CASE(children_in_the_given_order) {
  oracle sorted(common::make_parents(forest_kind::random, 3'000, 5));
  auto lists = sorted.lists;
  for (std::size_t v = 0; v < sorted.parents.size(); ++v) {
    std::reverse(lists.children.begin() + lists.offsets[v],
                 lists.children.begin() + lists.offsets[v + 1]);
  }
  const oracle reversed(sorted.parents, lists);
  BOOST_TEST((reversed.numbers.preorder != sorted.numbers.preorder));
  BOOST_TEST((reversed.leaffix != sorted.leaffix));
  for (const route taken : routes) {
    (void)check_run(reversed, tree_shape::of_children(lists.offsets, lists.children),
                    all_outputs(3'000), on_route(taken));
  }
}

BOOST_AUTO_TEST_CASE(only_requested_outputs) {
  const oracle tree(common::make_parents(forest_kind::random, 5'000, 6));
  const auto shape = tree_shape::of_parents(tree.parents);
  const tree_results all = all_outputs(5'000);
  auto env = on_route(route::device);
  env.completion = ramify::completion::by_get;  // no grids that only complete the run
  std::vector<std::uint64_t> grids;
  for (const tree_results& requested :
       {tree_results{}, tree_results{.levels = all.levels},
        tree_results{.subtree_sizes = all.subtree_sizes}, tree_results{.preorder = all.preorder},
        tree_results{.postorder = all.postorder}, tree_results{.leaffix = all.leaffix},
        tree_results{.rootfix = all.rootfix}}) {
    const auto report = check_run(tree, shape, requested, env);
    grids.push_back(report.host_grids + report.child_grids);
  }
  // No output, levels and sizes need the same grids. Orders also need a sort. Folds add grids.
  BOOST_TEST(grids[1] == grids[0]);
  BOOST_TEST(grids[2] == grids[0]);
  BOOST_TEST(grids[3] > grids[0]);
  BOOST_TEST(grids[4] == grids[3]);
  BOOST_TEST(grids[5] > grids[3]);
  BOOST_TEST(grids[6] > grids[0]);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  // 4,500 nodes need three levels of ranking and two groups of folds.
  const auto all = forests_of(4'500, std::uint64_t(seed));
  check_all_inputs_and_routes(oracle(all[std::size_t(seed) % all.size()]));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(on_the_executor))
BOOST_DATA_TEST_CASE(the_extreme_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  int piece = 0;
  for (const auto& parents : forests_of(5'000, 3)) {
    if (!left_out(piece, 4)) check_all_inputs_and_routes(oracle(parents));
  }
}

BOOST_DATA_TEST_CASE(no_work_is_lost_at_any_limit, data::make({1, 2, 16, 32, 2048}),
                     pending_launches) {
  int piece = 0;
  for (const auto& parents : forests_of(std::size_t(cut_down(20'000, 2'000)), 4)) {
    if (left_out(piece, 4)) continue;
    check_all_inputs_and_routes(oracle(parents), std::size_t(pending_launches));
  }
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_launches) {
  const oracle tree(common::make_parents(forest_kind::random, 50'000, 8));
  const auto shape = tree_shape::of_parents(tree.parents);
  tree_results results = all_outputs(50'000);
  const all_slots_taken taken(*ramify::current_launch_limits().pending_launches);
  const auto report = run_tree(shape, tree.values, results, on_route(route::device));
  BOOST_TEST(tree.check(results) == "");
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.host_grids > 10u);
}

BOOST_AUTO_TEST_CASE(the_report_states_the_route) {
  const oracle tree(common::make_parents(forest_kind::path, 100'000, 1));
  const auto shape = tree_shape::of_parents(tree.parents);
  auto report = check_run(tree, shape, all_outputs(100'000), on_route(route::device));
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.route_reason == "requested");
  BOOST_TEST(report.child_grids > 10u);
  BOOST_TEST(report.peak_slots > 0u);
  BOOST_TEST(report.deepest_level >= 6u);
  BOOST_TEST(report.rootfix_rounds == 17u);  // 2^17 > 99,999, the depth
  BOOST_TEST(report.scratch_bytes > scratch_bytes_of_parents(100'000));
  report = check_run(tree, shape, all_outputs(100'000), on_route(route::flat));
  BOOST_TEST(report.taken == route::flat);
  BOOST_TEST(report.child_grids == 0u);
  report = check_run(tree, shape, all_outputs(100'000), on_route(route::automatic));
  if (RAMIFY_ON_CUDA) {  // by measured launch costs
    BOOST_TEST(report.route_reason.find("flat: about ") == 0u);
  } else {
    BOOST_TEST(report.taken == route::device);
  }
}

BOOST_AUTO_TEST_CASE(scratch_is_as_documented) {
  BOOST_TEST(double(scratch_bytes_of_parents(100'000'000)) < 34.0 * 1e8);
}

// ---- the oracle itself ----

BOOST_AUTO_TEST_CASE(the_oracle_detects_wrong_results) {
  const oracle tree(common::make_parents(forest_kind::random, 1'000, 1));
  tree_results right{tree.numbers.levels,   tree.numbers.subtree_sizes,
                     tree.numbers.preorder, tree.numbers.postorder,
                     tree.leaffix,          tree.rootfix};
  BOOST_TEST(tree.check(right) == "");
  for (auto member : {&tree_results::levels, &tree_results::subtree_sizes, &tree_results::preorder,
                      &tree_results::postorder}) {
    tree_results wrong = right;
    ++(wrong.*member)[500];
    BOOST_TEST(tree.check(wrong) != "");
  }
  // Folds in the wrong order. A commutative operator would not reveal them.
  const auto backwards = [](const affine& a, const affine& b) { return compose{}(b, a); };
  tree_results wrong = right;
  wrong.leaffix = common::serial_leaffix(tree.lists, tree.parents, tree.values, backwards);
  BOOST_TEST(tree.check(wrong) != "");
  wrong = right;
  wrong.rootfix = common::serial_rootfix(tree.lists, tree.parents, tree.values, backwards);
  BOOST_TEST(tree.check(wrong) != "");
}

BOOST_AUTO_TEST_SUITE_END()
