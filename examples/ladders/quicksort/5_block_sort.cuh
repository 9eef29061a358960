// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 5: a block sorts the leaves.
///
/// Changed    The base case: all threads of a block sort up to 2048 keys (a tile) in shared memory,
///            by CUB's BlockMergeSort. So the threshold can be 64 times as high.
/// Tree       Six levels fewer on average; one grid for more than a thousand keys.
/// Join       As before.
/// Cost       A leaf is read and written once, instead of by six levels; between, its keys are in
///            registers and shared memory. The launches no longer dominate. The top of the tree
///            does: the root's one block reads all keys alone, then two blocks do, then four.

#include "4_block_partition.cuh"

namespace ladder::rung_5 {

using rung_4::items;
using rung_4::positions;
using rung_4::threads;

constexpr unsigned leaf_size = rung_4::tile;

struct less {
  __device__ bool operator()(std::uint32_t a, std::uint32_t b) const { return a < b; }
};

using block_sort = block_merge_sort<std::uint32_t, threads, items>;

// 1. Base case: sorts a leaf into the caller's array. All threads of the block call it.
__device__ inline void sort_leaf(const double_buffer& keys, const segment& s) {
  __shared__ typename block_sort::TempStorage storage;
  std::uint32_t mine[items];
  for (unsigned i = 0; i < items; ++i) {
    // The order of the input does not matter, so neighboring threads read neighboring keys.
    const unsigned at = s.begin + i * threads + threadIdx.x;
    mine[i] = at < s.end ? keys[s.buffer][at] : ~0u;  // sorts last, and is not written
  }
  block_sort(storage).Sort(mine, less());
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = s.begin + threadIdx.x * items + i;
    if (at < s.end) keys.output[at] = mine[i];
  }
  __syncthreads();  // the next call reuses the storage
}

// 2. As before: split, and process the halves that were not launched. One thread calls
//    launch_for(half).
template <class LaunchFor>
__device__ void sort_by_block(const double_buffer& keys, const segment& all, LaunchFor launch_for) {
  __shared__ segment_stack stack;
  if (threadIdx.x == 0) stack.reset(all);
  __syncthreads();
  while (stack.count > 0) {
    const segment s = stack.list[stack.count - 1];
    __syncthreads();  // all threads have read the segment
    if (s.size() <= leaf_size) {
      sort_leaf(keys, s);
      if (threadIdx.x == 0) stack.pop();
    } else {
      const positions middle = rung_4::partition(keys, s);
      if (threadIdx.x == 0) {
        stack.pop();
        const two_halves halves({s.begin, middle.front, 1 - s.buffer},
                                {middle.back, s.end, 1 - s.buffer});
        for (const segment& half : {halves.larger, halves.smaller}) {
          if (half.size() <= leaf_size || !launch_for(half)) stack.push(half);
        }
      }
    }
    __syncthreads();
  }
}

__global__ void __launch_bounds__(threads)
    sort_segment(double_buffer keys, segment all, nested_grid self) {
  const traced here(self.trace, __func__);
  sort_by_block(keys, all, [&](const segment& half) {
    nested_grid child;
    if (!self.acquire_slot(child, 1)) return false;
    const auto launched = launch(sort_segment, {1, threads}, fire_and_forget(), keys, half, child);
    return child.check_launch(launched, "sort_segment");
  });
  if (threadIdx.x == 0) self.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const device_buffer<std::uint32_t> other(n, run.stream());
  run.launched(launch(sort_segment, {1, threads}, run.stream(), double_buffer{keys, other.data()},
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_5
