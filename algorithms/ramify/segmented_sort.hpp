// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts of many segments of an array at once, for plain C++: compiled code over contiguous ranges,
/// on the GPU or on the CPU executor.
///
///     std::vector<float> keys = ...;                  // {8, 6, 7, 5, 3, 0, 9}
///     std::vector<std::uint32_t> offsets = ...;       // {0, 3, 3, 7}
///     ramify::segmented_sort(keys, offsets);          // {6, 7, 8, 0, 3, 5, 9}
///
/// Keys      Integers of 32 or 64 bits, float or double; values unsigned integers of 32 or 64 bits.
///           For other types and other orders use the header template <ramify/segmented_sort.cuh>.
/// Segments  Segment i is [offsets[i], offsets[i + 1]): one offset more than segments. Offsets are
///           integers of 32 or 64 bits. They must not decrease; keys before the first and from the
///           last one on do not change.
/// Memory    Ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back; device and managed memory is sorted in place.
///           The ranges must not overlap.
/// Order     Ascending or descending; a NaN counts as greater than every number. Not stable.
/// Stream    The sort is ordered after earlier work in environment::stream. segmented_sort() and
///           segmented_sort_pairs() return after the keys are sorted; segmented_sort_async() and
///           segmented_sort_pairs_async() do not wait, as <ramify/segmented_sort.cuh> states under
///           "Stream". On the CUDA backend they require device, managed or pinned memory, also for
///           the offsets.
/// Capture   A graph can capture the functions that do not wait. Each launch of the graph reads the
///           offsets. If no memory is handed in, the run has memory of its own.
/// Errors    std::invalid_argument for a bad argument, also for offsets that decrease or exceed the
///           number of keys: then the keys do not change; unavailable for a backend or a route that
///           this machine or this build cannot run; cuda_error, device_launch_error.

#include <ramify/runtime/detail/requirements.hpp>

#include <concepts>
#include <cstddef>
#include <ramify/quicksort.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/segmented_sort/config.hpp>
#include <ramify/version.hpp>
#include <ranges>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_ABI {

/// The types of offsets.
template <class T>
concept segmented_sort_facade_offset = std::integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::segmented_sort::inline RAMIFY_ABI {

/// An array of offsets whose type is known at run time.
struct offset_range {
  const void* data;
  std::size_t size;  ///< one more than segments
  unsigned bytes;    ///< of an offset
  bool is_signed;
};

template <class Range>
[[nodiscard]] offset_range offsets_of(const Range& range) {
  using offset = std::ranges::range_value_t<Range>;
  static_assert(segmented_sort_facade_offset<offset>,
                "segmented_sort: offsets must be integers of 32 or 64 bits");
  return {std::ranges::data(range), std::ranges::size(range), sizeof(offset),
          std::is_signed_v<offset>};
}

/// Sorts segments of keys, and moves the values, if there are any, with them.
segmented_sort_report sort_segments(const quicksort::number_arrays& arrays,
                                    const offset_range& offsets, ramify::sort_order order,
                                    const environment& env);

/// Starts the sort that sort_segments() does.
async_run<segmented_sort_report> start_to_sort_segments(const quicksort::number_arrays& arrays,
                                                        const offset_range& offsets,
                                                        ramify::sort_order order,
                                                        const environment& env);

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Sorts each segment of keys in place. `keys` and `offsets` are contiguous ranges.
///
/// \param offsets  where each segment begins, and where the last one ends
/// \param env      its memory: run_report::scratch_bytes states how much a sort needs, and the sort
///                 allocates as much from a resource
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Offsets>
segmented_sort_report segmented_sort(Keys&& keys, const Offsets& offsets,
                                     sort_order order = sort_order::ascending,
                                     const environment& env = {}) {
  return detail::segmented_sort::sort_segments(detail::quicksort::arrays_of<Keys>(keys),
                                               detail::segmented_sort::offsets_of(offsets), order,
                                               env);
}

/// Sorts each segment of keys in place and moves each value with its key. All arguments are
/// contiguous ranges. Keys and values must have the same size and must not overlap.
///
/// \param offsets  where each segment begins, and where the last one ends
/// \param env      its memory: as for segmented_sort()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values,
          std::ranges::contiguous_range Offsets>
segmented_sort_report segmented_sort_pairs(Keys&& keys, Values&& values, const Offsets& offsets,
                                           sort_order order = sort_order::ascending,
                                           const environment& env = {}) {
  return detail::segmented_sort::sort_segments(
      detail::quicksort::arrays_of<Keys, Values>("segmented_sort_pairs", keys, values),
      detail::segmented_sort::offsets_of(offsets), order, env);
}

/// Starts to sort each segment of keys in place, and does not wait. Keys and offsets must exist
/// until get() has returned, or, if a graph captures the call, as long as the graph may be
/// launched; the run, too. Only get() states that an offset is bad; then the keys have not changed.
/// The CPU executor sorts the segments before the call returns.
///
/// \param offsets  where each segment begins, and where the last one ends
/// \param env      its memory: as for segmented_sort(). If it is empty and a graph captures the
///                 call, the run allocates memory, and frees it when it is destroyed.
/// \throws std::invalid_argument, also for ordinary host memory on the CUDA backend; unavailable,
///         cuda_error
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Offsets>
async_run<segmented_sort_report> segmented_sort_async(Keys&& keys, const Offsets& offsets,
                                                      sort_order order = sort_order::ascending,
                                                      const environment& env = {}) {
  return detail::segmented_sort::start_to_sort_segments(detail::quicksort::arrays_of<Keys>(keys),
                                                        detail::segmented_sort::offsets_of(offsets),
                                                        order, env);
}

/// Starts to sort each segment of keys in place and to move each value with its key, and does not
/// wait. What segmented_sort_async() states holds here, too, for all ranges.
///
/// \param offsets  where each segment begins, and where the last one ends
/// \param env      its memory: as for segmented_sort_async()
/// \throws as segmented_sort_pairs() and segmented_sort_async()
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values,
          std::ranges::contiguous_range Offsets>
async_run<segmented_sort_report> segmented_sort_pairs_async(
    Keys&& keys, Values&& values, const Offsets& offsets, sort_order order = sort_order::ascending,
    const environment& env = {}) {
  return detail::segmented_sort::start_to_sort_segments(
      detail::quicksort::arrays_of<Keys, Values>("segmented_sort_pairs_async", keys, values),
      detail::segmented_sort::offsets_of(offsets), order, env);
}

}  // namespace ramify::inline RAMIFY_ABI
