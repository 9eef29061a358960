// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Prefix sums over the threads of a warp or a block.
///
/// The classes have the names, members and rules of CUB's, but only one function of each. They are
/// not CUB's, because nvcc needs longer for any header of CUB than for the whole runtime.

#include <ramify/runtime/cuda.hpp>
#include <type_traits>

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/collectives.hpp>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// Returns the sum of the values of the lanes up to and including this one, in a block with one
/// dimension. All lanes of a warp must call it.
template <class T>
[[nodiscard]] __device__ T sum_up_to_lane(T value) {
  static_assert(std::is_integral_v<T>, "the order of the additions is unspecified");
  const unsigned lane = threadIdx.x % 32;
  RAMIFY_UNROLL
  for (unsigned apart = 1; apart < 32; apart *= 2) {
    const T before = __shfl_up_sync(full_warp_mask, value, apart);
    if (lane >= apart) value += before;
  }
  return value;
}

#if RAMIFY_ON_CUDA

/// Prefix sums over the 32 lanes of a warp, in a block with one dimension. All lanes must call it.
template <class T>
class warp_scan {
 public:
  struct TempStorage {};

  /// Needs no storage.
  __device__ explicit warp_scan(TempStorage& /*storage*/) {}

  /// Computes the exclusive prefix sum over the lanes, and the sum of all.
  __device__ void ExclusiveSum(T input, T& output, T& total) const {
    const T inclusive = sum_up_to_lane(input);
    output = inclusive - input;
    total = __shfl_sync(full_warp_mask, inclusive, 31);
  }
};

/// Prefix sums over the threads of a block with one dimension. All threads must call it. A
/// __syncthreads() must come before the temporary storage is used again.
///
/// It needs little shared memory. In a grid that a kernel launched, shared memory decides how many
/// blocks are resident (team.cuh).
template <class T, int threads>
class block_scan {
  static_assert(threads % 32 == 0, "a block must consist of whole warps");
  static constexpr unsigned warps = threads / 32;

 public:
  /// Shared memory of the block.
  struct TempStorage {
    T of_warp[warps];  ///< totals of the warps
  };

  /// Uses this storage.
  __device__ explicit block_scan(TempStorage& storage) : storage_(storage) {}

  /// Computes the exclusive prefix sum over the threads, and the sum of all.
  ///
  ///     input <-- [1, 3, 0, 2]     output --> [0, 1, 4, 4]     total --> 6
  __device__ void ExclusiveSum(T input, T& output, T& total) const {
    const unsigned warp = threadIdx.x / 32;
    const T inclusive = sum_up_to_lane(input);
    if (threadIdx.x % 32 == 31) storage_.of_warp[warp] = inclusive;
    __syncthreads();
    T before = 0;  // the sum of the warps before this one
    total = 0;
    RAMIFY_UNROLL
    for (unsigned w = 0; w < warps; ++w) {
      if (w == warp) before = total;
      total += storage_.of_warp[w];
    }
    output = before + inclusive - input;
  }

 private:
  TempStorage& storage_;
};

#else

using cpu::block_scan;

using cpu::warp_scan;

#endif

}  // namespace ramify::inline RAMIFY_BUILD
