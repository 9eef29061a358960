// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a quicksort can be told, and what it tells; plain C++.

#include <cstdint>
#include <iosfwd>
#include <ramify/runtime/report.hpp>
#include <string_view>

namespace ramify {

enum class quicksort_strategy {
  multiway,  ///< sampled k-way partition with equality buckets; a level is a few large grids
  binary,    ///< two-way partition; a segment is a grid, its two children go to two named streams
};

[[nodiscard]] std::string_view to_string(quicksort_strategy);
/// \throws std::invalid_argument naming the choices
[[nodiscard]] quicksort_strategy parse_quicksort_strategy(std::string_view);

struct quicksort_config {
  quicksort_strategy strategy = quicksort_strategy::multiway;
  ramify::route route = ramify::route::automatic;
  /// Where `binary` puts children on the device route.
  child_streams streams = child_streams::named;
  /// Levels of partitioning after which a segment is merge-sorted by one block instead, in
  /// [1, 255]; 0 chooses from n, so that it takes bad luck or a hostile comparator to get there.
  unsigned depth_limit = 0;
};

/// \throws std::invalid_argument naming the field and its range
void validate(const quicksort_config&);

struct quicksort_report : run_report {
  quicksort_strategy strategy = quicksort_strategy::multiway;
  std::uint64_t keys = 0;
  std::uint64_t merge_sorted_segments = 0;  ///< that had reached the depth limit
};

/// One "name: value" line a field.
std::ostream& operator<<(std::ostream&, const quicksort_report&);

}  // namespace ramify
