// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 2: small segments are finished in place.
///
/// Changed    The base case: up to 32 keys are sorted by the thread that has them, by insertion. Half of
///            rung 1's grids had no more than three keys.
/// Tree       As before, without its lower levels: a grid for some 16 keys instead of one for each, and its
///            depth is less by about ten.
/// Join       As before.
/// Cost       A sixteenth of the launches or so. Insertion takes some 32 * 32 / 4 steps for 32 keys instead
///            of 32 * 5, and is quicker all the same: its steps are short, and the keys are near.

#include "1_one_thread.cuh"

namespace ladder::rung_2 {

constexpr unsigned threshold = 32;

// 1. Base case. From one array into another, or into the same one.
__device__ inline void insertion_sort(const std::uint32_t* from, std::uint32_t* to,
                                      const segment& s) {
  for (unsigned i = s.begin; i < s.end; ++i) {
    const std::uint32_t key = from[i];
    unsigned place = i;
    for (; place > s.begin && key < to[place - 1]; --place) to[place] = to[place - 1];
    to[place] = key;
  }
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid me);

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
  while (kept.count > 0) {
    const segment s = kept.pop();
    if (s.size() <= threshold) {
      insertion_sort(keys, keys, s);
      continue;
    }
    const unsigned middle = rung_1::partition(keys, s);
    const two_halves halves({s.begin, middle, 0}, {middle, s.end, 0});
    for (const segment& half : {halves.larger, halves.smaller}) {
      // 2. A small half is not worth a launch: it stays with this thread.
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

}  // namespace ladder::rung_2
