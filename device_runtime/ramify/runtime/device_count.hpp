// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// device_count: a number of elements that only the device has. Plain C++.
///
///     const ramify::device_count nodes(selected, capacity);  // *selected nodes, at most capacity
///     const auto shape = ramify::tree_shape::of_parents({parents, capacity}, nodes);

#include <concepts>
#include <cstddef>
#include <ramify/version.hpp>
#include <type_traits>

// A kernel that calls an algorithm may make a device_count. (nvcc compiles this header, too.)
#if defined(__CUDACC__)
#define RAMIFY_HOST_DEVICE __host__ __device__
#else
#define RAMIFY_HOST_DEVICE
#endif

namespace ramify::inline RAMIFY_ABI {

/// The number of elements of an array, in device memory. A call that takes it reads the number in
/// the order of its stream, and never on the host. So a graph can capture the call, and each launch
/// of the graph processes another number of elements.
struct device_count {
  const void* address;      ///< of the number
  unsigned bytes;           ///< of the number: 4 or 8
  bool is_signed;           ///< whether the number may be negative
  std::size_t upper_bound;  ///< the arrays and the scratch memory have space for so many elements

  /// \param count  an integer of 4 or 8 bytes that the device can access. It must exist, and must
  ///               not change, while the grids of the call run: it must not be in an array that the
  ///               call writes, such as the keys of a sort.
  /// \param most   the upper bound: if the integer is greater, or negative, the call processes no
  ///               elements, and get() throws std::length_error. A call from a kernel is counted
  ///               in call_report::faulty instead.
  template <std::integral Integer>
  requires(sizeof(Integer) == 4 || sizeof(Integer) == 8) RAMIFY_HOST_DEVICE
      device_count(const Integer* count, std::size_t most)
      : address(count),
        bytes(sizeof(Integer)),
        is_signed(std::is_signed_v<Integer>),
        upper_bound(most) {}
};

}  // namespace ramify::inline RAMIFY_ABI

#undef RAMIFY_HOST_DEVICE
