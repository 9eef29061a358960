// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Block-wide and warp-wide algorithms.
///
/// Under nvcc the reductions and sorts are CUB's classes. On the CPU executor they are classes with
/// CUB's names, members and rules (ramify/cpu/collectives.hpp). A file that needs only prefix sums,
/// or only the functions on lanes, includes the header of these: nvcc needs seconds for CUB's
/// headers.

#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/lanes.cuh>
#include <ramify/runtime/no_value.hpp>
#include <ramify/runtime/prefix_sum.cuh>
#include <type_traits>

#if RAMIFY_ON_CUDA
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_reduce.cuh>
#endif

namespace ramify::inline RAMIFY_BUILD {

#if RAMIFY_ON_CUDA

/// A reduction over the threads of a block, with the members of cub::BlockReduce.
template <class T, int threads>
using block_reduce = cub::BlockReduce<T, threads>;

/// A merge sort over the threads of a block, with the members of cub::BlockMergeSort.
template <class Key, int threads, int items, class Value = no_value>
using block_merge_sort =
    cub::BlockMergeSort<Key, threads, items,
                        std::conditional_t<std::is_same_v<Value, no_value>, cub::NullType, Value>>;

#else

using cpu::block_reduce;

template <class Key, int threads, int items, class Value = no_value>
using block_merge_sort = cpu::block_merge_sort<Key, threads, items, Value>;

#endif

}  // namespace ramify::inline RAMIFY_BUILD
