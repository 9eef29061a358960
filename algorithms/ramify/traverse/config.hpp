// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of traverse(); plain C++.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// How the work is distributed over grids.
enum class traverse_strategy {
  work_sharing,   ///< warps traverse depth first, and donate nodes when many warps are idle
  task_per_node,  ///< each frontier node is a task: the plain recursion, for comparison
};

/// Returns the name of the enumerator, or "?" if `s` is none.
[[nodiscard]] constexpr std::string_view to_string(traverse_strategy s) {
  return choice_name(s, {"work_sharing", "task_per_node"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline traverse_strategy parse_traverse_strategy(std::string_view text) {
  return parse_choice<traverse_strategy>("strategy", text);
}

/// Options of a traversal. A frontier node is a visited node with unvisited children.
struct traverse_options {
  /// Maximum number of frontier nodes between two rounds, at most 2^30. A node with many children
  /// may count as up to 1,024, because it is split for several warps. Two lists of this size are
  /// allocated. The minimum is twice the number of stack entries of all co-resident warps; 0
  /// selects that, or 2^16 if that is more. With `task_per_node` each list holds one level of the
  /// tree: any number is valid, and 0 selects 2^20.
  std::size_t capacity = 0;
  traverse_strategy strategy = traverse_strategy::work_sharing;  ///< how work is distributed
  /// Only for `task_per_node`: which frontier nodes share a child grid. The threshold is a number
  /// of children. A lane visits the subtree of a node with fewer children itself, as long as it
  /// holds at most 4 frontier nodes. `work_sharing` always launches per grid.
  launch_granularity launches{granularity::per_grid};
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const traverse_options& options) {
  check_enumerator(options.strategy, "traverse_options.strategy");
  validate(options.launches, "traverse_options.launches");
  detail::check_field(options.capacity <= std::size_t{1} << 30, "traverse_options.capacity",
                      options.capacity, "at most 2^30");
}

/// What a visit returns that may end the traversal: its value, and whether no further node need be
/// visited. A search for the first solution returns it.
template <class Value>
struct visited {
  Value value;        ///< of the visit
  bool ends = false;  ///< true: this visit ends the traversal
};

/// Report of a traversal. The first two fields are 0 with `task_per_node`.
struct traverse_report : run_report {
  std::uint64_t rounds = 0;               ///< grids of workers; deepest_level counts them too
  std::uint64_t peak_frontier_nodes = 0;  ///< maximum between two rounds; see capacity
  bool ended_early = false;               ///< a visit has ended the traversal; see visited
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const traverse_report& r) {
  return out << static_cast<const run_report&>(r) << "rounds: " << r.rounds
             << "\npeak frontier nodes: " << r.peak_frontier_nodes
             << "\nended early: " << (r.ended_early ? "yes" : "no") << '\n';
}

}  // namespace ramify::inline RAMIFY_ABI
