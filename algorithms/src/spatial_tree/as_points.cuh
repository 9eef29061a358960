// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// as_points(): the facade's points, as kernels read them.

#include <array>
#include <ramify/spatial_tree/geometry.cuh>
#include <span>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// Returns the same memory as points. Array is a std::array of coordinates, or const.
template <class Array>
auto as_points(std::span<Array> arrays) {
  using array = std::remove_const_t<Array>;
  using coordinates = point<typename array::value_type, std::tuple_size_v<array>>;
  using element = std::conditional_t<std::is_const_v<Array>, const coordinates, coordinates>;
  static_assert(sizeof(Array) == sizeof(element));
  return std::span<element>(reinterpret_cast<element*>(arrays.data()), arrays.size());
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
