// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 1: quicksort as in a textbook. Where a function would call itself, the kernel launches itself.
///
/// Changed    Nothing yet. A grid of one thread splits a segment in two and launches a grid for each half,
///            into the stream that a launch has when nobody names one: the NULL stream of its block.
/// Tree       Binary: a grid for each segment of two keys or more, so n - 1 grids in all. Its depth is that of
///            a random search tree, some 40 levels for 65,536 keys.
/// Join       None. The halves are sorted in place, and the host waits for the root, which is complete when
///            all grids below it are. But one stream runs one grid after the other: the right half waits until
///            the left one is complete. So of all these grids only one runs at a time.
/// Cost       n log(n) comparisons, one after another, and n launches, each longer than most grids' work.
///            A level reads and writes all keys once, and each thread waits for each key.

#include "segment.cuh"

namespace ladder::rung_1 {

// 1. Split (Hoare's way): keys not greater than the pivot, then keys not smaller; neither part is empty.
//    Keys equal to the pivot stop both ends, so that equal keys are split in the middle.
__device__ inline unsigned partition(std::uint32_t* keys, const segment& s) {
  const std::uint32_t pivot = keys[random_place(s)];
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

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid me);

// 2. Recurse: a grid for a half, if the quota has a slot for it. Without the quota this would be
//        sort_segment<<<1, 1>>>(keys, half, ...);
//    and the first level with more grids than the pool has places would be the end.
__device__ inline bool launch_for(std::uint32_t* keys, const segment& half, const nested_grid& me) {
  nested_grid child;
  if (!me.find_room(child, 1)) return false;
  const auto launched = launch(sort_segment, {1, 1}, null_stream(), keys, half, child);
  return child.is_launched(launched, "sort_segment");
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid me) {
  const traced here(me.trace, __func__);
  kept_segments kept;
  kept.begin_with(all);
  // 3. What finds no slot, this thread goes on with itself.
  while (kept.count > 0) {
    const segment s = kept.pop();
    const unsigned middle = partition(keys, s);
    const two_halves halves({s.begin, middle, 0}, {middle, s.end, 0});
    for (const segment& half : {halves.larger, halves.smaller}) {
      // 4. Base case: one key.
      if (half.size() > 1 && !launch_for(keys, half, me)) kept.push(half);
    }
  }
  me.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  run.launched(launch(sort_segment, {1, 1}, run.stream(), keys,
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_1
