// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// in_place_plan: how a sort without a second array (in_place.cuh) divides it, and its memory.

#include <algorithm>
#include <cstddef>
#include <ramify/quicksort.cuh>
#include <ramify/quicksort/in_place_batch.cuh>
#include <ramify/quicksort/in_place_level.cuh>
#include <ramify/quicksort/in_place_ring_plan.cuh>
#include <ramify/runtime/buffer.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The batches that are sorted at the same time: while one waits between two grids, or for its
/// samples, another one uses the device.
inline constexpr std::size_t concurrent_batches = 2;

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
  /// Elements that are sorted with a share of it: a batch. n: quicksort() sorts the array.
  std::size_t batch;

  /// Returns the bytes of the share of the scratch memory that a batch has.
  [[nodiscard]] std::size_t share() const {
    return bytes / concurrent_batches / memory_layout::alignment * memory_layout::alignment;
  }
};

/// Returns the plan for n elements. The scratch memory is a fiftieth of the array and
/// tuning::constant_memory, or more if a level needs more. \throws cuda_error
template <class Key, class Value, class Compare>
[[nodiscard]] in_place_plan plan_in_place(std::size_t n) {
  using memory = in_place_memory<Key, Value, Compare>;
  using tuning = typename memory::tuning;
  const std::size_t bytes =
      std::max(layout_bytes<memory>(n), n * tuning::element_bytes / 50 + tuning::constant_memory);
  const std::size_t of_sort = quicksort_scratch_bytes<Key, Value, Compare>(n);
  if (of_sort <= bytes) return {of_sort, n};
  // The memory of a batch does not always rise with its size. The search finds a size that fits.
  const std::size_t share = in_place_plan{bytes, n}.share();
  std::size_t low = 1;
  std::size_t high = n;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    const bool fits = layout_bytes<in_place_batch_memory<Key, Value, Compare>>(middle) <= share;
    (fits ? low : high) = middle;
  }
  return {bytes, low};
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
