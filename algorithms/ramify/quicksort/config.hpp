// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of quicksort; plain C++.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/arguments.hpp>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/report.hpp>
#include <string_view>

namespace ramify {

/// How a segment is partitioned, and which grids are launched.
enum class quicksort_strategy {
  sample_sort,  ///< k-way partition at sampled splitters; a few large grids a level
  binary,       ///< two-way partition at a pivot; a grid a segment, children in named streams
};

[[nodiscard]] constexpr std::string_view to_string(quicksort_strategy s) {
  return choice_name(s, {"sample_sort", "binary"});
}

/// Returns the strategy of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline quicksort_strategy parse_quicksort_strategy(std::string_view text) {
  return parse_choice<quicksort_strategy>("strategy", text);
}

/// Options of a sort.
struct quicksort_options {
  quicksort_strategy strategy = quicksort_strategy::sample_sort;
  /// The streams in which `binary` launches children on the device route.
  child_streams streams = child_streams::named;
  /// The number of levels of partitioning after which one block merge-sorts a segment, in [1, 255].
  /// 0 chooses a limit from n that random inputs do not reach.
  unsigned depth_limit = 0;
  /// For `binary`: which segments share a child grid, and the minimum size of a segment that gets
  /// one. One block merge-sorts a smaller segment. The threshold 0 selects the size of two leaves:
  /// 15,360 u32 keys on a GPU. 1: every segment longer than a leaf gets a grid. `sample_sort`
  /// ignores this field, because all segments of a level share grids.
  launch_granularity launches{};
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const quicksort_options& options) {
  check_enumerator(options.strategy, "quicksort_options.strategy");
  check_enumerator(options.streams, "quicksort_options.streams");
  validate(options.launches, "quicksort_options.launches");
  detail::check_field(options.depth_limit <= 255, "quicksort_options.depth_limit",
                      options.depth_limit, "0 (automatic) or in [1, 255]");
}

/// What a sort did.
struct quicksort_report : run_report {
  quicksort_strategy strategy = quicksort_strategy::sample_sort;
  std::uint64_t keys = 0;
  std::uint64_t merge_sorted_segments = 0;  ///< segments at the depth limit
  /// Of a sort in parts (ramify/quicksort_out_of_core.cuh): the parts of the first and of the
  /// second trip. Otherwise 0.
  std::uint64_t runs = 0;
  std::uint64_t buckets = 0;
};

/// Prints one line "name: value" for each field; runs and buckets only of a sort in parts.
inline std::ostream& operator<<(std::ostream& out, const quicksort_report& r) {
  out << "strategy: " << to_string(r.strategy) << "\nkeys: " << r.keys << '\n'
      << static_cast<const run_report&>(r)
      << "segments merge-sorted at the depth limit: " << r.merge_sorted_segments << '\n';
  if (r.runs > 0) out << "runs: " << r.runs << "\nbuckets: " << r.buckets << '\n';
  return out;
}

}  // namespace ramify

namespace ramify::detail::quicksort {

/// Checks that n keys and n values do not overlap. \throws std::invalid_argument
template <class Key, class Value>
void check_overlap(const Key* keys, const Value* values, std::size_t n) {
  check_overlaps("quicksort",
                 std::array{output_array(keys, n, "keys"), output_array(values, n, "values")});
}

}  // namespace ramify::detail::quicksort
