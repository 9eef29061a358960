// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sorts whose kernels are in the library ramify::compiled_sorts. In a program that links it,
/// which has the definition RAMIFY_COMPILED_SORTS=1, the calls of <ramify/quicksort.cuh> for these
/// types, with n as a number, call the functions below, and the program's sources compile no kernel
/// for them.
///
/// The library has no new kernels for this: it sorts numbers as the facade does. 32-bit numbers and
/// 64-bit integers are sorted as their bits, so that there is one set of kernels for each size.
/// Doubles in descending order are not among these sorts, because as bits they take longer than in
/// kernels of their own.
///
/// All sources of a program that sort the same types need the same value of the definition, because
/// they share function templates. The objects of the library have no definition. They share a few
/// of these templates with the program: both forms need the same scratch memory and sort alike.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/tuning.cuh>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/build.hpp>
#include <ramify/runtime/environment.hpp>
#include <type_traits>

// A library may lack the kernels that record or check the rules, and has none for sources without
// -rdc=true. Such sources compile their own kernels.
#if !defined(RAMIFY_COMPILED_SORTS) || \
    (RAMIFY_ON_CUDA && (!RAMIFY_DEVICE_LAUNCH || RAMIFY_TRACE || RAMIFY_CHECK))
#undef RAMIFY_COMPILED_SORTS
#define RAMIFY_COMPILED_SORTS 0  ///< whether sorts of numbers have their kernels in the library
#endif

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Starts a sort; see start_sort(). The library defines it for each Held of the INSTANCES in
/// algorithms/CMakeLists.txt, and for no_value and unsigned integers of 32 and 64 bits as Value.
/// \param kind  the type of the numbers that are held as Held
template <class Held, class Value>
async_run<quicksort_report> start_compiled_sort(Held* keys, Value* values, std::size_t n,
                                                number_kind kind, ramify::sort_order order,
                                                const quicksort_options& options,
                                                const environment& env);

/// Returns the device memory that start_compiled_sort() needs, in bytes. The library defines it.
template <class Held, class Value>
[[nodiscard]] std::size_t compiled_sort_bytes(std::size_t n, const quicksort_options& options);

/// The unsigned integer of the size of a number, or void if the library has none.
template <class Number>
using compiled_word = std::conditional_t<
    std::is_arithmetic_v<Number> && sizeof(Number) == 4, std::uint32_t,
    std::conditional_t<std::is_arithmetic_v<Number> && sizeof(Number) == 8, std::uint64_t, void>>;

/// The sort of the library for the types of a call, if `exists`.
template <class Key, class Value, class Compare>
struct compiled_sort {
  /// The types as which the library sorts the keys and moves the values.
  using held = std::conditional_t<std::same_as<Key, double>, double, compiled_word<Key>>;
  using moved = std::conditional_t<std::same_as<Value, no_value>, no_value, compiled_word<Value>>;
  static constexpr bool descends = std::same_as<Compare, descending>;
  static constexpr bool has_order =
      descends ? !std::same_as<Key, double> : std::same_as<Compare, ascending>;
  static constexpr bool exists =
      RAMIFY_COMPILED_SORTS != 0 && has_order && !std::is_void_v<held> && !std::is_void_v<moved>;

  /// Starts the sort; see start_sort().
  [[nodiscard]] static async_run<quicksort_report> start(Key* keys, Value* values, std::size_t n,
                                                         const quicksort_options& options,
                                                         const environment& env) {
    constexpr auto kind = std::is_floating_point_v<Key> ? number_kind::floating_point
                          : std::is_signed_v<Key>       ? number_kind::signed_integer
                                                        : number_kind::unsigned_integer;
    constexpr auto order =
        descends ? ramify::sort_order::descending : ramify::sort_order::ascending;
    return start_compiled_sort(static_cast<held*>(static_cast<void*>(keys)),
                               static_cast<moved*>(static_cast<void*>(values)), n, kind, order,
                               options, env);
  }
  /// Returns the device memory that the sort needs, in bytes.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n, const quicksort_options& options) {
    return compiled_sort_bytes<held, moved>(n, options);
  }
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
