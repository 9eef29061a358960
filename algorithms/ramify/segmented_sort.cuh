// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts of many segments of an array at once, for CUDA code: device pointers, any type, any
/// comparator, any lengths.
///
///     keys     <-- [8, 6, 7, 5, 3, 0, 9]        offsets <-- [0, 3, 3, 7]
///     ramify::segmented_sort(keys, 7, offsets, offsets + 1, 3);
///     keys     --> [6, 7, 8, 0, 3, 5, 9]
///
/// Compiled by nvcc, it runs on the GPU. Compiled by a C++ compiler, it runs on the CPU executor.
/// For host memory, or for code that nvcc does not compile, use the facade
/// <ramify/segmented_sort.hpp>.
///
/// Keys, values   n elements each, sorted in place within each segment, of trivially copyable and
///                default-constructible types. Device, managed or pinned memory. Keys and values
///                must not overlap each other or the offsets.
/// Segments       Segment i is [begins[i], ends[i]). The offsets are integers of 32 or 64 bits in
///                memory that the device can access. Segments may be empty, may leave gaps, whose
///                elements do not change, and may be in any order. They must not overlap. The
///                number of segments is an integer, or a device_count.
/// Refused        A segment that is no range of [0, n), that overlaps the next one in the arrays,
///                or segments with more than n elements in all: the keys do not change, and get()
///                throws. Other overlaps are not seen: the behavior is then undefined.
/// Order          As of quicksort(): any strict weak order; the default orders NaN after all
///                numbers. Not stable. If the comparator is not a strict weak order, the result is
///                some permutation of each segment.
/// Scratch        As of a quicksort() of n elements, and a few per cent of the keys' memory; from
///                Ramify's stream-ordered pool or from the caller. segmented_sort_scratch_bytes()
///                returns its size.
/// Stream         The sort is ordered with all other work in the stream, and the host reads nothing
///                back. segmented_sort_async() returns without waiting. Work that enters the
///                stream after the call sees the sorted keys. get() waits and reports.
/// Capture        A graph can capture segmented_sort_async() on both routes if memory is handed in.
///                Each launch of the graph reads the offsets, and the number of segments if it is a
///                device_count. There is no loop in the graph. The run must exist as long as the
///                graph may be launched. get() may be called after each launch.
/// Launches       4 grids, and one more that completes an asynchronous sort. For segments that are
///                longer than a tile of a team, at most 5 grids for each level of partitioning: on
///                the flat route for the levels that n elements in one segment need, on the device
///                route, which is preferred, only for those that are necessary.
///                environment::flat_loop has no effect, because no graph has a loop.
/// Errors         std::invalid_argument for a bad argument; std::length_error if the number of
///                segments exceeds its upper bound; unavailable; cuda_error; device_launch_error.
/// Complexity     O(n log(length of the longest segment)) comparisons, and O(segments) reads.
/// Not for        A few segments of integers or of floats with 32 bits that are longer than some
///                million elements: cub::DeviceRadixSort for each one is faster.

#include <ramify/runtime/detail/requirements.hpp>

#include <cstddef>
#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/device_count.hpp>
#include <ramify/segmented_sort/calls.cuh>
#include <ramify/segmented_sort/config.hpp>
#include <ramify/segmented_sort/run.cuh>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// Checks the arrays of a call. \throws std::invalid_argument, cuda_error
template <class Key, class Value, class Offset>
void check_arrays(const quicksort::key_value_arrays<Key, Value>& data, std::size_t n,
                  const Offset* begins, const Offset* ends, const element_count& segments) {
  constexpr const char* name = "segmented_sort";
  const std::size_t count = segments.upper_bound;
  std::vector<argument_array> arrays;
  if (n > 0) {
    arrays.push_back(output_array(data.keys, n, "keys"));
    if constexpr (quicksort::key_value_arrays<Key, Value>::has_values) {
      arrays.push_back(output_array(data.values, n, "values"));
    }
  }
  arrays.push_back(input_array(begins, count, "begins"));
  arrays.push_back(input_array(ends, count, "ends"));
  check_device_access(name, arrays);
  check_overlaps(name, arrays);
}

/// Starts a sort; see segmented_sort_pairs_async().
template <class Key, class Value, class Offset, class Compare>
async_run<segmented_sort_report> start_sort(Key* keys, Value* values, std::size_t n,
                                            const Offset* begins, const Offset* ends,
                                            const element_count& segments, Compare compare,
                                            const environment& env) {
  using run = segmented_run<Key, Value, Compare, offset_arrays>;
  if (n >> 40 != 0) throw std::invalid_argument("segmented_sort: n must be less than 2^40");
  if (segments.upper_bound >> 40 != 0) {
    throw std::invalid_argument("segmented_sort: there must be less than 2^40 segments");
  }
  run_setup setup("segmented_sort", env);
  if (segments.upper_bound == 0 && segments.on_device()) {
    throw std::invalid_argument(
        "segmented_sort: the upper bound of the number of segments must not be 0");
  }
  if (segments.upper_bound == 0) {
    segmented_sort_report report;
    report.keys = n;
    return run_without_work(setup, report, "there are no segments");
  }
  setup.check_count(segments);
  check_arrays<Key, Value>({keys, values}, n, begins, ends, segments);
  return run::start(setup, {keys, values}, n, {begins, ends, segments}, compare);
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts to sort segments of n keys in place. What segmented_sort_pairs_async() states holds here,
/// too.
///
/// \param keys          an array of n elements that the device can access
/// \param begins, ends  arrays of `segments` offsets, or of the upper bound of a device_count
/// \param segments      the number of segments: an integer or a device_count
/// \param compare       returns whether its first argument must come before its second
/// \param env           its memory: segmented_sort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, detail::segmented_sort::offset_type Offset, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, no_value, Compare>,
               async_run<segmented_sort_report>>
segmented_sort_async(Key* keys, std::size_t n, const Offset* begins, const Offset* ends,
                     const detail::element_count& segments, Compare compare = {},
                     const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::segmented_sort::start_sort<Key, no_value>(keys, nullptr, n, begins, ends,
                                                             segments, compare, env);
  }
}

/// Starts to sort segments of n keys in place, and moves each value with its key. The arrays must
/// exist until get() has returned. A graph can capture the call; the head of this file states when.
///
/// \param keys, values  arrays of n elements that the device can access; they must not overlap
/// \param begins, ends  arrays of `segments` offsets, or of the upper bound of a device_count
/// \param segments      the number of segments: an integer or a device_count
/// \param compare       returns whether its first argument must come before its second
/// \param env           its memory: segmented_sort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Value, detail::segmented_sort::offset_type Offset,
          class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, Value, Compare>,
               async_run<segmented_sort_report>>
segmented_sort_pairs_async(Key* keys, Value* values, std::size_t n, const Offset* begins,
                           const Offset* ends, const detail::element_count& segments,
                           Compare compare = {}, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::segmented_sort::start_sort(keys, values, n, begins, ends, segments, compare,
                                              env);
  }
}

/// Sorts segments of n keys in place and waits for the sort: segmented_sort_async() and get().
/// \param env  its memory: segmented_sort_scratch_bytes()
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Key, detail::segmented_sort::offset_type Offset, class Compare = ascending>
segmented_sort_report segmented_sort(Key* keys, std::size_t n, const Offset* begins,
                                     const Offset* ends, const detail::element_count& segments,
                                     Compare compare = {}, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return segmented_sort_async(keys, n, begins, ends, segments, compare, detail::waiting(env))
        .get();
  }
}

/// Sorts segments of n keys in place, moves each value with its key, and waits for the sort:
/// segmented_sort_pairs_async() and get().
/// \param env  its memory: segmented_sort_scratch_bytes()
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Key, class Value, detail::segmented_sort::offset_type Offset,
          class Compare = ascending>
segmented_sort_report segmented_sort_pairs(Key* keys, Value* values, std::size_t n,
                                           const Offset* begins, const Offset* ends,
                                           const detail::element_count& segments,
                                           Compare compare = {}, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return segmented_sort_pairs_async(keys, values, n, begins, ends, segments, compare,
                                      detail::waiting(env))
        .get();
  }
}

/// Returns the device memory that a sort of n elements in any number of segments needs, in bytes.
/// Value is no_value for a sort of keys without values. \throws cuda_error
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t segmented_sort_scratch_bytes(std::size_t n, std::size_t segments) {
  using run = detail::segmented_sort::segmented_run<Key, Value, Compare,
                                                    detail::segmented_sort::offset_arrays>;
  return segments == 0 ? 0 : run::scratch_bytes(n);
}

}  // namespace ramify::inline RAMIFY_BUILD
