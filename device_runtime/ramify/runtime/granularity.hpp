// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// How many spawned tasks share a child grid. Plain C++.

#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// Which tasks share a child grid.
enum class granularity {
  per_task,   ///< each task is a grid of its own
  per_block,  ///< all tasks that a block spawns share one grid
  per_grid,   ///< all tasks that a grid spawns share one grid; its last block launches it
};

/// Aggregation, thresholding and coarsening of child grids.
///
/// Source: Olabi, Gómez-Luna, Mutlu, Hwu and El Hajj, "A Compiler Framework for Optimizing Dynamic
/// Parallelism on GPUs", CGO 2022.
struct launch_granularity {
  granularity grain = granularity::per_task;  ///< which tasks share a grid
  /// Tasks below this size are not spawned: they run in the block that created them. The algorithm
  /// defines the unit. 1 spawns every task. 0 selects the algorithm's own threshold, if it has one.
  unsigned threshold = 0;
  /// The number of blocks whose work one block of a grid over several tasks does, in [1, 4096].
  unsigned coarsening = 1;
};

/// Returns the name of the granularity.
[[nodiscard]] constexpr std::string_view to_string(granularity g) {
  return choice_name(g, {"per_task", "per_block", "per_grid"});
}

/// Returns the enumerator of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline granularity parse_granularity(std::string_view text) {
  return parse_choice<granularity>("granularity", text);
}

/// Checks the ranges. `field` is the prefix in messages.
/// \throws std::invalid_argument naming the field and its range
inline void validate(const launch_granularity& launches, const std::string& field) {
  check_enumerator(launches.grain, field + ".grain");
  detail::check_field(launches.coarsening >= 1 && launches.coarsening <= 4096,
                      field + ".coarsening", launches.coarsening, "in [1, 4096]");
}

}  // namespace ramify::inline RAMIFY_ABI
