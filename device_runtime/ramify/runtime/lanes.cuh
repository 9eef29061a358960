// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reductions over the lanes of a full warp.

#include <cstring>
#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the reduction of the values of the lanes of a full warp, to all of them. `reduce` must
/// be associative and commutative. All lanes call it. It executes five shuffles for each 4-byte
/// word of a value.
template <class Value, class Reduce>
__device__ Value reduce_lanes(Value value, const Reduce& reduce) {
  constexpr unsigned lanes = 32;
  constexpr unsigned words = (sizeof(Value) + sizeof(unsigned) - 1) / sizeof(unsigned);
  for (unsigned apart = lanes / 2; apart > 0; apart /= 2) {
    unsigned bits[words] = {};
    memcpy(bits, &value, sizeof value);
    for (unsigned& word : bits) {
      word = __shfl_xor_sync(full_warp_mask, word, static_cast<int>(apart));
    }
    Value other = value;
    memcpy(&other, bits, sizeof other);
    value = reduce(value, other);
  }
  return value;
}

/// Whether a warp has instructions for the functions below. GPUs before Ampere have none.
#if !RAMIFY_ON_CUDA || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
#define RAMIFY_WARP_REDUCES 1
#else
#define RAMIFY_WARP_REDUCES 0
#endif

/// Returns the bitwise or of the values of the lanes of a full warp.
__device__ inline unsigned or_of_lanes(unsigned value) {
#if RAMIFY_WARP_REDUCES
  return __reduce_or_sync(full_warp_mask, value);
#else
  return reduce_lanes(value, [](unsigned a, unsigned b) { return a | b; });
#endif
}

/// Returns the sum of the values of the lanes of a full warp.
__device__ inline unsigned sum_of_lanes(unsigned value) {
#if RAMIFY_WARP_REDUCES
  return __reduce_add_sync(full_warp_mask, value);
#else
  return reduce_lanes(value, [](unsigned a, unsigned b) { return a + b; });
#endif
}

/// Returns the minimum of the values of the lanes of a full warp.
__device__ inline unsigned min_of_lanes(unsigned value) {
#if RAMIFY_WARP_REDUCES
  return __reduce_min_sync(full_warp_mask, value);
#else
  return reduce_lanes(value, [](unsigned a, unsigned b) { return b < a ? b : a; });
#endif
}
#undef RAMIFY_WARP_REDUCES

}  // namespace ramify::inline RAMIFY_BUILD
