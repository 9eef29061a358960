// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of branch_and_bound(); plain C++.

#include <cstdint>
#include <limits>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/version.hpp>
#include <string>

namespace ramify::inline RAMIFY_ABI {

/// The value of a leaf that is no solution.
inline constexpr std::int64_t no_solution = std::numeric_limits<std::int64_t>::max();

/// Limits of a search. When one is reached, no further node is expanded; open nodes are still
/// visited, but get no children. The search then ends with the best solution so far and a bound.
/// Its result may differ from run to run, unlike that of a complete search.
struct search_limits {
  std::uint64_t max_nodes = 0;  ///< nodes that are expanded; 0: no limit
  /// From the visit of the root on; 0: no limit. With a reproducible schedule of the CPU executor,
  /// a nanosecond is a node that is to be expanded.
  double max_seconds = 0;

  /// Returns whether there is a limit.
  [[nodiscard]] bool any() const { return max_nodes != 0 || max_seconds != 0; }
};

/// Checks limits of a field `name`. \throws std::invalid_argument naming the field and its range
inline void validate(const search_limits& limits, const std::string& name) {
  // The comparison is false for NaN.
  const bool in_range = limits.max_seconds >= 0 && limits.max_seconds <= 1e9;
  detail::check_field(in_range, name + ".max_seconds", limits.max_seconds, "in [0, 1e9]");
}

/// What a search has proved about its solution.
struct search_proof {
  bool is_optimal = false;  ///< no solution is better; always true without a limit
  /// No solution is better than this value: the value of an optimal solution, else the smallest
  /// bound of the nodes that a limit left unexplored. The difference is the gap.
  std::int64_t bound = 0;
};

/// The range of the values of a search. It must have fewer than 2^62 values. A short range leaves
/// more bits of the incumbent to the tie-break.
struct value_range {
  /// No leaf may have a smaller value.
  std::int64_t lower = 0;
  /// Leaves with a larger value are no solutions. The value of a heuristic's solution is a good
  /// choice, because nodes are pruned before a first solution is found.
  std::int64_t upper = (std::int64_t{1} << 31) - 1;
};

/// Checks a range. \throws std::invalid_argument naming the field and its range
inline void validate(const value_range& range) {
  const auto values = static_cast<std::uint64_t>(range.upper) -
                      static_cast<std::uint64_t>(range.lower);  // wraps correctly
  detail::check_field(
      range.upper >= range.lower && values < std::uint64_t{1} << 62, "value_range.upper",
      range.upper,
      "at least lower, which is " + std::to_string(range.lower) + ", and less than lower + 2^62");
}

/// Options of a search: those of the traversal that visits the nodes, and limits.
struct branch_and_bound_options : traverse_options {
  /// After a limit a search ends with the best solution so far; result.proof has a bound.
  search_limits limits{};
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const branch_and_bound_options& options) {
  validate(static_cast<const traverse_options&>(options));
  validate(options.limits, "branch_and_bound_options.limits");
}

/// Report of branch_and_bound(). The counts depend on the order in which nodes are visited, so they
/// differ from run to run.
struct branch_and_bound_report : traverse_report {
  std::uint64_t expanded = 0;           ///< nodes whose children were visited
  std::uint64_t pruned = 0;             ///< nodes that cannot lead to a better solution
  std::uint64_t leaves = 0;             ///< nodes without children
  std::uint64_t incumbent_updates = 0;  ///< leaves that replaced the incumbent
  std::uint64_t unexplored = 0;         ///< nodes that a limit left without children
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const branch_and_bound_report& r) {
  return out << static_cast<const traverse_report&>(r) << "expanded: " << r.expanded
             << "\npruned: " << r.pruned << "\nleaves: " << r.leaves
             << "\nincumbent updates: " << r.incumbent_updates
             << "\nleft unexplored by a limit: " << r.unexplored << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI
