// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// check(): turns the error code of a CUDA call on the host into an exception. unique_handle: owns
/// what a CUDA call has created.

#include <memory>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/error.hpp>
#include <string>
#include <type_traits>

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

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Destroys a handle with the CUDA function `destroy`. A destructor must not throw, so it ignores
/// the error: the call fails only if the device has failed, and then the next call reports it.
template <auto destroy>
struct destroyed_by {
  template <class T>
  void operator()(T* handle) const {
    static_cast<void>(destroy(handle));
  }
};

/// An owning, move-only handle, or memory, that `destroy` destroys. A moved-from handle is null.
template <class Handle, auto destroy>
using unique_handle = std::unique_ptr<std::remove_pointer_t<Handle>, destroyed_by<destroy>>;

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
