// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees on the backend under test: what is refused, and the facade.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>

#include "exceptions.hpp"
#include "oracle.hpp"
#include "times_check.hpp"

using namespace tests;
using common::forest_kind;
using ramify::route;
using ramify::tree_shape;

namespace {

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

BOOST_AUTO_TEST_SUITE(rooted_tree)

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
  const auto expect = [&](bad_tree_argument argument, const char* what) {
    BOOST_CHECK_EXCEPTION(cases().provoke(argument), std::invalid_argument, names(what));
  };
  expect(bad_tree_argument::null_values, "values is null");
  expect(bad_tree_argument::overlap, "levels and preorder overlap");
  expect(bad_tree_argument::output_is_input, "parents and levels overlap");
  expect(bad_tree_argument::scratch_too_small, "scratch.bytes is 300");
  expect(bad_tree_argument::scratch_misaligned, "scratch.data must be aligned");
  if (!runs_on_cpu()) expect(bad_tree_argument::host_memory, "parents is ordinary host memory");
}

// ---- the facade ----

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
      BOOST_TEST(check_times(report, {!runs_on_cpu(), !runs_on_cpu()}) == "");
      BOOST_TEST(report.ran_on == backend_under_test());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_facade_folds) {
  for (const forest_kind kind : common::all_forest_kinds()) {
    const oracle tree(
        common::relabelled(common::make_parents(kind, std::size_t(cut_down(20'000, 2'000)), 9), 9));
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

BOOST_AUTO_TEST_SUITE_END()
