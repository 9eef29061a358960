// SPDX-License-Identifier: BSD-3-Clause
// Rooted trees on the backend of this build: faulty forests and bad arguments are rejected.
#include <boost/test/unit_test.hpp>
#include <stdexcept>

#include "exceptions.hpp"
#include "rooted_tree_checks.cuh"

using namespace tests;
using common::forest_kind;
using ramify::route;
using ramify::tree_shape;

namespace {

/// Checks that a run throws, that the message contains `what`, and that no output is written.
void expect_rejected(const tree_shape& shape, const std::string& what, bool single_root = false) {
  for (const route taken : routes) {
    for (const tree_results& unchanged :
         {all_outputs(shape.nodes), orderless_outputs(shape.nodes)}) {
      tree_results results = unchanged;
      BOOST_TEST_CONTEXT(ramify::to_string(taken)) {
        BOOST_CHECK_EXCEPTION(run_tree(shape, values_for(shape.nodes), results, on_route(taken),
                                       {.single_root = single_root}),
                              std::invalid_argument, names(what));
        BOOST_TEST((results == unchanged));
        BOOST_TEST(slots_in_use() == 0u);
      }
    }
  }
}

void expect_parents_rejected(const parent_array& parents, const std::string& what,
                             bool single_root = false) {
  expect_rejected(tree_shape::of_parents(parents), what, single_root);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rooted_tree)

BOOST_AUTO_TEST_CASE(faulty_parent_arrays_are_rejected) {
  auto parents = common::make_parents(forest_kind::random, 5'000, 1);
  const auto with = [&](std::size_t node, std::int32_t parent) {
    parent_array changed = parents;
    changed[node] = parent;
    return changed;
  };
  expect_parents_rejected(with(3'000, 5'000),
                          "the parent of node 3000 is 5000; it must be -1 or in [0, 5000)");
  expect_parents_rejected(with(17, -2), "the parent of node 17 is -2");
  expect_parents_rejected(with(4'999, INT32_MIN), "the parent of node 4999 is -2147483648");
  expect_parents_rejected(with(0, INT32_MAX), "the parent of node 0 is 2147483647");
  expect_parents_rejected(with(42, 42), "node 42 never reaches a root: its ancestors form a cycle");
  expect_parents_rejected({0}, "node 0 never reaches a root");
  expect_parents_rejected({1, 2, 0, -1}, "node 0 never reaches a root");
  expect_parents_rejected({-1, 0, 3, 2, 1, 3}, "node 2 never reaches a root");
  expect_parents_rejected({-1, 2, 1, 1}, "node 1 never reaches a root");
  expect_parents_rejected({-1, 0, -1, -1}, "node 2 is a second root, and single_root is set", true);
  expect_parents_rejected(with(4'000, -1), "node 4000 is a second root", true);
  expect_parents_rejected(parent_array(5'000, -1), "node 1 is a second root", true);
  for (tree_results results : {all_outputs(5'000), orderless_outputs(5'000)}) {
    BOOST_CHECK_NO_THROW(run_tree(tree_shape::of_parents(parents), values_for(5'000), results,
                                  on_route(route::device), {.single_root = true}));
  }
}

BOOST_AUTO_TEST_CASE(cycles_of_every_length_are_found) {
  for (const std::size_t length : {2, 15, 16, 17, 40, 200, 3'000}) {
    // A random tree, then a ring, then a random tree whose root is a child of the ring.
    parent_array parents = common::make_parents(forest_kind::random, 1'000, length);
    const auto first = static_cast<std::int32_t>(parents.size());
    for (std::size_t i = 0; i < length; ++i) {
      parents.push_back(first + static_cast<std::int32_t>((i + 1) % length));
    }
    const auto after = static_cast<std::int32_t>(parents.size());
    for (const std::int32_t p : common::make_parents(forest_kind::random, 1'000, 1)) {
      parents.push_back(p == -1 ? first + 1 : after + p);
    }
    expect_parents_rejected(parents, "node 1000 never reaches a root");
  }
}

BOOST_AUTO_TEST_CASE(faulty_child_lists_are_rejected) {
  const auto rejected = [](const parent_array& offsets, const parent_array& children,
                           const std::string& what, bool single_root = false) {
    expect_rejected(tree_shape::of_children(offsets, children), what, single_root);
  };
  rejected({0, 2, 3, 3, 3}, {1, 2, 4}, "children[2] is 4; it must be in [0, 4)");
  rejected({0, 2, 3, 3, 3}, {1, -1, 3}, "children[1] is -1");
  rejected({0, 2, 3, 3, 3}, {1, 2, 2}, "node 2 is a child twice");
  rejected({0, 2, 2, 2, 2}, {3, 3}, "node 3 is a child twice");
  rejected({1, 2, 3, 3, 3}, {1, 2, 3}, "offsets[0] is 1; offsets must begin with 0");
  rejected({0, 2, 1, 3, 3}, {1, 2, 3},
           "offsets[2] is 1; offsets must begin with 0, never decrease");
  rejected({0, 2, 3, 3, 2}, {1, 2, 3}, "offsets[4] is 2");
  rejected({0, 2, 9, 3, 3}, {1, 2, 3}, "offsets[2] is 9");
  rejected({0, 2, 2, 2, 2}, {1, 2, 3}, "offsets[4] is 2");
  rejected({0, 1, 2, 3, 4}, {1, 2, 3, 0}, "node 0 never reaches a root");
  rejected({0, 0, 1, 2, 3}, {2, 3, 1}, "node 1 never reaches a root");
  rejected({0, 0, 1}, {1}, "node 1 never reaches a root");
  rejected({0, 1, 1, 1, 1}, {1}, "node 2 is a second root", true);
  rejected({0, 3}, {0, 0, 0}, "3 children, but only 1 nodes");
  BOOST_CHECK_EXCEPTION((void)tree_shape::of_children({}, {}), std::invalid_argument,
                        names("offsets must not be empty"));
  rejected({0}, {}, "single_root is set, and there are no nodes", true);
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  const parent_array host(100, -1);
  const auto parents = upload(host);
  const ramify::device_buffer<std::int32_t> numbers(150, nullptr);
  const ramify::device_buffer<affine> folds(100, nullptr);
  const ramify::device_buffer<std::byte> scratch(100'000, nullptr);
  const auto shape = tree_shape::of_parents({parents.data(), 100});
  std::int32_t* const out = numbers.data();
  const auto expect = [](auto call, const char* what) {
    BOOST_CHECK_EXCEPTION(call(), std::invalid_argument, names(what));
  };
  expect(
      [&] {
        (void)ramify::rooted_tree(
            shape, {}, ramify::make_tree_folds<affine>(nullptr, compose{}, folds.data(), nullptr));
      },
      "values is null");
  expect([&] { (void)ramify::rooted_tree(shape, {.levels = out, .preorder = out + 50}); },
         "levels and preorder overlap");
  expect([&] { (void)ramify::rooted_tree(shape, {.levels = parents.data()}); },
         "parents and levels overlap");
  const auto with_scratch = [&](std::byte* data, std::size_t bytes) {
    (void)ramify::rooted_tree(shape, {.levels = out}, {.memory = {data, bytes}});
  };
  expect([&] { with_scratch(scratch.data(), 300); },
         "rooted_tree: environment.memory has 300 bytes");
  expect([&] { with_scratch(scratch.data() + 8, 90'000); }, "environment.memory must be aligned");
#if RAMIFY_ON_CUDA
  expect([&] { (void)ramify::rooted_tree(tree_shape::of_parents(host), {.levels = out}); },
         "parents is ordinary host memory");
#endif
}

BOOST_AUTO_TEST_SUITE_END()
