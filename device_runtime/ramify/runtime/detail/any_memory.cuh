// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Arrays of the caller that may be in device memory or in ordinary host memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/staging.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Returns an array of n inputs in memory that the device can access: `data` itself, or a copy of
/// an array in ordinary host memory. `copy` then owns it; it is in Ramify's pool. On return such an
/// array has been read. A run that is captured requires device memory. `name` is used in messages.
/// \throws std::invalid_argument if the array is null, misaligned or not accessible; cuda_error
template <class T>
[[nodiscard]] const T* input_on_device(const run_setup& setup, const T* data, std::size_t n,
                                       const char* name, std::shared_ptr<const void>& copy) {
  if (n == 0) return data;
  const std::string what = std::string(setup.algorithm) + ": " + name;
  if (data == nullptr) throw std::invalid_argument(what + " is null");
  check_alignment(data, alignof(T), what);
  if (setup.captured) {
    check_device_access(data, what.c_str());
    return data;
  }
  if (memory_of(data, what.c_str()) != cudaMemoryTypeUnregistered) return data;
  const auto memory = std::make_shared<device_buffer<T>>(n, setup.stream);
  copy_to_device(memory->data(), data, n * sizeof(T), setup.stream);
  copy = memory;
  return memory->data();
}

/// Checks an array of n outputs, which copy_results() writes. \throws std::invalid_argument
template <class T>
void check_results(const char* algorithm, const T* data, std::size_t n, const char* name) {
  if (n == 0) return;
  const std::string what = std::string(algorithm) + ": " + name;
  if (data == nullptr) throw std::invalid_argument(what + " is null");
  check_alignment(data, alignof(T), what);
}

/// Copies n results from device memory to memory of either kind, after the work that is in
/// `stream`. Waits for the copy. `doing` is used in messages. \throws cuda_error
template <class T>
void copy_results(T* to, const T* from, std::size_t n, cudaStream_t stream, const char* doing) {
  if (n == 0) return;
  if (memory_of(to, doing) == cudaMemoryTypeUnregistered) {
    copy_to_host(to, from, n * sizeof(T), stream);
  } else {
    check(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToDevice, stream), doing);
  }
  check(cudaStreamSynchronize(stream), doing);
}

/// Returns a number of elements of the caller. If only the device has it, waits for the stream.
/// \throws std::length_error if it exceeds its upper bound; cuda_error
inline std::size_t read_number(const char* algorithm, const element_count& count,
                               cudaStream_t stream) {
  if (!count.on_device()) return count.upper_bound;
  constexpr const char* doing = "reading a device_count";
  std::uint64_t raw = 0;
  if (count.bytes == 8) {
    raw = read_back(static_cast<const std::uint64_t*>(count.address), stream, doing);
  } else if (count.is_signed) {
    const auto number = read_back(static_cast<const std::int32_t*>(count.address), stream, doing);
    raw = static_cast<std::uint64_t>(std::int64_t{number});
  } else {
    raw = read_back(static_cast<const std::uint32_t*>(count.address), stream, doing);
  }
  count.check(algorithm, raw);
  return static_cast<std::size_t>(raw);
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
