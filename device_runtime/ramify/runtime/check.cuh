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

}  // namespace ramify::inline RAMIFY_BUILD
