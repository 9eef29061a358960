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
  throw cuda_error(code, std::string(doing) + ": " + cudaGetErrorString(code) + " (" +
                             cudaGetErrorName(code) + ")");
}

}  // namespace ramify::inline RAMIFY_BUILD
