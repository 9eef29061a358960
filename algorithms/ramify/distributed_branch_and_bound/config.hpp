// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Configuration and report of distributed_branch_and_bound(); plain C++.

#include <cstdint>
#include <ostream>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/distributed_traverse/config.hpp>

namespace ramify {

/// Configuration of a distributed search. It must be the same on all ranks, except for `trace`.
struct distributed_branch_and_bound_config : branch_and_bound_config {
  unsigned steps = distributed_traverse_config{}.steps;    ///< as of distributed_traverse_config
  unsigned rounds = distributed_traverse_config{}.rounds;  ///< as of distributed_traverse_config

  /// Returns the configuration of the traversal.
  [[nodiscard]] distributed_traverse_config of_traversal() const {
    distributed_traverse_config config;
    static_cast<traverse_config&>(config) = *this;
    config.steps = steps;
    config.rounds = rounds;
    return config;
  }
};

/// Checks a configuration. \throws std::invalid_argument naming the field and its range
inline void validate(const distributed_branch_and_bound_config& config) {
  validate(static_cast<const branch_and_bound_config&>(config));
  validate(config.of_traversal());
}

/// What a distributed search did. The counts of nodes and of updates are those of all ranks. The
/// other fields of branch_and_bound_report are those of this rank.
struct distributed_branch_and_bound_report : branch_and_bound_report {
  std::uint64_t comparisons = 0;  ///< as of distributed_traverse_report
  std::uint64_t exchanges = 0;    ///< as of distributed_traverse_report
  std::uint64_t moved_nodes = 0;  ///< as of distributed_traverse_report
};

/// Prints one line "name: value" for each field.
inline std::ostream& operator<<(std::ostream& out, const distributed_branch_and_bound_report& r) {
  return out << static_cast<const branch_and_bound_report&>(r) << "comparisons: " << r.comparisons
             << "\nexchanges: " << r.exchanges << "\nmoved nodes: " << r.moved_nodes << '\n';
}

}  // namespace ramify
