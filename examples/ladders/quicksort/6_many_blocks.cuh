// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 6: many blocks split a large segment.
///
/// Changed    A grid has a block for each tile of its segment. Where a tile's keys go, its block asks two counters
///            in global memory: how many smaller keys there are so far, and how many greater ones. The last
///            block to be done knows both parts. It launches a grid for each, and what is small it sorts itself.
/// Tree       As before, but a grid has as many blocks as its segment has tiles.
/// Join       The blocks of a grid do not wait for each other. Each counts itself when it is done, and the
///            one that is last goes on for all (the others have nothing left to do with the segment).
/// Cost       The whole GPU works on each level, from the first on. A level is as fast as memory allows where its
///            segments are long. But there are log2(n / 2048) levels and some more, as splits are uneven, and
///            each reads and writes all keys.

#include <ramify/runtime/tasks.cuh>

#include "5_block_sort.cuh"

namespace ladder::rung_6 {

using rung_4::room;
using rung_4::threads;
using rung_4::tile;
using rung_5::leaf_size;

// What the blocks of a segment share; zeros between segments. A segment of more than leaf_size keys has number
// begin / leaf_size for itself: no other one that is being split begins so near.
struct split {
  unsigned front;    // smaller keys so far
  unsigned back;     // greater ones
  unsigned arrived;  // blocks that are done
};

__device__ inline unsigned tiles_of(const segment& s) { return (s.size() + tile - 1) / tile; }

__global__ void sort_segment(two_arrays keys, split* splits, segment all, nested_grid me);

__device__ inline bool launch_for(const two_arrays& keys, split* splits, const segment& half,
                                  const nested_grid& me) {
  nested_grid child;
  if (!me.find_room(child, tiles_of(half))) return false;
  const auto launched =
      launch(sort_segment, {tiles_of(half), threads}, fire_and_forget(), keys, splits, half, child);
  return child.is_launched(launched, "sort_segment");
}

// 1. A block's part in a split: every `team`-th tile, from number `rank` on. Every thread of the block.
__device__ inline void partition_tiles(const two_arrays& keys, const segment& s, split& shared,
                                       std::uint32_t pivot, unsigned rank, unsigned team) {
  __shared__ room here;
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
    sort_segment(two_arrays keys, split* splits, segment all, nested_grid me) {
  const traced here(me.trace, __func__);
  __shared__ kept_segments kept;
  if (threadIdx.x == 0) kept.begin_with(all);
  __syncthreads();
  // 2. The grid's segment is split by all of its blocks; what is kept later, by the last one alone.
  unsigned rank = blockIdx.x;
  unsigned team = gridDim.x;
  while (kept.count > 0) {
    const segment s = kept.list[kept.count - 1];
    __syncthreads();  // all threads have looked
    if (threadIdx.x == 0) kept.pop();
    if (s.size() <= leaf_size) {
      rung_5::sort_leaf(keys, s);
      continue;
    }
    split& shared = splits[s.begin / leaf_size];
    const std::uint32_t pivot = keys[s.buffer][random_place(s)];
    partition_tiles(keys, s, shared, pivot, rank, team);
    // 3. All but the last block are done here. (They have read the pivot, too: it may be overwritten.)
    if (!last_to_arrive(shared.arrived, team)) break;
    rank = 0;
    team = 1;
    const room middle{s.begin + shared.front, s.end - shared.back};
    for (unsigned i = middle.front + threadIdx.x; i < middle.back; i += threads) {
      keys.home[i] = pivot;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      shared.front = 0;  // for the left half, which has the same number
      shared.back = 0;
      const two_halves halves({s.begin, middle.front, 1 - s.buffer},
                              {middle.back, s.end, 1 - s.buffer});
      for (const segment& half : {halves.larger, halves.smaller}) {
        if (half.size() <= leaf_size || !launch_for(keys, splits, half, me)) kept.push(half);
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) me.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const device_buffer<std::uint32_t> other(n, run.stream());
  const device_buffer<split> splits(n / leaf_size + 1, run.stream());
  check(cudaMemsetAsync(splits.data(), 0, splits.size() * sizeof(split), run.stream()),
        "clearing the counters");
  const segment all{0, static_cast<unsigned>(n), 0};
  const auto blocks = static_cast<unsigned>((n + tile - 1) / tile);
  run.launched(launch(sort_segment, {blocks, threads}, run.stream(), two_arrays{keys, other.data()},
                      splits.data(), all, run.root()));
}

}  // namespace ladder::rung_6
