// SPDX-License-Identifier: BSD-3-Clause
// The facade of rooted trees, on the backend of this build.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>

#include "exceptions.hpp"
#include "rooted_tree_checks.cuh"
#include "times_check.hpp"

using namespace tests;
using common::forest_kind;
using ramify::route;
using ramify::tree_shape;

namespace {

/// Checks both folds for each operator and route. Sums may differ by `tolerance`, relative.
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
      (void)ramify::leaffix<T>(shape, values, folds, combine, on_route(taken));
      BOOST_TEST(equal(folds, common::serial_leaffix(tree.lists, tree.parents, values, serial)));
      (void)ramify::rootfix<T>(shape, values, folds, combine, on_route(taken));
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

BOOST_AUTO_TEST_SUITE(rooted_tree_facade)

BOOST_AUTO_TEST_CASE(it_numbers_a_forest) {
  for (const forest_kind kind : ramify::all_choices<common::forest_kind>()) {
    const oracle tree(common::make_parents(kind, 30'000, 9));
    for (const route taken : routes) {
      common::forest_numbers numbers = common::forest_numbers{
          parent_array(30'000), parent_array(30'000), parent_array(30'000), parent_array(30'000)};
      const auto report = ramify::rooted_tree(
          tree_shape::of_children(tree.lists.offsets, tree.lists.children),
          {numbers.levels, numbers.subtree_sizes, numbers.preorder, numbers.postorder},
          on_route(taken));
      BOOST_TEST((numbers == tree.numbers));
      BOOST_TEST(check_times(report, {RAMIFY_ON_CUDA != 0, RAMIFY_ON_CUDA != 0}) == "");
      BOOST_TEST(report.ran_on == backend_under_test());
    }
  }
}

BOOST_AUTO_TEST_CASE(it_folds_a_forest) {
  for (const forest_kind kind : ramify::all_choices<common::forest_kind>()) {
    const oracle tree(
        common::relabeled(common::make_parents(kind, std::size_t(cut_down(20'000, 2'000)), 9), 9));
    std::mt19937_64 random(3);
    std::vector<std::int64_t> whole(tree.parents.size());
    for (auto& v : whole) v = static_cast<std::int64_t>(random() % 2'000'001) - 1'000'000;
    expect_folds(tree, whole, 0);
    std::vector<double> real(tree.parents.size());
    for (auto& v : real) v = static_cast<double>(random() % 1'000'001) * 1e-6 - 0.5;
    expect_folds(tree, real, 1e-10);
  }
}

BOOST_AUTO_TEST_CASE(it_rejects_bad_arguments) {
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
                        std::invalid_argument, names("values and rootfix overlap"));
  BOOST_CHECK_EXCEPTION(
      ramify::rooted_tree(tree_shape::of_parents(parent_array{-1, -1}), ramify::tree_number_spans{},
                          {.single_root = true}, on_route(route::device)),
      std::invalid_argument, names("node 1 is a second root"));
  const auto expect = [&](const ramify::environment& env, const char* what) {
    BOOST_CHECK_EXCEPTION(ramify::rooted_tree(shape, {.levels = three}, env), std::invalid_argument,
                          names(what));
  };
  expect({.route = static_cast<route>(9)}, "environment.route");
  expect({.flat_loop = static_cast<ramify::flat_loop>(9)}, "environment.flat_loop");
  expect({.backend = static_cast<ramify::backend>(9)}, "environment.backend");
}

BOOST_AUTO_TEST_SUITE_END()
