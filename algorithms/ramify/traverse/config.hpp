// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a traversal can be told, and what it tells; plain C++.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>

namespace ramify {

struct traverse_config {
  ramify::route route = ramify::route::automatic;
  /// Most open nodes (visited, with children to visit) that may wait between two rounds, at most
  /// 2^30; one with many children may count as up to 1,024, for several warps to take. Memory of two
  /// lists of so many is taken. The least is twice as many as all stacks of a full device hold; 0
  /// chooses that, or 2^16 if that is more.
  std::size_t capacity = 0;
  /// Who begins the rounds of the flat route. Automatic: the host a few, in case that is all, and a
  /// graph the rest; without graphs the host.
  ramify::flat_loop flat_loop = ramify::flat_loop::automatic;
};

/// \throws std::invalid_argument naming the field and its range
inline void validate(const traverse_config& config) {
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("traverse_config.route is none of the enumerators");
  }
  if (to_string(config.flat_loop) == "?") {
    throw std::invalid_argument("traverse_config.flat_loop is none of the enumerators");
  }
  if (config.capacity > std::size_t{1} << 30) {
    throw std::invalid_argument("traverse_config.capacity is " + std::to_string(config.capacity) +
                                "; it must be at most 2^30");
  }
}

struct traverse_report : run_report {
  std::uint64_t rounds = 0;           ///< grids of walkers; deepest_level counts them too
  std::uint64_t peak_open_nodes = 0;  ///< most that waited between two rounds; see capacity
};

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const traverse_report& r) {
  return out << static_cast<const run_report&>(r) << "rounds: " << r.rounds
             << "\nmost open nodes between rounds: " << r.peak_open_nodes << '\n';
}

}  // namespace ramify
