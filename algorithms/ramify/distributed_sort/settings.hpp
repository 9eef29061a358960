// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a distributed sort that all ranks must have in common; plain C++.

#include <cstddef>
#include <ramify/cluster/settings.hpp>
#include <ramify/distributed_sort/config.hpp>
#include <ramify/version.hpp>

namespace ramify::detail::distributed_sort::inline RAMIFY_ABI {

/// Returns the settings of a sort. `key` and `value` are sizes in bytes; 0: no values.
[[nodiscard]] inline shared_settings settings_of(std::size_t key, std::size_t value,
                                                 sorted_parts parts,
                                                 const quicksort_options& options,
                                                 const environment& env) {
  // This does not compile without a field.
  const auto& [strategy, streams, depth_limit, launches, device_memory, temporary] = options;
  shared_settings settings("distributed_sort");
  settings.add("distributed_sort: the size of a key", key);
  settings.add("distributed_sort: the size of a value", value);
  settings.add("distributed_sort: parts", parts);
  settings.add("quicksort_options.strategy", strategy);
  settings.add("quicksort_options.streams", streams);
  settings.add("quicksort_options.depth_limit", depth_limit);
  settings.add("quicksort_options.launches", launches);
  settings.add("quicksort_options.device_memory", device_memory);
  settings.add("whether quicksort_options.temporary is null", temporary == nullptr);
  settings.add("whether environment.memory is empty", env.memory.empty());
  settings.add(env);
  return settings;
}

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_ABI
