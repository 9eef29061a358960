// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 3: both halves run at the same time.
///
/// Changed    One word: children are launched into the fire-and-forget stream. The two halves are
///            independent and need no order. (Two named streams, as in the samples of the CUDA
///            toolkit, would also work, but their creation costs time; see lessons 04 to 06.)
/// Tree       As before. But now its grids are pending at the same time, so the quota matters: half
///            of the pool, 1024 slots. A thread sorts the segments that get no slot.
/// Join       As before.
/// Cost       As many comparisons and launches as before, but in parallel. The critical path is
///            that of the root, whose one thread reads all keys, and of its halves: 2 n keys or
///            more, one after another.

#include "2_threshold.cuh"

namespace ladder::rung_3 {

using rung_2::threshold;

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid self);

__device__ inline bool launch_for(std::uint32_t* keys, const segment& half,
                                  const nested_grid& self) {
  nested_grid child;
  if (!self.acquire_slot(child, 1)) return false;
  const auto launched = launch(sort_segment, {1, 1}, fire_and_forget(), keys, half, child);
  return child.check_launch(launched, "sort_segment");
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid self) {
  const traced here(self.trace, __func__);
  segment_stack stack;
  stack.reset(all);
  while (stack.count > 0) {
    const segment s = stack.pop();
    if (s.size() <= threshold) {
      rung_2::insertion_sort(keys, keys, s);
      continue;
    }
    const unsigned middle = rung_1::partition(keys, s);
    const two_halves halves({s.begin, middle, 0}, {middle, s.end, 0});
    for (const segment& half : {halves.larger, halves.smaller}) {
      if (half.size() <= threshold || !launch_for(keys, half, self)) stack.push(half);
    }
  }
  self.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  run.launched(launch(sort_segment, {1, 1}, run.stream(), keys,
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_3
