// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The settings of a distributed traversal that all ranks must have in common; plain C++.

#include <ramify/cluster/settings.hpp>
#include <ramify/distributed_traverse/config.hpp>
#include <ramify/version.hpp>
#include <type_traits>

namespace ramify::detail::distributed_traverse::inline RAMIFY_ABI {

/// Adds the options and the environment of a call.
inline void add_arguments(shared_settings& settings, const traverse_options& options,
                          const exchange_options& exchange, const environment& env) {
  const auto& [capacity, strategy, launches] = options;  // does not compile without a field
  settings.add("traverse_options.capacity", capacity);
  settings.add("traverse_options.strategy", strategy);
  settings.add("traverse_options.launches", launches);
  const auto& [steps, rounds] = exchange;
  settings.add("exchange_options.steps", steps);
  settings.add("exchange_options.rounds", rounds);
  settings.add(env);
}

/// Adds a value if it is a number. The bytes of others may differ although the values are equal, as
/// those of pointers and padding do.
template <class Value>
void add_number(shared_settings& settings, const char* name, const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) settings.add(name, value);
}

}  // namespace ramify::detail::distributed_traverse::inline RAMIFY_ABI
