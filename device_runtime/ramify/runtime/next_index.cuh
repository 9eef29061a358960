// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// next_index(): counts with one atomic operation for the lanes of a warp.

#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the former value of a counter, which it increments by one. The lanes that call it
/// together need one atomic operation.
[[nodiscard]] __device__ inline unsigned long long next_index(unsigned long long* counter) {
  const unsigned lanes = __activemask();
  const unsigned lane = threadIdx.x % warpSize;
  const int first = __ffs(static_cast<int>(lanes)) - 1;
  unsigned long long before = 0;
  if (lane == static_cast<unsigned>(first)) {
    before = atomicAdd(counter, static_cast<unsigned long long>(__popc(lanes)));
  }
  return __shfl_sync(lanes, before, first) + lanes_before(lanes, lane);
}

}  // namespace ramify::inline RAMIFY_BUILD
