// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort of arrays for which there is no memory for a second array.
///
///     ramify::quicksort_in_place(keys, n);   // of 64 GiB, on a device with 80 GiB
///
/// Keys, values   n elements each in device, managed or pinned memory, of types as in
///                <ramify/quicksort.cuh>. Keys and values must not overlap.
/// Order          As there: any strict weak order, as a device functor. The sort is not stable.
/// Scratch        About a fiftieth of the array, and 16 MiB; less if a second array is smaller.
///                quicksort_in_place_scratch_bytes() returns the size. The memory is from
///                environment::memory or from Ramify's stream-ordered pool. If a second array fits
///                into it, the call is a quicksort().
/// Stream         The call is ordered after earlier work in environment::stream. It returns after
///                the array is sorted. Two batches of long parts are sorted at the same time, in
///                streams of the call. A graph cannot capture it.
/// Errors         std::invalid_argument for a bad argument, before any memory is written;
///                unavailable; cuda_error; device_launch_error. If one of the last two is thrown,
///                the array may have lost elements, because some were outside it.
/// Complexity     That of quicksort(), and for each level in place, of which one suffices for most
///                arrays, three reads and two writes of the array. A level has up to 512 buckets,
///                apart from those of equal keys.
/// Not for        Arrays with memory for a second one, for which <ramify/quicksort.cuh> is faster.
/// Source         Blocks of a bucket that move as a whole: M. Axtmann, S. Witt, D. Ferizovic, P.
///                Sanders: In-place parallel super scalar samplesort, ESA 2017. There each thread
///                fills blocks of its own; here all blocks of a grid fill the slots of the output.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <ramify/quicksort/in_place.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Key, class Value, class Compare>
quicksort_report sort_in_place(const key_value_arrays<Key, Value>& data, std::size_t n,
                               Compare compare, const environment& env) {
  check_size(n);
  run_setup setup("quicksort_in_place", by_get(env));
  if (setup.captured) {
    throw unavailable(
        "quicksort_in_place: a graph cannot capture it, because the host reads sizes");
  }
  check_arrays(data.keys, data.values, n);
  if (n < 2) {
    quicksort_report report;
    static_cast<run_report&>(report) =
        report_of_this_build({route::flat, "fewer than two keys are sorted already"});
    report.keys = n;
    return report;
  }
  const in_place_plan plan = plan_in_place<Key, Value, Compare>(n);
  return in_place_sort<Key, Value, Compare>(setup, plan, data, compare).run(n);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Sorts n keys without a second array, and waits.
///
/// \param keys     an array of n elements that the device can access
/// \param compare  returns whether its first argument must come before its second
/// \param env      its memory: quicksort_in_place_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <class Key, class Compare = ascending>
quicksort_report quicksort_in_place(Key* keys, std::size_t n, Compare compare = {},
                                    const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::quicksort::sort_in_place<Key, no_value>({keys, nullptr}, n, compare, env);
  }
}

/// Sorts n keys without second arrays, moves each value with its key, and waits.
///
/// \param keys, values  arrays of n elements that the device can access; they must not overlap
/// \param compare  returns whether its first argument must come before its second
/// \param env      its memory: quicksort_in_place_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs_in_place(Key* keys, Value* values, std::size_t n,
                                          Compare compare = {}, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::quicksort::sort_in_place<Key, Value>({keys, values}, n, compare, env);
  }
}

/// Returns the device memory that a sort of n elements in place needs, in bytes. Value is no_value
/// for a sort of keys without values. \throws cuda_error
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t quicksort_in_place_scratch_bytes(std::size_t n) {
  return n < 2 ? 0 : detail::quicksort::plan_in_place<Key, Value, Compare>(n).bytes;
}

}  // namespace ramify::inline RAMIFY_BUILD
