// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 7: many pivots at once.
///
/// Changed    A level splits each of its segments not into two but into 256 parts and, for keys
///            that equal a pivot, 255 more. The begin of each part is known after all keys have
///            been counted. So a level is two grids over all its segments, one row of blocks for
///            each:
///
///                count     Each block sorts a sample of 2048 keys; every 8th is a pivot. It finds
///                          the part of each of its keys by binary search, and counts.
///                scatter   A scan of the counts gives the begins of the parts. Each block moves
///                          its keys.
///
///            The last block of each row of scatter appends the parts to lists: large parts to the
///            segments of the next level, small parts, some neighbors merged, to the leaves. The
///            last block of the grid launches.
/// Tree       A chain with three grids a level: count and scatter, in order in one named stream,
///            and a grid for the new leaves. It is no longer a tree that follows the keys.
/// Join       As in rung 6, twice: the last block of a row, the last block of the grid. Scatter
///            begins when count is complete, because both are in one stream. If the quota has no
///            slot, the level waits, and the host launches it after all else is complete:
///            7_levels.cuh.
/// Cost       log256(n / 2048) levels, so two for 2^24 keys, each with two reads and one write of
///            the keys; and the leaves. Not yet optimized: each block of count sorts the sample
///            again; keys are written one by one to any position (the library lays a tile out in
///            shared memory first); and one block copies all keys of a part of equal keys to the
///            output.

#include "7_levels.cuh"

namespace ladder::rung_7 {

// 1. Sorts a sample. The first key of each thread is then a pivot. All threads of the block call
//    it.
__device__ inline void choose_pivots(std::uint32_t* pivots, const std::uint32_t* keys,
                                     const segment& s) {
  __shared__ typename rung_5::block_sort::TempStorage storage;
  std::uint32_t mine[items];
  RAMIFY_UNROLL
  for (unsigned i = 0; i < items; ++i) {
    mine[i] = keys[s.begin + hash(s.end ^ hash(threadIdx.x * items + i)) % s.size()];
  }
  rung_5::block_sort(storage).Sort(mine, rung_5::less());
  if (threadIdx.x > 0) pivots[threadIdx.x - 1] = mine[0];
  __syncthreads();
}

__device__ inline unsigned part_of(const std::uint32_t* pivots, std::uint32_t key) {
  unsigned smaller = 0;  // pivots less than the key
  for (unsigned step = ways / 2; step > 0; step /= 2) {
    if (pivots[smaller + step - 1] < key) smaller += step;
  }
  return 2 * smaller + (smaller < ways - 1 && pivots[smaller] == key ? 1 : 0);
}

__global__ void __launch_bounds__(threads) count(job j, unsigned level, nested_grid self) {
  const traced here(self.trace, __func__);
  __shared__ std::uint32_t pivots[ways - 1];
  __shared__ unsigned counts[parts];
  const segment s = j.segments[level % 2][blockIdx.x];
  split& row = j.splits[blockIdx.x];
  const std::uint32_t* from = j.keys[s.buffer];
  // All blocks of a row find the same pivots. One of them stores the pivots.
  choose_pivots(pivots, from, s);
  for (unsigned p = threadIdx.x; p < parts; p += threads) counts[p] = 0;
  __syncthreads();
  for (unsigned i = s.begin + blockIdx.y * threads + threadIdx.x; i < s.end;
       i += gridDim.y * threads) {
    atomicAdd(&counts[part_of(pivots, from[i])], 1u);
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts; p += threads) {
    if (counts[p] > 0) atomicAdd(&row.counts[p], counts[p]);
    if (blockIdx.y == 0 && p < ways - 1) row.pivots[p] = pivots[p];
  }
  if (threadIdx.x == 0) self.block_ends();
}

// 2. Moves the keys of a tile to their parts, which begin at `begins`. All threads of the block
//    call it.
__device__ inline void scatter_tile(const job& j, const segment& s, split& row,
                                    const std::uint32_t* pivots, const unsigned* begins,
                                    unsigned first) {
  __shared__ unsigned places[parts];  // counts of the parts, then positions
  std::uint32_t mine[items];
  unsigned part[items];
  unsigned rank[items];
  for (unsigned p = threadIdx.x; p < parts; p += threads) places[p] = 0;
  __syncthreads();
  RAMIFY_UNROLL
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = first + i * threads + threadIdx.x;
    if (at < s.end) {
      mine[i] = j.keys[s.buffer][at];
      part[i] = part_of(pivots, mine[i]);
      rank[i] = atomicAdd(&places[part[i]], 1u);
    }
  }
  __syncthreads();
  for (unsigned p = threadIdx.x; p < parts; p += threads) {
    if (places[p] > 0) places[p] = begins[p] + atomicAdd(&row.taken[p], places[p]);
  }
  __syncthreads();
  RAMIFY_UNROLL
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = first + i * threads + threadIdx.x;
    if (at < s.end) j.keys[1 - s.buffer][places[part[i]] + rank[i]] = mine[i];
  }
  __syncthreads();
}

__global__ void __launch_bounds__(threads) scatter(job j, unsigned level, nested_grid self) {
  const traced here(self.trace, __func__);
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  __shared__ std::uint32_t pivots[ways - 1];
  __shared__ unsigned begins[parts + 1];
  const segment s = j.segments[level % 2][blockIdx.x];
  split& row = j.splits[blockIdx.x];
  // The begins of the parts: two per thread, one in the last thread.
  const unsigned t = threadIdx.x;
  const unsigned even = row.counts[2 * t];
  const unsigned odd = t < ways - 1 ? row.counts[2 * t + 1] : 0;
  unsigned before = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(even + odd, before, all);
  begins[2 * t] = s.begin + before;
  begins[2 * t + 1] = s.begin + before + even;
  if (t < ways - 1) pivots[t] = row.pivots[t];
  __syncthreads();
  for (unsigned first = s.begin + blockIdx.y * tile; first < s.end; first += gridDim.y * tile) {
    scatter_tile(j, s, row, pivots, begins, first);
  }
  if (last_to_arrive(row.arrived, gridDim.y)) {
    if (t == 0) emit_children(j, s, level, begins);
    for (unsigned p = t; p < parts; p += threads) row.counts[p] = row.taken[p] = 0;
  }
  if (last_to_arrive(j.all->arrived, gridDim.x * gridDim.y) && t == 0) {
    j.all->segments[level % 2] = 0;  // the list after the next one
    launch_level(j, level + 1, self);
  }
  if (t == 0) self.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n > 1) run_levels(keys, n, run);
}

}  // namespace ladder::rung_7
