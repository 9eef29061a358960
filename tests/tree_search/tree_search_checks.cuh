// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Searches whose counts are compared.

#include <algorithm>
#include <cstddef>
#include <ramify/tree_search.cuh>
#include <ramify/tree_search.hpp>
#include <string_view>

#include "device_vectors.cuh"
#include "printing.hpp"
#include "run_checks.cuh"

namespace tests::inline RAMIFY_BUILD {

inline void expect_counts(const uts_counts& found, const uts_counts& expected) {
  BOOST_TEST(found.nodes == expected.nodes);
  BOOST_TEST(found.leaves == expected.leaves);
  BOOST_TEST(found.depth == expected.depth);
}

[[nodiscard]] inline const uts_named_tree& named(std::string_view name) {
  return *std::ranges::find(uts_trees(), name, &uts_named_tree::name);
}

/// Searches by the header template and returns the counts.
[[nodiscard]] inline uts_counts counts_of(const uts_parameters& tree, const environment& env = {}) {
  return ramify::tree_search_async(tree, env).get().value;
}

/// Searches a published tree and compares the counts.
inline traverse_report expect_published(const uts_named_tree& tree, const traverse_options& options,
                                        const environment& env) {
  uts_counts found{};
  const traverse_report report = with_grids_counted([&] {
    const auto result = ramify::tree_search_async(tree.parameters, options, env).get();
    found = result.value;
    return result.report;
  });
  expect_counts(found, tree.counts);
  return report;
}

}  // namespace tests::inline RAMIFY_BUILD
