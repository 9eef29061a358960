// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a distributed traversal that all ranks must have in common; plain C++.

#include <cstddef>
#include <ramify/cluster/settings.hpp>
#include <ramify/distributed_traverse/config.hpp>
#include <string>
#include <type_traits>

namespace ramify::detail::distributed_traverse {

/// Adds all fields except `trace`, which may differ. `owner` begins their names.
inline void add_fields(shared_settings& settings, const std::string& owner,
                       const traverse_config& config) {
  const auto& [route, capacity, strategy, launches, loop, trace] = config;
  static_cast<void>(trace);
  settings.add(owner + "route", route);
  settings.add(owner + "capacity", capacity);
  settings.add(owner + "strategy", strategy);
  settings.add(owner + "launches", launches);
  settings.add(owner + "flat_loop", loop);
}

/// Adds all fields except `trace`. `owner` begins their names.
inline void add_fields(shared_settings& settings, const std::string& owner,
                       const distributed_traverse_config& config) {
  add_fields(settings, owner, static_cast<const traverse_config&>(config));
  settings.add(owner + "steps", config.steps);
  settings.add(owner + "rounds", config.rounds);
}

/// Adds a value if it is a number. The bytes of others may differ although the values are equal, as
/// those of pointers and padding do.
template <class Value>
void add_number(shared_settings& settings, const char* name, const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) settings.add(name, value);
}

/// Returns the settings of a traversal of nodes of this size in bytes.
[[nodiscard]] inline shared_settings settings_of(const distributed_traverse_config& config,
                                                 std::size_t node) {
  shared_settings settings("distributed_traverse");
  settings.add("distributed_traverse: the size of a node", node);
  add_fields(settings, "distributed_traverse_config.", config);
  return settings;
}

}  // namespace ramify::detail::distributed_traverse
