// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Report of distributed_branch_and_bound(), and the checks of its arguments; plain C++.

#include <cstdint>
#include <ostream>
#include <ramify/branch_and_bound/config.hpp>
#include <ramify/distributed_traverse/config.hpp>
#include <ramify/version.hpp>

namespace ramify::inline RAMIFY_ABI {

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

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI {

/// Checks the arguments of a search, and refuses what ranks cannot do.
/// \throws std::invalid_argument naming the field and its range
inline void check_arguments(const branch_and_bound_options& options,
                            const exchange_options& exchange, const environment& env) {
  validate(options);
  distributed_traverse::check_arguments(options, exchange, env);
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI
