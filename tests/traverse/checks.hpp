// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What traversals on the backend under test are checked against.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/tree_search.hpp>
#include <string_view>
#include <vector>

#include "backend_under_test.hpp"
#include "cases.hpp"
#include "printing.hpp"

namespace tests {

inline constexpr ramify::route routes[] = {ramify::route::device, ramify::route::flat};

[[nodiscard]] inline const traverse_cases& cases() {
  return runs_on_cpu() ? *traverse_cases_on_cpu() : *traverse_cases_on_cuda();
}

/// The grids that the executor began are those that the report tells of.
template <class Run>
ramify::traverse_report with_grids_counted(Run run) {
  const std::uint64_t before = ramify::cpu::grids_begun();
  const ramify::traverse_report report = run();
  if (runs_on_cpu()) {
    BOOST_TEST(report.host_grids + report.child_grids == ramify::cpu::grids_begun() - before);
  }
  BOOST_TEST(cases().slots_in_use() == 0u);
  return report;
}

inline void expect_counts(const ramify::uts_counts& found, const ramify::uts_counts& expected) {
  BOOST_TEST(found.nodes == expected.nodes);
  BOOST_TEST(found.leaves == expected.leaves);
  BOOST_TEST(found.depth == expected.depth);
}

inline ramify::traverse_report expect_published(const ramify::uts_named_tree& tree,
                                                const traverse_setting& setting) {
  ramify::uts_counts found{};
  const ramify::traverse_report report =
      with_grids_counted([&] { return cases().search(tree.parameters, setting, found); });
  expect_counts(found, tree.counts);
  return report;
}

[[nodiscard]] inline const ramify::uts_named_tree& named(std::string_view name) {
  return *std::ranges::find(ramify::uts_trees(), name, &ramify::uts_named_tree::name);
}

inline ramify::traverse_report expect_each_visited_once(const numbered_tree& tree,
                                                        const traverse_setting& setting) {
  std::vector<unsigned> visits;
  const ramify::traverse_report report =
      with_grids_counted([&] { return cases().mark(tree, setting, visits); });
  BOOST_TEST(visits.size() == tree.nodes());
  BOOST_TEST(std::ranges::all_of(visits, [](unsigned v) { return v == 1; }));
  return report;
}

}  // namespace tests
