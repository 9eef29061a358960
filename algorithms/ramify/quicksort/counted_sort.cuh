// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts of a number of elements that only the device has (device_count): the overloads of
/// <ramify/quicksort.cuh>. Such a sort is a segmented sort of one segment.

#include <cstddef>
#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/device_count.hpp>
#include <ramify/segmented_sort/run.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The run of a sort whose number of elements only the device has: a segmented sort of one segment.
template <class Key, class Value, class Compare>
using counted_run =
    segmented_sort::segmented_run<Key, Value, Compare, segmented_sort::counted_segment,
                                  quicksort_report>;

/// Starts a sort of a number of elements that only the device has.
template <class Key, class Value, class Compare>
async_run<quicksort_report> start_counted_sort(Key* keys, Value* values, const device_count& n,
                                               Compare compare, const environment& env) {
  check_size(n.upper_bound);
  run_setup setup("quicksort", env);
  setup.check_count(n);
  check_arrays(keys, values, n.upper_bound);
  return counted_run<Key, Value, Compare>::start(setup, {keys, values}, n.upper_bound, {n},
                                                 compare);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts to sort keys in place whose number only the device has. What quicksort_pairs_async()
/// states holds here, too.
///
/// The strategy is sample_sort. The host never reads the number, and no loop is in a graph that
/// captures the call: each launch of the graph sorts as many keys as the number then is. If it
/// exceeds its upper bound, no key changes, and get() throws std::length_error.
///
/// \param keys     an array of n.upper_bound elements that the device can access
/// \param compare  returns whether its first argument must come before its second
/// \param env      its memory: quicksort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, no_value, Compare>,
               async_run<quicksort_report>>
quicksort_async(Key* keys, const device_count& n, Compare compare = {},
                const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::quicksort::start_counted_sort<Key, no_value>(keys, nullptr, n, compare, env);
  }
}

/// Starts to sort keys in place whose number only the device has, and moves each value with its
/// key. See the overload for keys alone.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Value, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, Value, Compare>, async_run<quicksort_report>>
quicksort_pairs_async(Key* keys, Value* values, const device_count& n, Compare compare = {},
                      const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::quicksort::start_counted_sort(keys, values, n, compare, env);
  }
}

/// Sorts keys in place whose number only the device has, and waits: quicksort_async() and get().
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Key, class Compare = ascending>
quicksort_report quicksort(Key* keys, const device_count& n, Compare compare = {},
                           const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return quicksort_async(keys, n, compare, detail::waiting(env)).get();
  }
}

/// Sorts keys in place whose number only the device has, moves each value with its key, and waits:
/// quicksort_pairs_async() and get().
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs(Key* keys, Value* values, const device_count& n,
                                 Compare compare = {}, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return quicksort_pairs_async(keys, values, n, compare, detail::waiting(env)).get();
  }
}

/// Returns the device memory that a sort of a number of elements needs that only the device has, in
/// bytes. \throws cuda_error
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t quicksort_scratch_bytes(const device_count& n) {
  return detail::quicksort::counted_run<Key, Value, Compare>::scratch_bytes(n.upper_bound);
}

}  // namespace ramify::inline RAMIFY_BUILD
