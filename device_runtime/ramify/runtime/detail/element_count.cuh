// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// element_count: how kernels read a number of elements that the host has passed, or that only the
/// device has.
///
/// Each kernel of a run may read the number of the caller. Or the run reads it once: a grid of one
/// thread, read_count(), writes it to a counted_elements in the memory of the run, and the other
/// kernels read it there.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/device_count.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A number of elements as a run has read it, in the memory of the run.
struct counted_elements {
  std::uint64_t raw;  ///< the number of the caller, extended with its sign to 64 bits
  std::uint64_t n;    ///< the number of elements to process: 0 if `raw` exceeds its upper bound
};

/// A number of elements. The host has at least its upper bound. A function with a parameter of this
/// type takes a number of the host or a device_count.
struct element_count {
  const void* address = nullptr;  ///< of the number in device memory
  unsigned bytes = 0;             ///< of the number in device memory; 0: it is upper_bound
  bool is_signed = false;
  std::size_t upper_bound = 0;

  element_count() = default;
  __host__ __device__ element_count(std::size_t n) : upper_bound(n) {}
  __host__ __device__ element_count(const device_count& n)
      : address(n.address), bytes(n.bytes), is_signed(n.is_signed), upper_bound(n.upper_bound) {}
  /// The number that read_count() writes.
  element_count(const counted_elements* counted, std::size_t most)
      : address(&counted->n), bytes(sizeof counted->n), upper_bound(most) {}

  /// Returns whether only the device has the number.
  [[nodiscard]] __host__ __device__ bool on_device() const { return bytes != 0; }

  /// Returns the number as it is, extended with its sign. A negative number becomes a large one.
  [[nodiscard]] __device__ std::size_t raw() const {
    if (!on_device()) return upper_bound;
    if (bytes == 8) return *static_cast<const std::uint64_t*>(address);
    if (!is_signed) return *static_cast<const std::uint32_t*>(address);
    return static_cast<std::size_t>(std::int64_t{*static_cast<const std::int32_t*>(address)});
  }
  /// Returns whether the number exceeds its upper bound.
  [[nodiscard]] __device__ bool exceeds_bound() const { return raw() > upper_bound; }
  /// Returns the number of elements to process: the number, or 0 if it exceeds its upper bound.
  [[nodiscard]] __device__ std::size_t get() const {
    const std::size_t n = raw();
    return n > upper_bound ? 0 : n;
  }

  /// Checks a number that kernels have read. `call` begins the message. \throws std::length_error
  void check(const char* call, std::uint64_t number) const {
    if (number <= upper_bound) return;
    throw std::length_error(std::string(call) + ": the number of elements in device memory is " +
                            (is_negative(number) ? std::to_string(static_cast<std::int64_t>(number))
                                                 : std::to_string(number)) +
                            "; its upper bound is " + std::to_string(upper_bound));
  }

 private:
  [[nodiscard]] bool is_negative(std::uint64_t number) const {
    return is_signed && static_cast<std::int64_t>(number) < 0;
  }
};

/// Reads a number of elements for the later grids of a run. Launched with one thread. (A template,
/// because a header defines it: nvcc ignores `inline` on a kernel.)
template <class Count>
__global__ void read_count(Count count, counted_elements* to, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint64_t raw = count.raw();
  *to = {raw, raw > count.upper_bound ? 0 : raw};
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
