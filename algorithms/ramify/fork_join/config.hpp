// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of fork_join(); plain C++.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/traverse/config.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

/// Options of fork_join(): those of the traversal that visits the nodes, and the maximum number of
/// nodes, which determines the size of the scratch memory.
struct fork_join_options : traverse_options {
  /// Maximum number of nodes of the tree, in [1, 2^31]. Each takes sizeof(Node) + sizeof(Value) +
  /// 16 bytes of scratch memory, from the fork to the end of the run.
  std::size_t max_nodes = std::size_t{1} << 20;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const fork_join_options& options) {
  validate(static_cast<const traverse_options&>(options));
  detail::check_field(options.max_nodes >= 1 && options.max_nodes <= std::size_t{1} << 31,
                      "fork_join_options.max_nodes", options.max_nodes, "in [1, 2^31]");
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

}  // namespace ramify::inline RAMIFY_ABI
