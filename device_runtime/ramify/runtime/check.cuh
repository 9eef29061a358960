// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// check(): turns the error code of a CUDA call on the host into an exception.

#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/error.hpp>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Returns if `code` is cudaSuccess. \throws cuda_error with `doing` at the start of its message
inline void check(cudaError_t code, const char* doing) {
  if (code == cudaSuccess) return;
  static_cast<void>(
      cudaGetLastError());  // clears the error, so that no later call reports it again
  throw cuda_error(code, std::string(doing) + ": " + cudaGetErrorString(code) + " (" +
                             cudaGetErrorName(code) + ")");
}

/// Returns the number of the current device. \throws cuda_error
[[nodiscard]] inline int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "querying the current device");
  return device;
}

/// Makes a device current in the calling thread for the scope. The CPU executor has one device.
class [[nodiscard]] device_scope {
 public:
  /// \throws cuda_error
  explicit device_scope([[maybe_unused]] int device) : former_(current_device()) {
#if RAMIFY_ON_CUDA
    if (device == former_) return;
    check(cudaSetDevice(device), "setting the device");
    has_changed_ = true;
#endif
  }
  ~device_scope() {
#if RAMIFY_ON_CUDA
    if (has_changed_) static_cast<void>(cudaSetDevice(former_));
#endif
  }
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  int former_;
  bool has_changed_ = false;
};

}  // namespace ramify::inline RAMIFY_BUILD
