// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What kernels of a run tell the host: the first error, and what was launched.

#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// Lives in device memory, starts as zeros, and is read by the host when the run is over.
struct run_status {
  static constexpr int name_capacity = 64;

  int error;             ///< first code that a launch from the device gave, or 0
  unsigned error_depth;  ///< depth of the grid that launched
  char error_kernel[name_capacity];
  unsigned deepest;                ///< level
  unsigned peak_slots;             ///< launch slots in use, of all runs
  unsigned long long child_grids;  ///< launched from the device
  unsigned long long spilled;      ///< tasks that found no slot
  unsigned long long dropped;      ///< tasks that found no room in a list; none may be

  /// Keeps the error if it is the first one. `kernel` is the launching kernel's __func__.
  __device__ void record_error(cudaError_t code, const char* kernel, unsigned depth) {
    if (atomicCAS(&error, 0, static_cast<int>(code)) != 0) return;
    error_depth = depth;
    int i = 0;
    for (; i < name_capacity - 1 && kernel[i] != '\0'; ++i) error_kernel[i] = kernel[i];
    error_kernel[i] = '\0';
  }

  /// The same for the code that a launch gave, success included, but not if the pool was empty:
  /// that is no error, the work is only done elsewhere.
  __device__ void record_failure(cudaError_t code, const char* kernel, unsigned depth) {
    if (code == cudaSuccess || code == cudaErrorLaunchPendingCountExceeded) return;
    record_error(code, kernel, depth);
  }

  /// Reports that tasks of level `depth` have run.
  __device__ void count_level(unsigned depth) { atomicMax(&deepest, depth); }

  /// Counts grids that were launched from the device, at `depth`.
  __device__ void count_children(unsigned count, unsigned depth) {
    if (count == 0) return;
    atomicAdd(&child_grids, static_cast<unsigned long long>(count));
    atomicMax(&deepest, depth);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
