// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Configuration and report of fork_join(); plain C++.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/arguments.hpp>
#include <ramify/traverse/config.hpp>

namespace ramify {

/// Configuration of fork_join(): that of the traversal that visits the nodes, and the maximum
/// number of nodes, which determines the size of the scratch memory.
struct fork_join_config : traverse_config {
  /// Maximum number of nodes of the tree, in [1, 2^31]. Each takes sizeof(Node) + sizeof(Value) +
  /// 16 bytes of scratch memory, from the fork to the end of the run.
  std::size_t max_nodes = std::size_t{1} << 20;
};

/// Checks a configuration. \throws std::invalid_argument naming the field and its range
inline void validate(const fork_join_config& config) {
  validate(static_cast<const traverse_config&>(config));
  detail::check_field(config.max_nodes >= 1 && config.max_nodes <= std::size_t{1} << 31,
                      "fork_join_config.max_nodes", config.max_nodes, "in [1, 2^31]");
}

/// Report of fork_join().
struct fork_join_report : traverse_report {
  std::uint64_t nodes = 0;   ///< number of nodes of the tree
  std::uint64_t leaves = 0;  ///< number of nodes without children
};

/// Prints each field as a line "name: value".
inline std::ostream& operator<<(std::ostream& out, const fork_join_report& r) {
  return out << static_cast<const traverse_report&>(r) << "nodes: " << r.nodes
             << "\nleaves: " << r.leaves << '\n';
}

}  // namespace ramify
