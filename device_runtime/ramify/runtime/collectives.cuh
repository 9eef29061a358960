// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Block-wide and warp-wide algorithms.
///
/// Under nvcc these are CUB's classes. On the CPU executor they are classes with CUB's names,
/// members and rules (ramify/cpu/collectives.hpp).

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

}  // namespace ramify::inline RAMIFY_BUILD
