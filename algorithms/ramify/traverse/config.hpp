// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a traversal can be told, and what it tells; plain C++.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

enum class traverse_strategy {
  walk,     ///< warps walk depth first, and share out what they have when many are idle
  spawned,  ///< every open node is a task: the plain recursion, for comparison
};

[[nodiscard]] constexpr std::string_view to_string(traverse_strategy s) {
  switch (s) {
    case traverse_strategy::walk: return "walk";
    case traverse_strategy::spawned: return "spawned";
  }
  return "?";
}

/// The inverse of to_string. \throws std::invalid_argument naming the choices
[[nodiscard]] inline traverse_strategy parse_traverse_strategy(std::string_view text) {
  return parse_choice("strategy", text,
                      std::array{traverse_strategy::walk, traverse_strategy::spawned});
}

struct traverse_config {
  ramify::route route = ramify::route::automatic;
  /// Most open nodes (visited, with children to visit) that may wait between two rounds, at most
  /// 2^30; one with many children may count as up to 1,024, for several warps to take. Memory of two
  /// lists of so many is taken. The least is twice as many as all stacks of a full device hold; 0
  /// chooses that, or 2^16 if that is more. `spawned` has room for a level of the tree in each list:
  /// any number of open nodes; 0 chooses 2^20.
  std::size_t capacity = 0;
  traverse_strategy strategy = traverse_strategy::walk;
  /// Of `spawned`: which open nodes share a child grid. A lane keeps a node with fewer children than
  /// the threshold, and visits what is below it, as long as it has no more than 4 of them open. The
  /// walk launches per grid by its nature.
  launch_granularity launches{granularity::per_grid};
  /// Who begins the rounds of the flat route. Automatic: the host a few, in case that is all, and a
  /// graph the rest; without graphs the host.
  ramify::flat_loop flat_loop = ramify::flat_loop::automatic;
  /// Where the run's grids are to be added, when the run is over; null: nowhere. It must stay until then.
  launch_trace* trace = nullptr;
};

/// \throws std::invalid_argument naming the field and its range
inline void validate(const traverse_config& config) {
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("traverse_config.route is none of the enumerators");
  }
  if (to_string(config.strategy) == "?") {
    throw std::invalid_argument("traverse_config.strategy is none of the enumerators");
  }
  validate(config.launches, "traverse_config.launches");
  if (to_string(config.flat_loop) == "?") {
    throw std::invalid_argument("traverse_config.flat_loop is none of the enumerators");
  }
  if (config.capacity > std::size_t{1} << 30) {
    throw std::invalid_argument("traverse_config.capacity is " + std::to_string(config.capacity) +
                                "; it must be at most 2^30");
  }
}

struct traverse_report : run_report {
  // Of the walk:
  std::uint64_t rounds = 0;           ///< grids of walkers; deepest_level counts them too
  std::uint64_t peak_open_nodes = 0;  ///< most that waited between two rounds; see capacity
};

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const traverse_report& r) {
  return out << static_cast<const run_report&>(r) << "rounds: " << r.rounds
             << "\nmost open nodes between rounds: " << r.peak_open_nodes << '\n';
}

}  // namespace ramify
