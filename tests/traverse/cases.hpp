// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Traversals that need a device compiler: the same functions for either backend.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ramify/traverse/config.hpp>
#include <ramify/tree_search/parameters.hpp>
#include <vector>

namespace tests {

/// Trees whose nodes are numbers.
struct numbered_tree {
  enum class shape {
    path,         ///< each node has one child
    star,         ///< all nodes but the root are its children
    complete,     ///< `arity` children each
    caterpillar,  ///< each node of a path has a leaf more, as its second child
    combs,  ///< `arity` paths below the root; each node of them has 39 leaves behind its child
  };
  shape kind;
  unsigned n;  ///< nodes; of combs, those of one path without its leaves
  unsigned arity = 1;

  [[nodiscard]] std::size_t nodes() const {
    return kind == shape::combs ? 1 + std::size_t{arity} * n * 40 : n;
  }
};

struct traverse_setting {
  ramify::traverse_config config;
  std::size_t pending_launches = 0;  ///< 0: leave the limit alone
};

enum class bad_traversal {
  scratch_too_small,
  scratch_misaligned,
  capacity_too_small,
  flat_loop_unknown,
  captured_without_scratch,  ///< on CUDA
  captured_by_host,          ///< on CUDA
  captured_spawned,          ///< on CUDA
  got_while_captured,        ///< on CUDA
};

struct captured_marks {
  std::vector<unsigned> visits;
  std::vector<unsigned> values;  ///< of each get()
  ramify::traverse_report report;
};

struct traverse_cases {
  /// How often each node was visited.
  ramify::traverse_report (*mark)(const numbered_tree&, const traverse_setting&,
                                  std::vector<unsigned>& visits);
  /// The same with nodes of 700 bytes, whose contents are checked: how many nodes were sound.
  ramify::traverse_report (*count_pages)(const numbered_tree&, const traverse_setting&,
                                         std::uint64_t& sound);
  /// A reduction that is not commutative, over a complete tree.
  std::uint64_t (*fold_in_order_of_visits)(unsigned n, const traverse_setting&);
  ramify::traverse_report (*search)(const ramify::uts_parameters&, const traverse_setting&,
                                    ramify::uts_counts&);
  /// Searches while somebody else has all launch slots.
  ramify::traverse_report (*search_without_slots)(const ramify::uts_parameters&,
                                                  ramify::uts_counts&);
  /// Searches two trees on two streams at the same time, with scratch memory of the caller's.
  std::array<ramify::uts_counts, 2> (*search_two)(const ramify::uts_parameters&,
                                                  const ramify::uts_parameters&);
  /// Captures a traversal by this route, launches the graph `launches` times, and gets the result
  /// after each, or after the last one only. How often each node was visited, and the values.
  captured_marks (*mark_captured)(const numbered_tree&, ramify::route, unsigned launches,
                                  bool get_each);
  void (*provoke)(bad_traversal);
  /// SHA-1 of a message of 24 bytes, in a kernel.
  std::array<std::uint32_t, 5> (*sha1)(const std::array<std::uint32_t, 6>&);
  std::size_t (*least_capacity)();  ///< of mark()
  unsigned (*slots_in_use)();       ///< when nothing runs
};

/// Null if the backend was not built.
[[nodiscard]] const traverse_cases* traverse_cases_on_cpu();
[[nodiscard]] const traverse_cases* traverse_cases_on_cuda();

}  // namespace tests
