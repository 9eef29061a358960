// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a distributed search that all ranks must have in common; plain C++.

#include <cstddef>
#include <ramify/cluster/settings.hpp>
#include <ramify/distributed_branch_and_bound/config.hpp>
#include <ramify/distributed_traverse/settings.hpp>
#include <ramify/version.hpp>

namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI {

/// Adds the fields of limits.
inline void add_limits(shared_settings& settings, const search_limits& limits) {
  const auto& [max_nodes, max_seconds] = limits;  // does not compile without a field
  settings.add("branch_and_bound_options.limits.max_nodes", max_nodes);
  settings.add("branch_and_bound_options.limits.max_seconds", max_seconds);
}

/// Returns the settings of a search of nodes of this size in bytes. Of a limit of time the ranks
/// only need to agree that there is one: the searches of a call share its time, and the time that
/// is left differs between ranks.
[[nodiscard]] inline shared_settings settings_of(const value_range& range,
                                                 const branch_and_bound_options& options,
                                                 const exchange_options& exchange,
                                                 const environment& env, std::size_t node) {
  shared_settings settings("distributed_branch_and_bound");
  settings.add("distributed_branch_and_bound: the size of a node", node);
  distributed_traverse::add_arguments(settings, options, exchange, env);
  settings.add("value_range.lower", range.lower);
  settings.add("value_range.upper", range.upper);
  settings.add("branch_and_bound_options.limits.max_nodes", options.limits.max_nodes);
  settings.add("distributed_branch_and_bound: whether there is a limit of time",
               options.limits.max_seconds != 0);
  return settings;
}

}  // namespace ramify::detail::branch_and_bound::inline RAMIFY_ABI
