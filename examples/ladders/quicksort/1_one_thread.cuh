// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 1: quicksort as in a textbook. The kernel launches itself where a function would call
/// itself.
///
/// Changed    Nothing yet. A grid of one thread splits a segment in two and launches a grid for
///            each half into the NULL stream of its block, which is the default stream of a launch.
/// Tree       Binary: one grid for each segment of two or more keys, so n - 1 grids in all. Its
///            depth is that of a random search tree, some 40 levels for 65,536 keys.
/// Join       None. The halves are sorted in place. The host waits for the root, which is complete
///            when all grids below it are complete. The NULL stream runs one grid after another:
///            the right half waits until the left half is complete. So only one of all these grids
///            runs at a time.
/// Cost       n log(n) comparisons, one after another, and n launches, each longer than the work of
///            most grids. A level reads and writes all keys once, and each thread waits for each
///            key.

#include "segment.cuh"

namespace ladder::rung_1 {

// 1. Split (Hoare's partition): keys not greater than the pivot, then keys not smaller. Neither
//    part is empty. Keys equal to the pivot stop both scans, so equal keys are split in the middle.
__device__ inline unsigned partition(std::uint32_t* keys, const segment& s) {
  const std::uint32_t pivot = keys[random_position(s)];
  unsigned left = s.begin;
  unsigned right = s.end - 1;
  for (;;) {
    while (keys[left] < pivot) ++left;
    while (pivot < keys[right]) --right;
    if (left >= right) return right + 1;
    const std::uint32_t key = keys[left];
    keys[left++] = keys[right];
    keys[right--] = key;
  }
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid self);

// 2. Recurse: launch a grid for a half if the quota has a free slot. Without the quota this would
//    be
//        sort_segment<<<1, 1>>>(keys, half, ...);
//    and fail at the first level with more grids than the pool has slots.
__device__ inline bool launch_for(std::uint32_t* keys, const segment& half,
                                  const nested_grid& self) {
  nested_grid child;
  if (!self.acquire_slot(child, 1)) return false;
  const auto launched = launch(sort_segment, {1, 1}, null_stream(), keys, half, child);
  return child.check_launch(launched, "sort_segment");
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid self) {
  const traced here(self.trace, __func__);
  segment_stack stack;
  stack.reset(all);
  // 3. This thread sorts the halves that got no slot.
  while (stack.count > 0) {
    const segment s = stack.pop();
    const unsigned middle = partition(keys, s);
    const two_halves halves({s.begin, middle, 0}, {middle, s.end, 0});
    for (const segment& half : {halves.larger, halves.smaller}) {
      // 4. Base case: one key.
      if (half.size() > 1 && !launch_for(keys, half, self)) stack.push(half);
    }
  }
  self.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  run.launched(launch(sort_segment, {1, 1}, run.stream(), keys,
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_1
