// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The requirements on keys, values and comparators, each with its sentence for the compiler, and
/// checks of the other arguments.

#include <cstddef>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/segment.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/functor_types.hpp>
#include <stdexcept>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// States which requirements the types of a call meet.
template <class Key, class Value, class Compare>
struct argument_types {
  static constexpr bool changeable = !std::is_const_v<Key> && !std::is_const_v<Value>;
  static constexpr bool plain = is_plain<Key> && is_plain<Value>;
  static constexpr bool has_less =
      !orders_numbers<Compare> || requires(const Key& a, const Key& b) {
    static_cast<bool>(a < b);
  };
  static constexpr bool has_order =
      is_order_of_bits<Compare> || is_callable<bool, Compare, const Key&, const Key&>;
  static constexpr bool are_valid =
      changeable && plain && has_less && has_order && is_kernel_argument<Compare>;
};

/// Reports each requirement that the types do not meet by a sentence of the compiler.
template <class Key, class Value, class Compare>
struct checked_types : argument_types<Key, Value, Compare> {
  using types = argument_types<Key, Value, Compare>;
  static_assert(!std::is_const_v<Key>, "quicksort: the keys are const, but are sorted in place");
  static_assert(!std::is_const_v<Value>, "quicksort: the values are const, but move with the keys");
  static_assert(is_plain<Key>,
                "quicksort: keys must be trivially copyable and default-constructible, because "
                "kernels copy them bit by bit");
  static_assert(is_plain<Value>,
                "quicksort: values must be trivially copyable and default-constructible, because "
                "kernels copy them bit by bit");
  static_assert(types::has_less,
                "quicksort: keys of this type have no operator<; pass a comparator");
  static_assert(
      types::has_order,
      "quicksort: the comparator must have bool operator()(const Key&, const Key&) const");
  static_assert(is_kernel_argument<Compare>,
                "quicksort: the comparator must be trivially copyable, because it is an argument "
                "of kernels");
};

/// Checks the arrays of a sort of n elements. \throws std::invalid_argument, cuda_error
template <class Key, class Value>
void check_arrays(const Key* keys, const Value* values, std::size_t n) {
  if (n == 0) return;
  check_device_access(keys, "quicksort: keys");
  if constexpr (key_value_arrays<Key, Value>::has_values) {
    check_device_access(values, "quicksort: values");
    check_overlap(keys, values, n);
  }
}

/// Checks the number of elements, or its upper bound. \throws std::invalid_argument
inline void check_size(std::size_t n) {
  if (n >> 40 != 0) throw std::invalid_argument("quicksort: n must be less than 2^40");
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
