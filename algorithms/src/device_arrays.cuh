// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What the halves of the facade share: the caller's arrays where kernels reach them, and limits.

#include <cstddef>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The pending-launch limit that was asked for, in force while this lives; none if it is 0.
[[nodiscard]] inline std::optional<launch_limits> scoped_pending_launches(std::size_t asked) {
  if (asked == 0) return std::nullopt;
  return std::optional<launch_limits>(std::in_place,
                                      launch_limit_values{.pending_launches = asked});
}

/// An array that kernels can work on: the caller's own, or a copy of it on the device.
template <class T>
class on_device {
 public:
  on_device(T* data, std::size_t n, [[maybe_unused]] cudaStream_t stream,
            [[maybe_unused]] const char* name)
      : caller_(data), n_(n) {
#if RAMIFY_ON_CUDA
    const cudaMemoryType kind = memory_of(data, name);
    if (kind == cudaMemoryTypeUnregistered || kind == cudaMemoryTypeHost) {
      copy_ = device_buffer<T>(n, stream);
      check(cudaMemcpyAsync(copy_.data(), data, n * sizeof(T), cudaMemcpyHostToDevice, stream),
            "copying to the device");
    }
#endif
  }

  [[nodiscard]] T* data() const { return copy_.data() == nullptr ? caller_ : copy_.data(); }

  void copy_back([[maybe_unused]] cudaStream_t stream) const {
    if (copy_.data() == nullptr) return;
    check(cudaMemcpyAsync(caller_, copy_.data(), n_ * sizeof(T), cudaMemcpyDeviceToHost, stream),
          "copying from the device");
  }

 private:
  T* caller_;
  std::size_t n_;
  device_buffer<T> copy_;
};

}  // namespace ramify::inline RAMIFY_BUILD
