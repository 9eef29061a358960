// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort for plain C++: compiled code over contiguous ranges, on the GPU or on the CPU
/// executor.
///
///     std::vector<float> keys = ...;
///     const ramify::quicksort_report report = ramify::quicksort(keys);
///     std::cout << report;  // the backend, the route, and why they were chosen
///     ramify::quicksort(keys, ramify::sort_order::descending, {.route = ramify::route::flat});
///
///     const std::span<float> on_device = ...;  // device memory
///     auto run = ramify::quicksort_async(on_device, ramify::sort_order::ascending, {.stream = s});
///     const ramify::quicksort_report later = run.get();
///
/// Keys      Integers of 32 or 64 bits, float or double; values unsigned integers of 32 or 64 bits.
///           For other types and other orders use the header template <ramify/quicksort.cuh>.
/// Memory    Ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back; device and managed memory is sorted in place.
///           Keys and values must not overlap.
/// Order     Ascending or descending; a NaN counts as greater than every number. Not stable.
/// Stream    The sort is ordered after earlier work in environment::stream, also if the keys are in
///           device memory. quicksort() and quicksort_pairs() return after the keys are sorted;
///           quicksort_async() and quicksort_pairs_async() do not wait, as <ramify/quicksort.cuh>
///           states under "Stream". On the CUDA backend they require device, managed or pinned
///           memory.
/// Capture   A graph can capture the functions that do not wait, as <ramify/quicksort.cuh> states
///           under "Capture". If no memory is handed in, the run has memory of its own.
/// Errors    std::invalid_argument for a bad argument, and unavailable for a backend or a route
///           that this machine or this build cannot run, both before any memory is written;
///           cuda_error, device_launch_error. Copied host memory is written only after a successful
///           sort, unless it is sorted in parts.
/// Cost      That of <ramify/quicksort.cuh>. On the CUDA backend, host memory adds two copies,
///           whose times the report states separately. <ramify/runtime/staging.cuh> states how
///           pageable memory is copied.

#include <ramify/runtime/detail/requirements.hpp>

#include <concepts>
#include <cstddef>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <ranges>
#include <type_traits>
#include <utility>

namespace ramify::inline RAMIFY_ABI {

/// The key types that the facade sorts.
template <class T>
concept quicksort_facade_key = (std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8)) ||
                               std::same_as<T, float> || std::same_as<T, double>;
/// The value types that the facade moves.
template <class T>
concept quicksort_facade_value = std::unsigned_integral<T> &&(sizeof(T) == 4 || sizeof(T) == 8);

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::quicksort::inline RAMIFY_ABI {

/// An array of numbers whose type is known at run time.
struct number_array {
  void* data = nullptr;
  unsigned bytes = 0;  ///< of a number; 0: there is no array
  number_kind kind = number_kind::unsigned_integer;

  /// Returns the numbers as numbers of a type of the same size.
  template <class Number>
  [[nodiscard]] Number* as() const {
    return static_cast<Number*>(data);
  }
};

/// Returns the numbers of a range that is to be changed in place.
template <class Range>
[[nodiscard]] number_array numbers_of(Range& range) {
  using number = std::ranges::range_value_t<Range>;
  static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>,
                "quicksort sorts in place: the range must not be const");
  static_assert(std::ranges::borrowed_range<Range>,
                "quicksort sorts in place: the result in a temporary range would be lost");
  return {const_cast<number*>(std::ranges::data(range)), sizeof(number),
          std::is_floating_point_v<number> ? number_kind::floating_point
          : std::is_signed_v<number>       ? number_kind::signed_integer
                                           : number_kind::unsigned_integer};
}

/// The arrays of a sort.
struct number_arrays {
  number_array keys;
  number_array values;  ///< without memory if there are no values
  std::size_t n = 0;
};

/// Returns the keys of a sort. The range is to be changed in place.
template <class Keys>
[[nodiscard]] number_arrays arrays_of(Keys& keys) {
  static_assert(quicksort_facade_key<std::ranges::range_value_t<Keys>>,
                "keys must be integers of 32 or 64 bits, float or double; for other types use the "
                "header templates <ramify/quicksort.cuh> and <ramify/segmented_sort.cuh>");
  return {numbers_of<Keys>(keys), {}, std::ranges::size(keys)};
}
/// Returns the keys and the values of a sort. `algorithm` begins the message.
/// \throws std::invalid_argument if the ranges overlap or do not have the same size
template <class Keys, class Values>
[[nodiscard]] number_arrays arrays_of(const char* algorithm, Keys& keys, Values& values) {
  static_assert(quicksort_facade_value<std::ranges::range_value_t<Values>>,
                "values must be unsigned integers of 32 or 64 bits; for other types use the header "
                "templates <ramify/quicksort.cuh> and <ramify/segmented_sort.cuh>");
  number_arrays arrays = arrays_of<Keys>(keys);
  arrays.values = numbers_of<Values>(values);
  detail::required_count{algorithm, arrays.n, "keys"}.check(std::ranges::size(values), "values");
  check_overlap(std::ranges::data(keys), std::ranges::data(values), arrays.n);
  return arrays;
}

/// Sorts keys, and moves the values, if there are any, with them.
quicksort_report sort_numbers(const number_arrays& arrays, ramify::sort_order order,
                              const quicksort_options& options, const environment& env);

/// Starts the sort that sort_numbers() does.
async_run<quicksort_report> start_to_sort_numbers(const number_arrays& arrays,
                                                  ramify::sort_order order,
                                                  const quicksort_options& options,
                                                  const environment& env);

}  // namespace ramify::detail::quicksort::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Sorts keys in place. `keys` is a vector, an array, a span or any other contiguous range.
///
/// \param env  its memory: run_report::scratch_bytes states how much a sort needs, and the sort
///             allocates as much from a resource
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <std::ranges::contiguous_range Keys>
quicksort_report quicksort(Keys&& keys, sort_order order, const quicksort_options& options,
                           const environment& env = {}) {
  return detail::quicksort::sort_numbers(detail::quicksort::arrays_of<Keys>(keys), order, options,
                                         env);
}
/// Overload with the default options.
template <std::ranges::contiguous_range Keys>
quicksort_report quicksort(Keys&& keys, sort_order order = sort_order::ascending,
                           const environment& env = {}) {
  return quicksort(std::forward<Keys>(keys), order, quicksort_options{}, env);
}

/// Sorts keys in place and moves each value with its key. Both are contiguous ranges, which must
/// have the same size and must not overlap.
///
/// \param env  its memory: as for quicksort()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values>
quicksort_report quicksort_pairs(Keys&& keys, Values&& values, sort_order order,
                                 const quicksort_options& options, const environment& env = {}) {
  return detail::quicksort::sort_numbers(
      detail::quicksort::arrays_of<Keys, Values>("quicksort_pairs", keys, values), order, options,
      env);
}
/// Overload with the default options.
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values>
quicksort_report quicksort_pairs(Keys&& keys, Values&& values,
                                 sort_order order = sort_order::ascending,
                                 const environment& env = {}) {
  return quicksort_pairs(std::forward<Keys>(keys), std::forward<Values>(values), order,
                         quicksort_options{}, env);
}

/// Starts to sort keys in place, and does not wait. The keys must exist until get() has returned,
/// or, if a graph captures the call, as long as the graph may be launched; the run, too. The CPU
/// executor sorts the keys before the call returns.
///
/// \param env  its memory: as for quicksort(). If it is empty and a graph captures the call, the
///             run allocates memory, and frees it when it is destroyed.
/// \throws std::invalid_argument, also for options.device_memory, and on the CUDA backend for
///         ordinary host memory; unavailable, cuda_error
template <std::ranges::contiguous_range Keys>
async_run<quicksort_report> quicksort_async(Keys&& keys, sort_order order,
                                            const quicksort_options& options,
                                            const environment& env = {}) {
  return detail::quicksort::start_to_sort_numbers(detail::quicksort::arrays_of<Keys>(keys), order,
                                                  options, env);
}
/// Overload with the default options.
template <std::ranges::contiguous_range Keys>
async_run<quicksort_report> quicksort_async(Keys&& keys, sort_order order = sort_order::ascending,
                                            const environment& env = {}) {
  return quicksort_async(std::forward<Keys>(keys), order, quicksort_options{}, env);
}

/// Starts to sort keys in place and to move each value with its key, and does not wait. What
/// quicksort_async() states holds here, too, for both ranges.
///
/// \param env  its memory: as for quicksort_async()
/// \throws as quicksort_pairs() and quicksort_async()
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values>
async_run<quicksort_report> quicksort_pairs_async(Keys&& keys, Values&& values, sort_order order,
                                                  const quicksort_options& options,
                                                  const environment& env = {}) {
  return detail::quicksort::start_to_sort_numbers(
      detail::quicksort::arrays_of<Keys, Values>("quicksort_pairs_async", keys, values), order,
      options, env);
}
/// Overload with the default options.
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values>
async_run<quicksort_report> quicksort_pairs_async(Keys&& keys, Values&& values,
                                                  sort_order order = sort_order::ascending,
                                                  const environment& env = {}) {
  return quicksort_pairs_async(std::forward<Keys>(keys), std::forward<Values>(values), order,
                               quicksort_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
