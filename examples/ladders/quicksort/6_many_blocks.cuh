// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 6: many blocks split a large segment.
///
/// Changed    A grid has one block for each tile of its segment. A block reserves positions for the
///            keys of its tile with two counters in global memory: the smaller keys so far, and the
///            greater keys so far. After the last block to arrive, both parts are known. That block
///            launches a grid for each, and sorts small parts itself.
/// Tree       As before, but a grid has as many blocks as its segment has tiles.
/// Join       The blocks of a grid do not wait for each other. Each increments a counter when it is
///            done, and the last one continues for all (the others have no work left in the
///            segment).
/// Cost       The whole GPU works on each level, from the first on. Where segments are long, a
///            level is limited by memory bandwidth. But there are log2(n / 2048) levels, and some
///            more because splits are uneven, and each reads and writes all keys.

#include <ramify/runtime/tasks.cuh>

#include "5_block_sort.cuh"

namespace ladder::rung_6 {

using rung_4::positions;
using rung_4::threads;
using rung_4::tile;
using rung_5::leaf_size;

// The counters that the blocks of a segment share. They are zero between segments. A segment of
// more than leaf_size keys uses entry begin / leaf_size alone: no other segment that is being split
// begins so near.
struct split {
  unsigned front;    // smaller keys so far
  unsigned back;     // greater keys so far
  unsigned arrived;  // blocks that are done
};

__device__ inline unsigned tiles_of(const segment& s) { return (s.size() + tile - 1) / tile; }

__global__ void sort_segment(double_buffer keys, split* splits, segment all, nested_grid self);

__device__ inline bool launch_for(const double_buffer& keys, split* splits, const segment& half,
                                  const nested_grid& self) {
  nested_grid child;
  if (!self.acquire_slot(child, tiles_of(half))) return false;
  const auto launched =
      launch(sort_segment, {tiles_of(half), threads}, fire_and_forget(), keys, splits, half, child);
  return child.check_launch(launched, "sort_segment");
}

// 1. Splits every `team`-th tile, from tile `rank` on. All threads of the block call it.
__device__ inline void partition_tiles(const double_buffer& keys, const segment& s, split& shared,
                                       std::uint32_t pivot, unsigned rank, unsigned team) {
  __shared__ positions here;
  for (unsigned t = rank; t < tiles_of(s); t += team) {
    const auto reserve = [&](unsigned counts) {
      if (threadIdx.x == 0) {
        here.front = s.begin + atomicAdd(&shared.front, counts & 0xffff);
        here.back = s.end - atomicAdd(&shared.back, counts >> 16);
      }
      __syncthreads();
      return here;
    };
    rung_4::partition_tile(keys[s.buffer], keys[1 - s.buffer], pivot, s.begin + t * tile, s.end,
                           reserve);
  }
}

__global__ void __launch_bounds__(threads)
    sort_segment(double_buffer keys, split* splits, segment all, nested_grid self) {
  const traced here(self.trace, __func__);
  __shared__ segment_stack stack;
  if (threadIdx.x == 0) stack.reset(all);
  __syncthreads();
  // 2. All blocks split the segment of the grid. The last block alone processes its stack.
  unsigned rank = blockIdx.x;
  unsigned team = gridDim.x;
  while (stack.count > 0) {
    const segment s = stack.list[stack.count - 1];
    __syncthreads();  // all threads have read the segment
    if (threadIdx.x == 0) stack.pop();
    if (s.size() <= leaf_size) {
      rung_5::sort_leaf(keys, s);
      continue;
    }
    split& shared = splits[s.begin / leaf_size];
    const std::uint32_t pivot = keys[s.buffer][random_position(s)];
    partition_tiles(keys, s, shared, pivot, rank, team);
    // 3. All blocks except the last one end here. (All have read the pivot, so it may be
    //    overwritten.)
    if (!last_to_arrive(shared.arrived, team)) break;
    rank = 0;
    team = 1;
    const positions middle{s.begin + shared.front, s.end - shared.back};
    for (unsigned i = middle.front + threadIdx.x; i < middle.back; i += threads) {
      keys.output[i] = pivot;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      shared.front = 0;  // the left half uses the same entry
      shared.back = 0;
      const two_halves halves({s.begin, middle.front, 1 - s.buffer},
                              {middle.back, s.end, 1 - s.buffer});
      for (const segment& half : {halves.larger, halves.smaller}) {
        if (half.size() <= leaf_size || !launch_for(keys, splits, half, self)) stack.push(half);
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) self.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const device_buffer<std::uint32_t> other(n, run.stream());
  const device_buffer<split> splits(n / leaf_size + 1, run.stream());
  check(cudaMemsetAsync(splits.data(), 0, splits.size() * sizeof(split), run.stream()),
        "clearing the counters");
  const segment all{0, static_cast<unsigned>(n), 0};
  const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
  run.launched(launch(sort_segment, {blocks, threads}, run.stream(),
                      double_buffer{keys, other.data()}, splits.data(), all, run.root()));
}

}  // namespace ladder::rung_6
