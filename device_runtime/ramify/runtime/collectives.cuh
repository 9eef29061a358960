// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Block-wide and warp-wide algorithms.
///
/// Under nvcc these are CUB's classes. On the CPU executor they are classes with CUB's names,
/// members and rules (ramify/cpu/collectives.hpp).

#include <cstring>
#include <ramify/runtime/cuda.hpp>

#if RAMIFY_ON_CUDA
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>
#else
#include <ramify/cpu/collectives.hpp>
#endif

namespace ramify::inline RAMIFY_BUILD {

#if RAMIFY_ON_CUDA

/// The warp-scans variant needs little shared memory. In a grid that a kernel launched, shared
/// memory decides how many blocks are resident (team.cuh).
template <class T, int threads>
using block_scan = cub::BlockScan<T, threads, cub::BLOCK_SCAN_WARP_SCANS>;

template <class T, int threads>
using block_reduce = cub::BlockReduce<T, threads>;

template <class T>
using warp_scan = cub::WarpScan<T>;

using no_value = cub::NullType;

template <class Key, int threads, int items, class Value = no_value>
using block_merge_sort = cub::BlockMergeSort<Key, threads, items, Value>;

#else

using cpu::block_scan;

using cpu::block_reduce;

using cpu::warp_scan;

using cpu::no_value;

template <class Key, int threads, int items, class Value = no_value>
using block_merge_sort = cpu::block_merge_sort<Key, threads, items, Value>;

#endif

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
