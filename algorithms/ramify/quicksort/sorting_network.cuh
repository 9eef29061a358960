// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A few elements sorted by one thread, in registers: Batcher's odd-even merge sort (1968).
///
/// A sorting network compares the same pairs whatever the elements are, so every place in the array
/// is known when the kernel is compiled, and an array whose places are known lives in registers.

#include <ramify/runtime/collectives.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// One thread's elements: keys and, if values are to follow them, the places they came from.
template <class Key, int items, bool with_indices>
struct thread_items {
  Key keys[items];
  [[no_unique_address]] std::conditional_t<with_indices, unsigned[items], no_value> places;

  /// Puts elements i and j, i < j, in order.
  template <class Compare>
  __device__ void order(int i, int j, Compare compare) {
    const bool swap = compare(keys[j], keys[i]);
    const Key lower = swap ? keys[j] : keys[i];
    keys[j] = swap ? keys[i] : keys[j];
    keys[i] = lower;
    if constexpr (with_indices) {
      const unsigned place = swap ? places[j] : places[i];
      places[j] = swap ? places[i] : places[j];
      places[i] = place;
    }
  }
};

/// The comparators at distance `distance` of the step that merges sorted runs of `run` elements, and
/// all that follow. If not `full`, only the first `valid` elements exist: comparators send the larger
/// element up, so missing ones, counted as larger than any, stay where they are, at the end.
template <int run, int distance, bool full, class Elements, int items, class Compare>
__device__ void compare_exchange_from(Elements& mine, std::integral_constant<int, items> count, int valid,
                          Compare compare) {
  RAMIFY_UNROLL
  for (int i = distance % run; i + distance < items; ++i) {
    const bool begins_pair = (i - distance % run) / distance % 2 == 0;
    const bool in_one_merge = i / (2 * run) == (i + distance) / (2 * run);
    if (begins_pair && in_one_merge && (full || i + distance < valid)) {
      mine.order(i, i + distance, compare);
    }
  }
  if constexpr (distance > 1) {
    compare_exchange_from<run, distance / 2, full>(mine, count, valid, compare);
  } else if constexpr (2 * run < items) {
    compare_exchange_from<2 * run, 2 * run, full>(mine, count, valid, compare);
  }
}

/// Sorts the first `valid` elements of a thread. Not stable. No comparison with what is not there.
template <class Key, int items, bool with_indices, class Compare>
__device__ void sort_in_registers(thread_items<Key, items, with_indices>& mine, int valid,
                                  Compare compare) {
  constexpr std::integral_constant<int, items> count;
  if constexpr (items > 1) {
    if (valid == items) {
      compare_exchange_from<1, 1, true>(mine, count, valid, compare);
    } else {
      compare_exchange_from<1, 1, false>(mine, count, valid, compare);
    }
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
