// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// in_place_plan: how a sort without a second array (in_place.cuh) divides it, and its memory.

#include <algorithm>
#include <cstddef>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort/in_place_level.cuh>
#include <ramify/runtime/buffer.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The sorts that run at the same time. Each sorts too few elements to use the whole device.
inline constexpr std::size_t concurrent_sorts = 3;

/// The scratch memory of a level for n elements, and of the sort of its sample.
template <class Key, class Value, class Compare>
struct in_place_memory {
  using order = sort_order<Key, Compare>;
  using arrays_type = in_place_arrays<Key, Value, typename order::code>;
  using tuning = in_place_tuning<Key, Value>;

  /// Sampled keys for each bucket.
  static constexpr unsigned oversampling = 60;
  /// About one slot in `reach` is the start of a division of a chain. Memory is taken for one in
  /// `reach_of_memory`.
  static constexpr unsigned reach = 128;
  static constexpr unsigned reach_of_memory = 96;

  in_place_memory(memory_layout& memory, std::size_t n) {
    constexpr bool has_values = tuning::has_values;
    arrays.n = n;
    arrays.max_saved = arrays.slots() / reach_of_memory + 8;
    const std::size_t outside =
        (std::size_t{tuning::extra_slots} + arrays.max_saved) * tuning::slot;
    arrays.outside.keys = memory.take<Key>(outside);
    arrays.outside.values = memory.take<Value>(has_values ? outside : 0);
    arrays.candidates = memory.take<typename order::code>(tuning::max_buckets);
    arrays.source = memory.take<unsigned>(arrays.output_slots());
    arrays.saved_as = memory.take<unsigned>(arrays.output_slots());
    arrays.start_list = memory.take<unsigned>(arrays.output_slots());
    arrays.was_read = memory.take<unsigned>(arrays.tiles());
    arrays.state = memory.take<typename arrays_type::state_type>(1);
    constexpr std::size_t most = std::size_t{oversampling} * tuning::max_buckets;
    sample = memory.take<Key>(most);
    scratch = memory.take_scratch(scratch_for_any_root<sample_sort_tuning<Key, no_value>>(
        most, [](position m) { return quicksort_scratch_bytes<Key, no_value, Compare>(m); }));
  }

  arrays_type arrays{};
  Key* sample;
  memory_ref scratch;  ///< of the sort of the sample
};

/// How an array of n elements is sorted in place.
struct in_place_plan {
  std::size_t bytes;  ///< of scratch memory
  std::size_t part;   ///< elements that are sorted with a share of it

  /// Returns the bytes of the share of the scratch memory that a part has.
  [[nodiscard]] std::size_t share() const {
    return bytes / concurrent_sorts / memory_layout::alignment * memory_layout::alignment;
  }
};

/// Returns the scratch memory of a sort of a part, a multiple of the alignment. \throws cuda_error
template <class Key, class Value, class Compare>
[[nodiscard]] std::size_t bytes_of_part(std::size_t n) {
  constexpr std::size_t unit = memory_layout::alignment;
  return (quicksort_scratch_bytes<Key, Value, Compare>(n) + unit - 1) / unit * unit;
}

/// Returns the plan for n elements: scratch memory for a level, but at least a fiftieth of the
/// array and tuning::least_memory. \throws cuda_error
template <class Key, class Value, class Compare>
[[nodiscard]] in_place_plan plan_in_place(std::size_t n) {
  using memory = in_place_memory<Key, Value, Compare>;
  using tuning = typename memory::tuning;
  const auto bytes_of = bytes_of_part<Key, Value, Compare>;
  const std::size_t bytes =
      std::max({layout_bytes<memory>(n), n * tuning::element_bytes / 50, tuning::least_memory});
  if (bytes_of(n) <= bytes) return {bytes_of(n), n};
  // The memory of a sort does not always rise with its size. The search finds a part that fits.
  const std::size_t share = in_place_plan{bytes, n}.share();
  std::size_t low = 1;
  std::size_t high = n;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (bytes_of(middle) <= share ? low : high) = middle;
  }
  return {bytes, low};
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
