// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// run_status: what the kernels of a run report to the host: the first error, and counts of grids.

#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/error.hpp>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// The status of a run, in device memory. It starts as zeros, and the host reads it at the end.
struct run_status {
  static constexpr int name_capacity = 60;       ///< of a kernel, in bytes, with the final zero
  static constexpr unsigned not_launched = ~0u;  ///< depth of a kernel that was not launched

  int error;             ///< the first error code of a launch by a kernel, or 0
  unsigned error_depth;  ///< depth of the grid that launched; not_launched: see record_error()
  unsigned error_call;   ///< of a call from a kernel: the number of its plan plus 1, or 0
  char error_kernel[name_capacity];  ///< its kernel
  unsigned deepest;                  ///< maximum level of the grids and tasks
  unsigned peak_slots;               ///< maximum number of launch slots in use, by all runs
  unsigned long long child_grids;    ///< grids that kernels launched
  unsigned long long spilled;        ///< tasks that got no launch slot
  unsigned long long dropped;        ///< tasks that did not fit in a list; the host throws if any

  /// Stores the error if it is the first one. `kernel` is the launching kernel's __func__ or, if
  /// `depth` is not_launched, the name of the kernel that could not be launched.
  __device__ void record_error(cudaError_t code, const char* kernel, unsigned depth,
                               unsigned call = 0) {
    if (atomicCAS(&error, 0, static_cast<int>(code)) != 0) return;
    error_depth = depth;
    error_call = call;
    int i = 0;
    for (; i < name_capacity - 1 && kernel[i] != '\0'; ++i) error_kernel[i] = kernel[i];
    error_kernel[i] = '\0';
  }

  /// Stores the error of a launch, if it is the first one. It ignores cudaSuccess and a full
  /// pending-launch pool, which is no error of the run: the host launches the grid instead.
  __device__ void record_failure(cudaError_t code, const char* kernel, unsigned depth,
                                 unsigned call = 0) {
    if (code == cudaSuccess || code == cudaErrorLaunchPendingCountExceeded) return;
    record_error(code, kernel, depth, call);
  }

  /// Records that tasks of level `depth` have run.
  __device__ void count_level(unsigned depth) { atomicMax(&deepest, depth); }

  /// Counts grids at level `depth` that a kernel launched.
  __device__ void count_children(unsigned count, unsigned depth) {
    if (count == 0) return;
    atomicAdd(&child_grids, static_cast<unsigned long long>(count));
    atomicMax(&deepest, depth);
  }

  /// Checks that no launch by a kernel has failed. On the host. \throws device_launch_error
  void check_launches() const {
    if (error == 0) return;
    const auto code = static_cast<cudaError_t>(error);
    const std::string kernel = error_kernel;
    const unsigned depth = error_depth == not_launched ? 0 : error_depth;
    const std::string what =
        error_depth == not_launched
            ? "could not launch " + kernel
            : "a launch in kernel " + kernel + " at depth " + std::to_string(depth) + " failed";
    throw device_launch_error(
        error, kernel, depth,
        what + ": " + cudaGetErrorString(code) + " (" + cudaGetErrorName(code) + ")");
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
