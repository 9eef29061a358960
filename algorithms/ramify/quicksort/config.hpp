// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What a quicksort can be told, and what it tells; plain C++.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/report.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ramify {

struct launch_trace;  // <ramify/runtime/launch_trace.hpp>

enum class quicksort_strategy {
  sample_sort,  ///< sampled k-way partition with equality buckets; a level is a few large grids
  binary,    ///< two-way partition; a segment is a grid, its two children go to two named streams
};

[[nodiscard]] constexpr std::string_view to_string(quicksort_strategy s) {
  switch (s) {
    case quicksort_strategy::sample_sort: return "sample_sort";
    case quicksort_strategy::binary: return "binary";
  }
  return "?";
}

/// \throws std::invalid_argument naming the choices
[[nodiscard]] inline quicksort_strategy parse_quicksort_strategy(std::string_view text) {
  return parse_choice("strategy", text,
                      std::array{quicksort_strategy::sample_sort, quicksort_strategy::binary});
}

struct quicksort_config {
  quicksort_strategy strategy = quicksort_strategy::sample_sort;
  ramify::route route = ramify::route::automatic;
  /// Where `binary` puts children on the device route.
  child_streams streams = child_streams::named;
  /// Levels of partitioning after which a segment is merge-sorted by one block instead, in
  /// [1, 255]; 0 chooses from n, so that it takes bad luck or a hostile comparator to get there.
  unsigned depth_limit = 0;
  /// Of `binary`: which segments share a child grid, and from how many keys on a segment is worth
  /// one; one block merge-sorts smaller ones. A threshold of 0 chooses two leaves, 16,384 u32 keys on
  /// a GPU; with 1 a segment longer than a leaf is worth one. `sample_sort` launches per grid by its
  /// nature.
  launch_granularity launches{};
  /// Where the run's grids are to be added, when the run is over; null: nowhere. It must stay until then.
  launch_trace* trace = nullptr;
};

/// \throws std::invalid_argument naming the field and its range
inline void validate(const quicksort_config& config) {
  if (to_string(config.strategy) == "?") {
    throw std::invalid_argument("quicksort_config.strategy is none of the enumerators");
  }
  if (to_string(config.route) == "?") {
    throw std::invalid_argument("quicksort_config.route is none of the enumerators");
  }
  if (config.streams != child_streams::named && config.streams != child_streams::fire_and_forget) {
    throw std::invalid_argument("quicksort_config.streams is none of the enumerators");
  }
  validate(config.launches, "quicksort_config.launches");
  if (config.depth_limit > 255) {
    throw std::invalid_argument("quicksort_config.depth_limit is " +
                                std::to_string(config.depth_limit) +
                                "; it must be 0 (automatic) or in [1, 255]");
  }
}

struct quicksort_report : run_report {
  quicksort_strategy strategy = quicksort_strategy::sample_sort;
  std::uint64_t keys = 0;
  std::uint64_t merge_sorted_segments = 0;  ///< that had reached the depth limit
};

/// One "name: value" line a field.
inline std::ostream& operator<<(std::ostream& out, const quicksort_report& r) {
  return out << "strategy: " << to_string(r.strategy) << "\nkeys: " << r.keys << '\n'
             << static_cast<const run_report&>(r)
             << "segments merge-sorted at the depth limit: " << r.merge_sorted_segments << '\n';
}

}  // namespace ramify

namespace ramify::detail::quicksort {

/// \throws std::invalid_argument if n keys and n values share memory
template <class Key, class Value>
void check_overlap(const Key* keys, const Value* values, std::size_t n) {
  const std::less<const void*> before;
  if (before(keys, values + n) && before(values, keys + n)) {
    throw std::invalid_argument("quicksort: keys and values overlap");
  }
}

}  // namespace ramify::detail::quicksort
