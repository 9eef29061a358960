// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// element_count: how kernels read a number of elements that the host has passed, or that only the
/// device has.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/device_count.hpp>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A number of elements. The host knows at least its upper bound.
struct element_count {
  const void* address = nullptr;  ///< of the number in device memory; null: it is upper_bound
  unsigned bytes = 0;
  std::size_t upper_bound = 0;

  element_count() = default;
  explicit element_count(std::size_t n) : upper_bound(n) {}
  explicit element_count(const device_count& n)
      : address(n.address), bytes(n.bytes), upper_bound(n.upper_bound) {}

  /// Returns whether only the device has the number.
  [[nodiscard]] __host__ __device__ bool on_device() const { return address != nullptr; }

  /// Returns the number in device memory as it is. A negative number becomes a large one.
  [[nodiscard]] __device__ std::size_t raw() const {
    if (!on_device()) return upper_bound;
    return bytes == 4 ? std::size_t{*static_cast<const std::uint32_t*>(address)}
                      : std::size_t{*static_cast<const std::uint64_t*>(address)};
  }
  /// Returns whether the number exceeds its upper bound.
  [[nodiscard]] __device__ bool exceeds_bound() const { return raw() > upper_bound; }
  /// Returns the number of elements to process: the number, or 0 if it exceeds its upper bound.
  [[nodiscard]] __device__ std::size_t get() const {
    const std::size_t n = raw();
    return n > upper_bound ? 0 : n;
  }
};

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
