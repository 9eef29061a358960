// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// check(): no CUDA call of the host goes unlooked at.

#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/error.hpp>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Throws cuda_error with `doing` in its message unless `code` is cudaSuccess.
inline void check(cudaError_t code, const char* doing) {
  if (code == cudaSuccess) return;
#if RAMIFY_ON_CUDA
  static_cast<void>(cudaGetLastError());  // told here: no later call shall be blamed for it
#endif
  throw cuda_error(code, std::string(doing) + ": " + cudaGetErrorString(code) + " (" +
                             cudaGetErrorName(code) + ")");
}

}  // namespace ramify::inline RAMIFY_BUILD
