// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a distributed sort that all ranks must have in common; plain C++.

#include <cstddef>
#include <ramify/cluster/settings.hpp>
#include <ramify/distributed_sort/config.hpp>
#include <string>

namespace ramify::detail::distributed_sort {

/// Adds all fields except `trace`, which may differ. `owner` begins their names.
inline void add_fields(shared_settings& settings, const std::string& owner,
                       const quicksort_config& config) {
  const auto& [strategy, route, streams, loop, depth_limit, launches, trace] = config;
  static_cast<void>(trace);
  settings.add(owner + "strategy", strategy);
  settings.add(owner + "route", route);
  settings.add(owner + "streams", streams);
  settings.add(owner + "flat_loop", loop);
  settings.add(owner + "depth_limit", depth_limit);
  settings.add(owner + "launches", launches);
}

/// Returns the settings of a sort of keys and values of these sizes in bytes; 0: no values.
[[nodiscard]] inline shared_settings settings_of(const distributed_sort_config& config,
                                                 std::size_t key, std::size_t value) {
  const auto& [sort, parts] = config;
  shared_settings settings("distributed_sort");
  settings.add("distributed_sort: the size of a key", key);
  settings.add("distributed_sort: the size of a value", value);
  add_fields(settings, "distributed_sort_config.sort.", sort);
  settings.add("distributed_sort_config.parts", parts);
  return settings;
}

}  // namespace ramify::detail::distributed_sort
