// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 5: a block sorts the leaves.
///
/// Changed    The base case: up to 2048 keys (a tile) are sorted by all threads of a block in shared memory, by
///            CUB's BlockMergeSort. So the threshold may be 64 times as high.
/// Tree       Six levels less on average; a grid for more than a thousand keys.
/// Join       As before.
/// Cost       A leaf is read and written once, where six levels did so before; between, its keys are in registers
///            and shared memory. The launches are no longer what counts. The top of the tree is: the root's one
///            block reads all keys alone, then two blocks do, then four.

#include "4_block_partition.cuh"

namespace ladder::rung_5 {

using rung_4::items;
using rung_4::room;
using rung_4::threads;

constexpr unsigned leaf_size = rung_4::tile;

struct comes_before {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};

using block_sort = block_merge_sort<std::uint32_t, threads, items>;

// 1. Base case: a leaf, into the caller's array. Every thread of the block.
__device__ inline void sort_leaf(const two_arrays& keys, const segment& s) {
  __shared__ typename block_sort::TempStorage storage;
  std::uint32_t mine[items];
  for (unsigned i = 0; i < items; ++i) {
    // In what order keys come to be sorted does not matter: neighbours read neighbours.
    const unsigned at = s.begin + i * threads + threadIdx.x;
    mine[i] = at < s.end ? keys[s.buffer][at] : ~0u;  // comes last, and is not written
  }
  block_sort(storage).Sort(mine, comes_before());
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = s.begin + threadIdx.x * items + i;
    if (at < s.end) keys.home[at] = mine[i];
  }
  __syncthreads();  // before the storage is used again
}

// 2. As before: split, and go on with what is not launched. launch_for(half) is called by one thread.
template <class LaunchFor>
__device__ void sort_by_block(const two_arrays& keys, const segment& all, LaunchFor launch_for) {
  __shared__ kept_segments kept;
  if (threadIdx.x == 0) kept.begin_with(all);
  __syncthreads();
  while (kept.count > 0) {
    const segment s = kept.list[kept.count - 1];
    __syncthreads();  // all threads have looked
    if (s.size() <= leaf_size) {
      sort_leaf(keys, s);
      if (threadIdx.x == 0) kept.pop();
    } else {
      const room middle = rung_4::partition(keys, s);
      if (threadIdx.x == 0) {
        kept.pop();
        const two_halves halves({s.begin, middle.front, 1 - s.buffer},
                                {middle.back, s.end, 1 - s.buffer});
        for (const segment& half : {halves.larger, halves.smaller}) {
          if (half.size() <= leaf_size || !launch_for(half)) kept.push(half);
        }
      }
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads)
    sort_segment(two_arrays keys, segment all, nested_grid me) {
  const traced here(me.trace, __func__);
  sort_by_block(keys, all, [&](const segment& half) {
    nested_grid child;
    if (!me.find_room(child, 1)) return false;
    const auto launched = launch(sort_segment, {1, threads}, fire_and_forget(), keys, half, child);
    return child.is_launched(launched, "sort_segment");
  });
  if (threadIdx.x == 0) me.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const device_buffer<std::uint32_t> other(n, run.stream());
  run.launched(launch(sort_segment, {1, threads}, run.stream(), two_arrays{keys, other.data()},
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_5
