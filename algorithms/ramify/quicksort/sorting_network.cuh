// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A thread sorts a few elements in registers: Batcher's odd-even merge sort (1968).
///
/// A sorting network compares the same pairs for any input. All array indices are therefore
/// compile-time constants, and the compiler can keep the arrays in registers.

#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/no_value.hpp>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The elements of one thread: keys and, if values are to follow them, the indices they came from.
template <class Key, int items, bool with_indices>
struct thread_items {
  static constexpr int capacity = items;
  Key keys[items];
  [[no_unique_address]] std::conditional_t<with_indices, unsigned[items], no_value> indices;

  /// Swaps elements i and j, i < j, if they are out of order.
  template <class Compare>
  __device__ __forceinline__ void compare_exchange(int i, int j, Compare compare) {
    exchange_if(compare(keys[j], keys[i]), i, j);
  }

  /// Swaps elements i and j if `swap`.
  __device__ __forceinline__ void exchange_if(bool swap, int i, int j) {
    const Key lower = swap ? keys[j] : keys[i];
    keys[j] = swap ? keys[i] : keys[j];
    keys[i] = lower;
    if constexpr (with_indices) {
      const unsigned index = swap ? indices[j] : indices[i];
      indices[j] = swap ? indices[i] : indices[j];
      indices[i] = index;
    }
  }
};

/// Executes the comparators at distance `distance` of the step that merges sorted runs of `run`
/// elements. Unless `full`, only the first `valid` elements exist. The missing ones count as larger
/// than any, and stay at the end. Run and Distance are int, or int_constant.
template <bool full, class Elements, class Run, class Distance, class Compare>
__device__ void compare_exchange_at(Elements& mine, Run run, Distance distance, int valid,
                                    Compare compare) {
  constexpr int items = Elements::capacity;
  // Without an incomplete pair, all these loops have a fixed number of iterations.
  const bool all_complete = items % (2 * run) == 0;
  RAMIFY_UNROLL
  for (int begin = 0; begin < items; begin += 2 * run) {  // a pair of runs
    const int end = all_complete ? begin + 2 * run : min(begin + 2 * run, items);
    RAMIFY_UNROLL
    for (int first = begin + distance % run; first + distance < end; first += 2 * distance) {
      RAMIFY_UNROLL
      for (int i = first; i < first + distance && (all_complete || i + distance < end); ++i) {
        if (full || i + distance < valid) mine.compare_exchange(i, i + distance, compare);
      }
    }
  }
}

#if RAMIFY_ON_CUDA
/// A compile-time constant as an argument. (Device code cannot call std::integral_constant.)
template <int value>
struct int_constant {
  __device__ constexpr operator int() const { return value; }
};

/// Executes these comparators, then all later ones.
template <int run, int distance, bool full, class Elements, class Compare>
__device__ void compare_exchange_from(Elements& mine, int valid, Compare compare) {
  compare_exchange_at<full>(mine, int_constant<run>{}, int_constant<distance>{}, valid, compare);
  if constexpr (distance > 1) {
    compare_exchange_from<run, distance / 2, full>(mine, valid, compare);
  } else if constexpr (2 * run < Elements::capacity) {
    compare_exchange_from<2 * run, 2 * run, full>(mine, valid, compare);
  }
}
#endif

/// Sorts the first `valid` elements of a thread. Not stable. Does not compare missing elements.
/// Elements are thread_items, or derived from them.
template <class Elements, class Compare>
__device__ void sort_in_registers(Elements& mine, int valid, Compare compare) {
  constexpr int items = Elements::capacity;
  if constexpr (items > 1) {
#if RAMIFY_ON_CUDA
    if (valid == items) {
      compare_exchange_from<1, 1, true>(mine, valid, compare);
    } else {
      compare_exchange_from<1, 1, false>(mine, valid, compare);
    }
#else
    // Loops, because a C++ compiler takes long to compile a function for each distance.
    for (int run = 1; run < items; run *= 2) {
      for (int distance = run; distance > 0; distance /= 2) {
        compare_exchange_at<false>(mine, run, distance, valid, compare);
      }
    }
#endif
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
