// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// device_count: a number of elements that only the device has. Plain C++.
///
///     ramify::quicksort_async(keys, ramify::device_count(selected, capacity), less, {.stream = s});

#include <concepts>
#include <cstddef>

namespace ramify {

/// The number of elements of an array, in device memory. A call that takes it reads the number in
/// the order of its stream, and never on the host. So a graph can capture the call, and each launch
/// of the graph processes another number of elements.
struct device_count {
  const void* address;      ///< of the number
  unsigned bytes;           ///< of the number: 4 or 8
  std::size_t upper_bound;  ///< the arrays and the scratch memory have space for so many elements

  /// \param count        an integer of 4 or 8 bytes that the device can access. It must exist, and
  ///                     must not change, while the grids of the call run.
  /// \param upper_bound  if the integer is greater, or negative, the call processes no elements,
  ///                     and get() throws std::length_error
  template <std::integral Integer>
  requires(sizeof(Integer) == 4 || sizeof(Integer) == 8)
      device_count(const Integer* count, std::size_t upper_bound)
      : address(count), bytes(sizeof(Integer)), upper_bound(upper_bound) {}
};

}  // namespace ramify
