// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 3: both halves at the same time.
///
/// Changed    One word: children are launched into the fire-and-forget stream. The two halves need nothing of
///            each other, so there is no reason for an order. (Two named streams, as in the samples of the CUDA
///            toolkit, would do as well, but take time to be made; see lessons 04 to 06.)
/// Tree       As before. But now its grids are open at the same time, so the quota counts: half of the pool,
///            1024 slots. What finds none stays with the thread that has it.
/// Join       As before.
/// Cost       As many comparisons and launches as before, side by side. The longest path is still that of the
///            root, whose one thread looks at all keys, and of its halves: 2 n keys or more, one after another.

#include "2_threshold.cuh"

namespace ladder::rung_3 {

using rung_2::threshold;

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid me);

__device__ inline bool launch_for(std::uint32_t* keys, const segment& half, const nested_grid& me) {
  nested_grid child;
  if (!me.find_room(child, 1)) return false;
  const auto launched = launch(sort_segment, {1, 1}, fire_and_forget(), keys, half, child);
  return child.is_launched(launched, "sort_segment");
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid me) {
  const traced here(me.trace, __func__);
  kept_segments kept;
  kept.begin_with(all);
  while (kept.count > 0) {
    const segment s = kept.pop();
    if (s.size() <= threshold) {
      rung_2::insertion_sort(keys, keys, s);
      continue;
    }
    const unsigned middle = rung_1::partition(keys, s);
    const two_halves halves({s.begin, middle, 0}, {middle, s.end, 0});
    for (const segment& half : {halves.larger, halves.smaller}) {
      if (half.size() <= threshold || !launch_for(keys, half, me)) kept.push(half);
    }
  }
  me.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  run.launched(launch(sort_segment, {1, 1}, run.stream(), keys,
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_3
