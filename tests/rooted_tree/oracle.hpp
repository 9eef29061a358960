// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the tests of rooted trees have in common: the backend under test, and what a plain walk
/// makes of a forest.

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "forests.hpp"
#include "printing.hpp"

namespace tests {

using parent_array = std::vector<std::int32_t>;

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

inline const rooted_tree_cases& cases() {
  return runs_on_cpu() ? *rooted_tree_cases_on_cpu() : *rooted_tree_cases_on_cuda();
}

inline ramify::rooted_tree_options options_for(ramify::route taken) {
  ramify::rooted_tree_options options;
  options.backend = backend_under_test();
  options.route = taken;
  return options;
}

inline std::vector<affine> values_for(std::size_t n) {
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
        leaffix(common::serial_leaffix(lists, parents, values, composed)),
        rootfix(common::serial_rootfix(lists, parents, values, composed)) {}

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

inline tree_results everything(std::size_t n) {
  const parent_array number(n, -7);
  const std::vector<affine> fold(n, affine{7, 7});
  return {number, number, number, number, fold, fold};
}

/// What does not depend on the order of siblings, and is had without a sort.
inline tree_results orderless(std::size_t n) {
  tree_results all = everything(n);
  all.preorder = all.postorder = {};
  all.leaffix = {};
  return all;
}

}  // namespace tests
