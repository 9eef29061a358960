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
/// Keys      Integers of 32 or 64 bits, float or double; values unsigned integers of 32 or 64 bits.
///           For other types and other orders use the header template <ramify/quicksort.cuh>.
/// Memory    Ordinary host memory; on the CUDA backend also pinned, managed or device memory. Host
///           memory is copied to the device and back; device and managed memory is sorted in place.
///           Keys and values must not overlap.
/// Order     Ascending or descending; a NaN counts as greater than every number. Not stable.
/// Stream    The sort is ordered after earlier work in environment::stream, also if the keys are in
///           device memory. All functions return after the keys are sorted.
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

enum class number_kind { unsigned_integer, signed_integer, floating_point };

/// An array of numbers whose type is known at run time.
struct number_array {
  void* data = nullptr;
  unsigned bytes = 0;  ///< of a number; 0: there is no array
  number_kind kind = number_kind::unsigned_integer;
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

/// Sorts n keys, and moves the values, if there are any, with them.
quicksort_report sort_numbers(const number_array& keys, const number_array& values, std::size_t n,
                              ramify::sort_order order, const quicksort_options& options,
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
  static_assert(quicksort_facade_key<std::ranges::range_value_t<Keys>>,
                "quicksort: keys must be integers of 32 or 64 bits, float or double; for other "
                "types use <ramify/quicksort.cuh>");
  return detail::quicksort::sort_numbers(detail::quicksort::numbers_of<Keys>(keys), {},
                                         std::ranges::size(keys), order, options, env);
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
  static_assert(quicksort_facade_key<std::ranges::range_value_t<Keys>>,
                "quicksort_pairs: keys must be integers of 32 or 64 bits, float or double; for "
                "other types use <ramify/quicksort.cuh>");
  static_assert(quicksort_facade_value<std::ranges::range_value_t<Values>>,
                "quicksort_pairs: values must be unsigned integers of 32 or 64 bits; for other "
                "types use <ramify/quicksort.cuh>");
  const std::size_t n = std::ranges::size(keys);
  detail::required_count{"quicksort_pairs", n, "keys"}.check(std::ranges::size(values), "values");
  detail::quicksort::check_overlap(std::ranges::data(keys), std::ranges::data(values), n);
  return detail::quicksort::sort_numbers(detail::quicksort::numbers_of<Keys>(keys),
                                         detail::quicksort::numbers_of<Values>(values), n, order,
                                         options, env);
}
/// Overload with the default options.
template <std::ranges::contiguous_range Keys, std::ranges::contiguous_range Values>
quicksort_report quicksort_pairs(Keys&& keys, Values&& values,
                                 sort_order order = sort_order::ascending,
                                 const environment& env = {}) {
  return quicksort_pairs(std::forward<Keys>(keys), std::forward<Values>(values), order,
                         quicksort_options{}, env);
}

}  // namespace ramify::inline RAMIFY_ABI
