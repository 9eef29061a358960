// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees on the backend under test: every shape, input form and route against a serial walk.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <ramify/cpu/executor.hpp>
#include <random>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "exceptions.hpp"
#include "forests.hpp"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using common::forest_kind;
using ramify::rooted_tree_options;
using ramify::rooted_tree_report;
using ramify::route;
using ramify::tree_shape;
using tests::affine;
using tests::names;
using tests::on_cpu;
using tests::tree_results;
using parent_array = std::vector<std::int32_t>;

namespace {

constexpr route routes[] = {route::device, route::flat};

const tests::rooted_tree_cases& cases() {
  return on_cpu() ? *tests::rooted_tree_cases_on_cpu() : *tests::rooted_tree_cases_on_cuda();
}

rooted_tree_options options_for(route taken) {
  rooted_tree_options options;
  options.backend = tests::backend_under_test();
  options.route = taken;
  return options;
}

std::vector<affine> values_for(std::size_t n) {
  std::mt19937 random(7);
  std::vector<affine> values(n);
  for (affine& v : values) v = {std::uint32_t(random() | 1), std::uint32_t(random())};
  return values;
}

/// A forest, and what a plain walk makes of it.
struct oracle {
  explicit oracle(parent_array p) : oracle(p, common::lists_of(p)) {}
  oracle(parent_array p, common::child_lists l)
      : parents(std::move(p)),
        lists(std::move(l)),
        values(values_for(parents.size())),
        numbers(common::serial_numbers(lists, parents)),
        leaffix(common::serial_leaffix(lists, parents, values, tests::composed)),
        rootfix(common::serial_rootfix(lists, parents, values, tests::composed)) {}

  /// Empty if the results that there are, are right, else what is wrong.
  [[nodiscard]] std::string check(const tree_results& results) const {
    const auto wrong = [](const auto& result, const auto& expected, const char* name) {
      if (result.empty()) return std::string();
      for (std::size_t v = 0; v < expected.size(); ++v) {
        if (!(result[v] == expected[v])) return name + (" of node " + std::to_string(v));
      }
      return std::string();
    };
    return wrong(results.levels, numbers.levels, "level") +
           wrong(results.subtree_sizes, numbers.subtree_sizes, "subtree size") +
           wrong(results.preorder, numbers.preorder, "preorder number") +
           wrong(results.postorder, numbers.postorder, "postorder number") +
           wrong(results.leaffix, leaffix, "leaffix") + wrong(results.rootfix, rootfix, "rootfix");
  }

  parent_array parents;
  common::child_lists lists;
  std::vector<affine> values;
  common::forest_numbers numbers;
  std::vector<affine> leaffix, rootfix;
};

tree_results everything(std::size_t n) {
  const parent_array number(n, -7);
  const std::vector<affine> fold(n, affine{7, 7});
  return {number, number, number, number, fold, fold};
}

/// What does not depend on the order of siblings, and is had without a sort.
tree_results orderless(std::size_t n) {
  tree_results all = everything(n);
  all.preorder = all.postorder = {};
  all.leaffix = {};
  return all;
}

rooted_tree_report expect_right(const oracle& tree, const tree_shape& shape, tree_results wanted,
                                const rooted_tree_options& options) {
  const std::uint64_t grids_before = ramify::cpu::grids_begun();
  const rooted_tree_report report = cases().run(shape, tree.values, wanted, options);
  if (on_cpu()) {
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(report.host_grids + report.child_grids == grids);
  }
  BOOST_TEST(tree.check(wanted) == "");
  BOOST_TEST(report.nodes == tree.parents.size());
  BOOST_TEST(cases().slots_in_use() == 0u);
  return report;
}

/// Everything at once, by either input form and route.
void expect_right_every_way(const oracle& tree, std::size_t pending_launches = 0) {
  const std::size_t n = tree.parents.size();
  for (const route taken : routes) {
    auto options = options_for(taken);
    options.pending_launches = pending_launches;
    BOOST_TEST_CONTEXT(ramify::to_string(taken) << ", n = " << n) {
      (void)expect_right(tree, tree_shape::of_parents(tree.parents), everything(n), options);
      (void)expect_right(tree, tree_shape::of_parents(tree.parents), orderless(n), options);
      (void)expect_right(tree, tree_shape::of_children(tree.lists.offsets, tree.lists.children),
                         everything(n), options);
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

/// Of each kind, and numbered at random so that parents come after their children too.
std::vector<parent_array> forests_of(std::size_t n, std::uint64_t seed) {
  std::vector<parent_array> all{reversed_path(n), complete(n, 7), parent_array(n, -1)};
  for (const forest_kind kind : common::all_forest_kinds()) {
    all.push_back(common::make_parents(kind, n, seed));
    all.push_back(common::relabelled(all.back(), seed));
  }
  return all;
}

/// That the run is refused, and by name, and writes nothing.
void expect_refused(const tree_shape& shape, const std::string& what, bool single_root = false) {
  for (const route taken : routes) {
    auto options = options_for(taken);
    options.single_root = single_root;
    for (const tree_results& untouched : {everything(shape.nodes), orderless(shape.nodes)}) {
      tree_results results = untouched;
      BOOST_TEST_CONTEXT(ramify::to_string(taken)) {
        BOOST_CHECK_EXCEPTION(cases().run(shape, values_for(shape.nodes), results, options),
                              std::invalid_argument, names(what));
        BOOST_TEST((results == untouched));
        BOOST_TEST(cases().slots_in_use() == 0u);
      }
    }
  }
}
void refuse_parents(const parent_array& parents, const std::string& what,
                    bool single_root = false) {
  expect_refused(tree_shape::of_parents(parents), what, single_root);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rooted_tree)

BOOST_AUTO_TEST_CASE(the_example_of_the_header) {
  const parent_array parents{-1, 0, 0, 1, -1};
  tree_results results = everything(5);
  (void)cases().run(tree_shape::of_parents(parents), values_for(5), results,
                    options_for(route::automatic));
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
      if (!tests::left_out(piece)) expect_right_every_way(oracle(parents));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_million_nodes) {
  const auto n = static_cast<std::size_t>(tests::cut_down(1'000'000, 20'000));
  for (const forest_kind kind : common::all_forest_kinds()) {
    const oracle tree(common::make_parents(kind, n, 1));
    const auto shape = tree_shape::of_parents(tree.parents);
    BOOST_TEST_CONTEXT(common::to_string(kind)) {
      (void)expect_right(tree, shape, everything(n), options_for(route::device));
      const auto report = expect_right(tree, shape, orderless(n), options_for(route::flat));
      BOOST_TEST(report.ranking_levels > 2u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_million_nodes_in_any_order) {
  const auto n = static_cast<std::size_t>(tests::cut_down(1'000'000, 20'000));
  for (const parent_array& parents :
       {reversed_path(n), common::relabelled(common::make_parents(forest_kind::path, n, 2), 2),
        common::relabelled(common::make_parents(forest_kind::random, n, 2), 2)}) {
    const oracle tree(parents);
    (void)expect_right(tree, tree_shape::of_children(tree.lists.offsets, tree.lists.children),
                       everything(n), options_for(route::automatic));
  }
}

BOOST_AUTO_TEST_CASE(children_in_the_order_that_is_given) {
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
    (void)expect_right(reversed, tree_shape::of_children(lists.offsets, lists.children),
                       everything(3'000), options_for(taken));
  }
}

BOOST_AUTO_TEST_CASE(only_what_is_asked_for) {
  const oracle tree(common::make_parents(forest_kind::random, 5'000, 6));
  const auto shape = tree_shape::of_parents(tree.parents);
  const tree_results all = everything(5'000);
  const auto options = options_for(route::device);
  std::vector<std::uint64_t> grids;
  for (const tree_results& wanted :
       {tree_results{}, tree_results{.levels = all.levels},
        tree_results{.subtree_sizes = all.subtree_sizes}, tree_results{.preorder = all.preorder},
        tree_results{.postorder = all.postorder}, tree_results{.leaffix = all.leaffix},
        tree_results{.rootfix = all.rootfix}}) {
    const auto report = expect_right(tree, shape, wanted, options);
    grids.push_back(report.host_grids + report.child_grids);
  }
  // Nothing, levels, sizes: the same grids. Orders: a sort too. Folds: grids of their own.
  BOOST_TEST(grids[1] == grids[0]);
  BOOST_TEST(grids[2] == grids[0]);
  BOOST_TEST(grids[3] > grids[0]);
  BOOST_TEST(grids[4] == grids[3]);
  BOOST_TEST(grids[5] > grids[3]);
  BOOST_TEST(grids[6] > grids[0]);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(every_random_schedule, data::xrange(tests::random_schedules()), seed) {
  const ramify::cpu::scoped_executor_config config(
      {.order = ramify::cpu::schedule::random, .seed = std::uint64_t(seed)});
  // Three levels of ranking, two groups of folds.
  const auto all = forests_of(4'500, std::uint64_t(seed));
  expect_right_every_way(oracle(all[std::size_t(seed) % all.size()]));
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(tests::on_the_executor))
BOOST_DATA_TEST_CASE(the_extreme_schedules, data::make({"eager", "late"}), s) {
  const ramify::cpu::scoped_executor_config config(ramify::cpu::parse_executor_config(s));
  int piece = 0;
  for (const auto& parents : forests_of(5'000, 3)) {
    if (!tests::left_out(piece, 4)) expect_right_every_way(oracle(parents));
  }
}

BOOST_DATA_TEST_CASE(nothing_is_lost_whatever_the_limit, data::make({1, 2, 16, 2048}),
                     pending_launches) {
  int piece = 0;
  for (const auto& parents : forests_of(std::size_t(tests::cut_down(20'000, 2'000)), 4)) {
    if (tests::left_out(piece, 4)) continue;
    expect_right_every_way(oracle(parents), std::size_t(pending_launches));
  }
}

BOOST_AUTO_TEST_CASE(without_launch_slots_the_host_takes_over) {
  const oracle tree(common::make_parents(forest_kind::random, 50'000, 8));
  const auto shape = tree_shape::of_parents(tree.parents);
  tree_results results = everything(50'000);
  const auto report =
      cases().without_slots(shape, tree.values, results, options_for(route::device));
  BOOST_TEST(tree.check(results) == "");
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.child_grids == 0u);
  BOOST_TEST(report.host_grids > 10u);
}

BOOST_AUTO_TEST_CASE(the_report_tells_the_route) {
  const oracle tree(common::make_parents(forest_kind::path, 100'000, 1));
  const auto shape = tree_shape::of_parents(tree.parents);
  auto report = expect_right(tree, shape, everything(100'000), options_for(route::device));
  BOOST_TEST(report.taken == route::device);
  BOOST_TEST(report.route_reason == "asked for");
  BOOST_TEST(report.child_grids > 10u);
  BOOST_TEST(report.peak_slots > 0u);
  BOOST_TEST(report.deepest_level >= 6u);
  BOOST_TEST(report.rootfix_rounds == 17u);  // 2^17 > 99,999, the depth
  BOOST_TEST(report.scratch_bytes > cases().scratch_bytes(100'000));
  report = expect_right(tree, shape, everything(100'000), options_for(route::flat));
  BOOST_TEST(report.taken == route::flat);
  BOOST_TEST(report.child_grids == 0u);
  report = expect_right(tree, shape, everything(100'000), options_for(route::automatic));
  BOOST_TEST(report.taken == route::device);
}

BOOST_AUTO_TEST_CASE(scratch_is_what_is_promised) {
  BOOST_TEST(double(cases().scratch_bytes(100'000'000)) < 34.0 * 1e8);
}

// ---- what is refused ----

BOOST_AUTO_TEST_CASE(a_faulty_parent_array_is_refused) {
  auto parents = common::make_parents(forest_kind::random, 5'000, 1);
  const auto with = [&](std::size_t node, std::int32_t parent) {
    parent_array changed = parents;
    changed[node] = parent;
    return changed;
  };
  refuse_parents(with(3'000, 5'000),
                 "the parent of node 3000 is 5000; it must be -1 or in [0, 5000)");
  refuse_parents(with(17, -2), "the parent of node 17 is -2");
  refuse_parents(with(4'999, INT32_MIN), "the parent of node 4999 is -2147483648");
  refuse_parents(with(0, INT32_MAX), "the parent of node 0 is 2147483647");
  refuse_parents(with(42, 42), "node 42 never reaches a root: its ancestors form a cycle");
  refuse_parents({0}, "node 0 never reaches a root");
  refuse_parents({1, 2, 0, -1}, "node 0 never reaches a root");
  refuse_parents({-1, 0, 3, 2, 1, 3}, "node 2 never reaches a root");
  refuse_parents({-1, 2, 1, 1}, "node 1 never reaches a root");
  refuse_parents({-1, 0, -1, -1}, "node 2 is a second root, and single_root is set", true);
  refuse_parents(with(4'000, -1), "node 4000 is a second root", true);
  refuse_parents(parent_array(5'000, -1), "node 1 is a second root", true);
  auto options = options_for(route::device);
  options.single_root = true;
  for (tree_results results : {everything(5'000), orderless(5'000)}) {
    BOOST_CHECK_NO_THROW(
        cases().run(tree_shape::of_parents(parents), values_for(5'000), results, options));
  }
}

BOOST_AUTO_TEST_CASE(cycles_of_every_length_are_found) {
  for (const std::size_t length : {2, 15, 16, 17, 40, 200, 3'000}) {
    // A random tree, behind it a ring, and behind that a random tree whose root hangs on the ring.
    parent_array parents = common::make_parents(forest_kind::random, 1'000, length);
    const auto first = static_cast<std::int32_t>(parents.size());
    for (std::size_t i = 0; i < length; ++i) {
      parents.push_back(first + static_cast<std::int32_t>((i + 1) % length));
    }
    const auto behind = static_cast<std::int32_t>(parents.size());
    for (const std::int32_t p : common::make_parents(forest_kind::random, 1'000, 1)) {
      parents.push_back(p == -1 ? first + 1 : behind + p);
    }
    refuse_parents(parents, "node 1000 never reaches a root");
  }
}

BOOST_AUTO_TEST_CASE(faulty_child_lists_are_refused) {
  const auto refused = [](const parent_array& offsets, const parent_array& children,
                          const std::string& what, bool single_root = false) {
    expect_refused(tree_shape::of_children(offsets, children), what, single_root);
  };
  refused({0, 2, 3, 3, 3}, {1, 2, 4}, "children[2] is 4; it must be in [0, 4)");
  refused({0, 2, 3, 3, 3}, {1, -1, 3}, "children[1] is -1");
  refused({0, 2, 3, 3, 3}, {1, 2, 2}, "node 2 is a child twice");
  refused({0, 2, 2, 2, 2}, {3, 3}, "node 3 is a child twice");
  refused({1, 2, 3, 3, 3}, {1, 2, 3}, "offsets[0] is 1; offsets must begin with 0");
  refused({0, 2, 1, 3, 3}, {1, 2, 3}, "offsets[2] is 1; offsets must begin with 0, never fall");
  refused({0, 2, 3, 3, 2}, {1, 2, 3}, "offsets[4] is 2");
  refused({0, 2, 9, 3, 3}, {1, 2, 3}, "offsets[2] is 9");
  refused({0, 2, 2, 2, 2}, {1, 2, 3}, "offsets[4] is 2");
  refused({0, 1, 2, 3, 4}, {1, 2, 3, 0}, "node 0 never reaches a root");
  refused({0, 0, 1, 2, 3}, {2, 3, 1}, "node 1 never reaches a root");
  refused({0, 0, 1}, {1}, "node 1 never reaches a root");
  refused({0, 1, 1, 1, 1}, {1}, "node 2 is a second root", true);
  refused({0, 3}, {0, 0, 0}, "3 children of only 1 nodes");
  BOOST_CHECK_EXCEPTION((void)tree_shape::of_children({}, {}), std::invalid_argument,
                        names("offsets must not be empty"));
  refused({0}, {}, "single_root is set, and there are no nodes", true);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  using tests::bad_tree_argument;
  const auto expect = [&](bad_tree_argument argument, const char* what) {
    BOOST_CHECK_EXCEPTION(cases().provoke(argument), std::invalid_argument, names(what));
  };
  expect(bad_tree_argument::null_values, "values is null");
  expect(bad_tree_argument::overlap, "levels and preorder overlap");
  expect(bad_tree_argument::output_is_input, "parents and levels overlap");
  expect(bad_tree_argument::scratch_too_small, "scratch.bytes is 300");
  expect(bad_tree_argument::scratch_misaligned, "scratch.data must be aligned");
  if (!on_cpu()) expect(bad_tree_argument::host_memory, "parents is ordinary host memory");
}

// ---- the facade ----

namespace {

template <class T>
void expect_folds(const oracle& tree, const std::vector<T>& values, double tolerance) {
  const auto shape = tree_shape::of_parents(tree.parents);
  const auto equal = [&](const std::vector<T>& a, const std::vector<T>& b) {
    for (std::size_t v = 0; v < a.size(); ++v) {
      const auto difference = std::abs(static_cast<double>(a[v]) - static_cast<double>(b[v]));
      if (difference > tolerance * (1 + std::abs(static_cast<double>(b[v])))) return false;
    }
    return true;
  };
  const auto expect = [&](ramify::tree_operator combine, auto serial, double allowed) {
    tolerance = allowed;
    for (const route taken : routes) {
      std::vector<T> folds(values.size());
      (void)ramify::leaffix<T>(shape, values, folds, combine, options_for(taken));
      BOOST_TEST(equal(folds, common::serial_leaffix(tree.lists, tree.parents, values, serial)));
      (void)ramify::rootfix<T>(shape, values, folds, combine, options_for(taken));
      BOOST_TEST(equal(folds, common::serial_rootfix(tree.lists, tree.parents, values, serial)));
    }
  };
  expect(ramify::tree_operator::sum, std::plus<T>(), tolerance);
  expect(
      ramify::tree_operator::minimum, [](T a, T b) { return std::min(a, b); }, 0);
  expect(
      ramify::tree_operator::maximum, [](T a, T b) { return std::max(a, b); }, 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_facade_numbers) {
  for (const forest_kind kind : common::all_forest_kinds()) {
    const oracle tree(common::make_parents(kind, 30'000, 9));
    for (const route taken : routes) {
      common::forest_numbers numbers = common::forest_numbers{
          parent_array(30'000), parent_array(30'000), parent_array(30'000), parent_array(30'000)};
      const auto report = ramify::rooted_tree(
          tree_shape::of_children(tree.lists.offsets, tree.lists.children),
          {numbers.levels, numbers.subtree_sizes, numbers.preorder, numbers.postorder},
          options_for(taken));
      BOOST_TEST((numbers == tree.numbers));
      BOOST_TEST(report.ran_on == tests::backend_under_test());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_facade_folds) {
  for (const forest_kind kind : common::all_forest_kinds()) {
    const oracle tree(common::relabelled(
        common::make_parents(kind, std::size_t(tests::cut_down(20'000, 2'000)), 9), 9));
    std::mt19937_64 random(3);
    std::vector<std::int64_t> whole(tree.parents.size());
    for (auto& v : whole) v = static_cast<std::int64_t>(random() % 2'000'001) - 1'000'000;
    expect_folds(tree, whole, 0);
    std::vector<double> real(tree.parents.size());
    for (auto& v : real) v = static_cast<double>(random() % 1'000'001) * 1e-6 - 0.5;
    expect_folds(tree, real, 1e-10);
  }
}

BOOST_AUTO_TEST_CASE(the_facade_refuses) {
  const parent_array parents{-1, 0, 0};
  const auto shape = tree_shape::of_parents(parents);
  parent_array two(2);
  parent_array three(3);
  const std::vector<double> values(3);
  std::vector<double> folds(3);
  BOOST_CHECK_EXCEPTION(ramify::rooted_tree(shape, {.preorder = two}), std::invalid_argument,
                        names("3 nodes, but 2 preorder"));
  BOOST_CHECK_EXCEPTION(ramify::rooted_tree(shape, {.levels = three, .preorder = three}),
                        std::invalid_argument, names("levels and preorder overlap"));
  BOOST_CHECK_EXCEPTION(
      ramify::leaffix<double>(shape, std::span(values).first(2), folds, ramify::tree_operator::sum),
      std::invalid_argument, names("2 values"));
  BOOST_CHECK_EXCEPTION(
      ramify::leaffix<double>(shape, values, folds, static_cast<ramify::tree_operator>(5)),
      std::invalid_argument, names("combine"));
  BOOST_CHECK_EXCEPTION(ramify::rootfix<double>(shape, folds, folds, ramify::tree_operator::sum),
                        std::invalid_argument, names("values and folds overlap"));
  auto options = options_for(route::device);
  options.route = static_cast<route>(9);
  BOOST_CHECK_EXCEPTION(ramify::rooted_tree(shape, {.levels = three}, options),
                        std::invalid_argument, names("route"));
}

// ---- the oracle itself ----

BOOST_AUTO_TEST_CASE(the_oracle_can_say_no) {
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
  // An operator that commutes would not show folds in the wrong order; these do.
  const auto backwards = [](const affine& a, const affine& b) { return tests::composed(b, a); };
  tree_results wrong = right;
  wrong.leaffix = common::serial_leaffix(tree.lists, tree.parents, tree.values, backwards);
  BOOST_TEST(tree.check(wrong) != "");
  wrong = right;
  wrong.rootfix = common::serial_rootfix(tree.lists, tree.parents, tree.values, backwards);
  BOOST_TEST(tree.check(wrong) != "");
}

BOOST_AUTO_TEST_SUITE_END()
