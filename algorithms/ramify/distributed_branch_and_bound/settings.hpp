// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a distributed search that all ranks must have in common; plain C++.

#include <cstddef>
#include <ramify/cluster/settings.hpp>
#include <ramify/distributed_branch_and_bound/config.hpp>
#include <ramify/distributed_traverse/settings.hpp>
#include <string>

namespace ramify::detail::branch_and_bound {

/// Adds all fields. `owner` begins their names.
inline void add_fields(shared_settings& settings, const std::string& owner,
                       const search_limits& limits) {
  const auto& [max_nodes, max_seconds] = limits;
  settings.add(owner + "max_nodes", max_nodes);
  settings.add(owner + "max_seconds", max_seconds);
}

/// Returns the settings of a search of nodes of this size in bytes. Of a limit of time the ranks
/// only need to agree that there is one: the searches of a call share its time, and the time that
/// is left differs between ranks.
[[nodiscard]] inline shared_settings settings_of(const distributed_branch_and_bound_config& config,
                                                 std::size_t node) {
  const std::string owner = "distributed_branch_and_bound_config.";
  shared_settings settings("distributed_branch_and_bound");
  settings.add("distributed_branch_and_bound: the size of a node", node);
  distributed_traverse::add_fields(settings, owner, config.of_traversal());
  settings.add(owner + "lower", config.lower);
  settings.add(owner + "upper", config.upper);
  settings.add(owner + "limits.max_nodes", config.limits.max_nodes);
  settings.add("distributed_branch_and_bound: whether there is a limit of time",
               config.limits.max_seconds != 0);
  return settings;
}

}  // namespace ramify::detail::branch_and_bound
