// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Options and report of quicksort; plain C++.

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/granularity.hpp>
#include <ramify/runtime/memory_ref.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string_view>

namespace ramify::inline RAMIFY_ABI {

/// How a segment is partitioned, and which grids are launched.
enum class quicksort_strategy {
  sample_sort,  ///< k-way partition at sampled splitters; a few large grids a level
  binary,       ///< two-way partition at a pivot; a grid a segment, children in named streams
};

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(quicksort_strategy s) {
  return choice_name(s, {"sample_sort", "binary"});
}

/// Returns the strategy of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline quicksort_strategy parse_quicksort_strategy(std::string_view text) {
  return parse_choice<quicksort_strategy>("strategy", text);
}

/// The order of numbers in the compiled interface; NaN counts as greater than every number.
enum class sort_order { ascending, descending };

/// Returns the name of the enumerator.
[[nodiscard]] constexpr std::string_view to_string(sort_order o) {
  return choice_name(o, {"ascending", "descending"});
}

/// Returns the order of that name. \throws std::invalid_argument naming the choices
[[nodiscard]] inline sort_order parse_sort_order(std::string_view text) {
  return parse_choice<sort_order>("order", text);
}

/// Options of a sort.
struct quicksort_options {
  quicksort_strategy strategy = quicksort_strategy::sample_sort;  ///< how keys are sorted
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
  /// The maximum device memory of a sort of host memory, in bytes. quicksort_out_of_core() requires
  /// it. In the compiled interface 0 means no maximum; if not all keys and values fit, they are
  /// sorted in parts: then as much host memory is allocated as they have, and they are also written
  /// if the sort fails on the device. quicksort() of <ramify/quicksort.cuh> requires 0.
  std::size_t device_memory = 0;
  /// For a sort in parts: host memory of quicksort_out_of_core_temporary_bytes() bytes, aligned to
  /// 256 bytes, which must not overlap the arrays. Null: it is allocated if it is needed, as pinned
  /// memory if the keys are in pinned memory. Other sorts require null.
  void* temporary = nullptr;
};

/// Checks options. \throws std::invalid_argument naming the field and its range
inline void validate(const quicksort_options& options) {
  check_enumerator(options.strategy, "quicksort_options.strategy");
  check_enumerator(options.streams, "quicksort_options.streams");
  validate(options.launches, "quicksort_options.launches");
  detail::check_field(options.depth_limit <= 255, "quicksort_options.depth_limit",
                      options.depth_limit, "0 (automatic) or in [1, 255]");
  detail::check_alignment(options.temporary, memory_ref::alignment, "quicksort_options.temporary");
}

/// What a sort did.
struct quicksort_report : run_report {
  quicksort_strategy strategy = quicksort_strategy::sample_sort;  ///< that sorted the keys
  std::uint64_t keys = 0;                                         ///< number of keys
  /// Segments at the depth limit, and those that an asynchronous sort has merge-sorted in the order
  /// of the stream, because a level was missing.
  std::uint64_t merge_sorted_segments = 0;
  /// Of a sort in parts (ramify/quicksort_out_of_core.cuh): the parts of the first and of the
  /// second trip. Otherwise 0.
  std::uint64_t runs = 0;
  std::uint64_t buckets = 0;  ///< parts of the second trip; see above
};

/// Prints one line "name: value" for each field; runs and buckets only of a sort in parts.
inline std::ostream& operator<<(std::ostream& out, const quicksort_report& r) {
  out << "strategy: " << to_string(r.strategy) << "\nkeys: " << r.keys << '\n'
      << static_cast<const run_report&>(r) << "merge-sorted segments: " << r.merge_sorted_segments
      << '\n';
  if (r.runs > 0) out << "runs: " << r.runs << "\nbuckets: " << r.buckets << '\n';
  return out;
}

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::quicksort::inline RAMIFY_ABI {

/// What the bits of a number encode.
enum class number_kind { unsigned_integer, signed_integer, floating_point };

/// Checks the options of a sort of device memory. \throws std::invalid_argument
inline void validate_in_place(const quicksort_options& options) {
  validate(options);
  check_field(options.device_memory == 0, "quicksort_options.device_memory", options.device_memory,
              "0 for a sort of device memory");
  if (options.temporary != nullptr) {
    throw std::invalid_argument(
        "quicksort_options.temporary must be null for a sort without a maximum of device memory");
  }
}

/// Returns the options of the sorts of device memory in a sort with a maximum of device memory.
[[nodiscard]] inline quicksort_options in_place_options(quicksort_options options) {
  options.device_memory = 0;
  options.temporary = nullptr;
  return options;
}

/// Checks that n keys and n values do not overlap. \throws std::invalid_argument
template <class Key, class Value>
void check_overlap(const Key* keys, const Value* values, std::size_t n) {
  check_overlaps("quicksort",
                 std::array{output_array(keys, n, "keys"), output_array(values, n, "values")});
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_ABI
