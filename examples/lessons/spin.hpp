// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A kernel that runs for a given time, for the lessons on the host's streams. Only for a GPU.

#include "lesson.hpp"

namespace lesson {

/// Returns the time of the GPU in nanoseconds.
__device__ inline unsigned long long now() {
  unsigned long long nanoseconds = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

/// Runs for the given time, independent of all other work.
__global__ void spin(unsigned milliseconds) {
  const auto begin = now();
  while (now() - begin < milliseconds * 1'000'000ull) {
  }
}

/// Launches blocks of 1024 threads that run for the given time each.
inline void launch_spin(cudaStream_t stream, unsigned milliseconds, unsigned blocks = 1) {
  ramify::check(ramify::launch(spin, {blocks, 1024}, stream, milliseconds).code(),
                "launching a kernel");
}

/// Returns true if the stream has work that is not complete.
inline bool is_busy(cudaStream_t stream) {
  const cudaError_t status = cudaStreamQuery(stream);
  if (status != cudaErrorNotReady) ramify::check(status, "querying a stream");
  return status == cudaErrorNotReady;
}

}  // namespace lesson
