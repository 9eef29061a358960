// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 4: a block splits a segment.
///
/// Changed    A grid is a block of 256 threads. They read a tile of the segment, a few keys each. A
///            scan over the block gives each thread the number of keys before its own that go to
///            the front, and to the back. Threads cannot exchange keys in place, so keys move from
///            one array to the other and, one level later, back.
///
///                keys, pivot 5          [7 2 5 | 1 9 5]   two tiles
///                after the first tile   [2 . . . . 7]     smaller keys first, greater last
///                after the second       [2 1 . . 9 7]
///                the gap is filled      [2 1 5 5 9 7]     with 5, directly in the caller's array
///
/// Tree       As before, and not deeper for equal keys: they need no further split. If more
///            segments are pending than there are slots, there are fewer grids than before.
/// Join       As before. The threads of a block wait for one another at barriers.
/// Cost       At the top of the tree, where segments are long, 256 threads share the work of one,
///            and neighbors read neighboring keys. At the bottom 255 threads are idle while one
///            sorts 32 keys. A level reads the keys once and writes them once.

#include <ramify/runtime/collectives.cuh>

#include "2_threshold.cuh"

namespace ladder::rung_4 {

using rung_2::threshold;

#if RAMIFY_ON_CUDA
constexpr unsigned threads = 256;
constexpr unsigned items = 8;  // keys of a tile per thread
#else
constexpr unsigned threads = 32;  // one core runs a block
constexpr unsigned items = 16;
#endif
constexpr unsigned tile = threads * items;
static_assert(tile < 1u << 16);

// Positions of the next keys: smaller keys from `front` on, greater keys before `back`.
struct positions {
  unsigned front;
  unsigned back;
};

// 1. Moves the keys of the tile that begins at `first`. Every thread calls reserve(counts) with the
//    counts of the tile, smaller keys in the lower half of the word and greater keys in the upper
//    half. It returns their positions.
template <class Reserve>
__device__ void partition_tile(const std::uint32_t* from, std::uint32_t* to, std::uint32_t pivot,
                               unsigned first, unsigned end, Reserve reserve) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  std::uint32_t mine[items];
  unsigned counts = 0;
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = first + i * threads + threadIdx.x;
    mine[i] = at < end ? from[at] : pivot;  // keys equal to the pivot are not moved
    counts += mine[i] < pivot ? 1 : mine[i] > pivot ? 1u << 16 : 0;
  }
  unsigned before = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(counts, before, all);
  positions next = reserve(all);
  next.front += before & 0xffff;
  next.back -= before >> 16;
  for (unsigned i = 0; i < items; ++i) {
    if (mine[i] < pivot) to[next.front++] = mine[i];
    if (mine[i] > pivot) to[--next.back] = mine[i];
  }
  __syncthreads();  // the next call reuses the storage
}

// 2. Splits a segment. Returns the range between both parts: the keys that equal the pivot, which
//    are already in the output. All threads of the block call it.
__device__ inline positions partition(const double_buffer& keys, const segment& s) {
  const std::uint32_t pivot = keys[s.buffer][random_position(s)];
  positions next{s.begin, s.end};  // the same in all threads
  for (unsigned first = s.begin; first < s.end; first += tile) {
    const auto reserve = [&](unsigned counts) {
      const positions here = next;
      next.front += counts & 0xffff;
      next.back -= counts >> 16;
      return here;
    };
    partition_tile(keys[s.buffer], keys[1 - s.buffer], pivot, first, s.end, reserve);
  }
  for (unsigned i = next.front + threadIdx.x; i < next.back; i += threads) keys.output[i] = pivot;
  return next;
}

__global__ void sort_segment(double_buffer keys, segment all, nested_grid self);

__device__ inline bool launch_for(const double_buffer& keys, const segment& half,
                                  const nested_grid& self) {
  nested_grid child;
  if (!self.acquire_slot(child, 1)) return false;
  const auto launched = launch(sort_segment, {1, threads}, fire_and_forget(), keys, half, child);
  return child.check_launch(launched, "sort_segment");
}

__global__ void __launch_bounds__(threads)
    sort_segment(double_buffer keys, segment all, nested_grid self) {
  const traced here(self.trace, __func__);
  __shared__ segment_stack stack;
  if (threadIdx.x == 0) stack.reset(all);
  __syncthreads();
  while (stack.count > 0) {
    const segment s = stack.list[stack.count - 1];
    __syncthreads();  // all threads have read the segment
    if (s.size() <= threshold) {
      if (threadIdx.x == 0) rung_2::insertion_sort(keys[s.buffer], keys.output, stack.pop());
    } else {
      const positions middle = partition(keys, s);
      // 3. One thread launches for the block.
      if (threadIdx.x == 0) {
        stack.pop();
        const two_halves halves({s.begin, middle.front, 1 - s.buffer},
                                {middle.back, s.end, 1 - s.buffer});
        for (const segment& half : {halves.larger, halves.smaller}) {
          if (half.size() <= threshold || !launch_for(keys, half, self)) stack.push(half);
        }
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) self.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const device_buffer<std::uint32_t> other(n, run.stream());
  run.launched(launch(sort_segment, {1, threads}, run.stream(), double_buffer{keys, other.data()},
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_4
