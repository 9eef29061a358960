// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 2: small segments are sorted in place.
///
/// Changed    The base case: the thread that holds a segment of up to 32 keys sorts it by
///            insertion. Half of rung 1's grids had at most three keys.
/// Tree       As before, without its lower levels: one grid for some 16 keys, not for each key. The
///            depth is smaller by about ten.
/// Join       As before.
/// Cost       About a sixteenth of the launches. Insertion takes some 32 * 32 / 4 steps for 32
///            keys, quicksort 32 * 5. Insertion is still faster, because its steps are short and
///            local.

#include "1_one_thread.cuh"

namespace ladder::rung_2 {

constexpr unsigned threshold = 32;

// 1. Base case: sorts a segment by insertion. `from` and `to` may be the same array.
__device__ inline void insertion_sort(const std::uint32_t* from, std::uint32_t* to,
                                      const segment& s) {
  for (unsigned i = s.begin; i < s.end; ++i) {
    const std::uint32_t key = from[i];
    unsigned place = i;
    for (; place > s.begin && key < to[place - 1]; --place) to[place] = to[place - 1];
    to[place] = key;
  }
}

__global__ void sort_segment(std::uint32_t* keys, segment all, nested_grid self);

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
  while (stack.count > 0) {
    const segment s = stack.pop();
    if (s.size() <= threshold) {
      insertion_sort(keys, keys, s);
      continue;
    }
    const unsigned middle = rung_1::partition(keys, s);
    const two_halves halves({s.begin, middle, 0}, {middle, s.end, 0});
    for (const segment& half : {halves.larger, halves.smaller}) {
      // 2. A small half is not worth a launch, so this thread sorts it.
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

}  // namespace ladder::rung_2
