// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Rung 4: a block splits a segment.
///
/// Changed    A grid is a block of 256 threads. They read a tile of the segment, a few keys each, and a scan
///            over the block tells each thread how many keys go to the front before its own, and how many to
///            the back. Threads cannot exchange keys in place, so keys go from one array to another and, a
///            level later, back again.
///
///                keys, pivot 5          [7 2 5 | 1 9 5]   two tiles
///                after the first tile   [2 . . . . 7]     smaller ones from the front, greater from the back
///                after the second       [2 1 . . 9 7]
///                what is left is 5      [2 1 5 5 9 7]     written straight into the caller's array
///
/// Tree       As before, and never deeper for equal keys: they are done. Where more segments are open at a time
///            than there are slots, fewer grids than before.
/// Join       As before; the threads of a block wait for one another at barriers.
/// Cost       At the top of the tree, where segments are long, 256 threads share what one did, and neighbours
///            read neighbouring keys. At its bottom 255 threads look on while one sorts 32 keys. A level reads
///            the keys once and writes them once.

#include <ramify/runtime/collectives.cuh>

#include "2_threshold.cuh"

namespace ladder::rung_4 {

using rung_2::threshold;

#if RAMIFY_ON_CUDA
constexpr unsigned threads = 256;
constexpr unsigned items = 8;  // keys of a tile that a thread has
#else
constexpr unsigned threads = 32;  // a block is one core's work
constexpr unsigned items = 16;
#endif
constexpr unsigned tile = threads * items;
static_assert(tile < 1u << 16);

// Where the next keys go: smaller ones to `front` and on, greater ones before `back`.
struct room {
  unsigned front;
  unsigned back;
};

// 1. Moves the keys of the tile that begins at `first`. reserve(counts) is called by every thread with what the
//    tile has, smaller keys in the lower half of the word, greater ones in the upper, and tells where they go.
template <class Reserve>
__device__ void partition_tile(const std::uint32_t* from, std::uint32_t* to, std::uint32_t pivot,
                               unsigned first, unsigned end, Reserve reserve) {
  using scan = block_scan<unsigned, threads>;
  __shared__ typename scan::TempStorage storage;
  std::uint32_t mine[items];
  unsigned counts = 0;
  for (unsigned i = 0; i < items; ++i) {
    const unsigned at = first + i * threads + threadIdx.x;
    mine[i] = at < end ? from[at] : pivot;  // what is equal is not moved
    counts += mine[i] < pivot ? 1 : mine[i] > pivot ? 1u << 16 : 0;
  }
  unsigned before = 0;
  unsigned all = 0;
  scan(storage).ExclusiveSum(counts, before, all);
  room next = reserve(all);
  next.front += before & 0xffff;
  next.back -= before >> 16;
  for (unsigned i = 0; i < items; ++i) {
    if (mine[i] < pivot) to[next.front++] = mine[i];
    if (mine[i] > pivot) to[--next.back] = mine[i];
  }
  __syncthreads();  // before the storage is used again
}

// 2. Splits a segment, and says what is left between both parts: the keys that equal the pivot, which are at home
//    then. Every thread of the block.
__device__ inline room partition(const two_arrays& keys, const segment& s) {
  const std::uint32_t pivot = keys[s.buffer][random_place(s)];
  room next{s.begin, s.end};  // the same in all threads
  for (unsigned first = s.begin; first < s.end; first += tile) {
    const auto reserve = [&](unsigned counts) {
      const room here = next;
      next.front += counts & 0xffff;
      next.back -= counts >> 16;
      return here;
    };
    partition_tile(keys[s.buffer], keys[1 - s.buffer], pivot, first, s.end, reserve);
  }
  for (unsigned i = next.front + threadIdx.x; i < next.back; i += threads) keys.home[i] = pivot;
  return next;
}

__global__ void sort_segment(two_arrays keys, segment all, nested_grid me);

__device__ inline bool launch_for(const two_arrays& keys, const segment& half,
                                  const nested_grid& me) {
  nested_grid child;
  if (!me.find_room(child, 1)) return false;
  const auto launched = launch(sort_segment, {1, threads}, fire_and_forget(), keys, half, child);
  return child.is_launched(launched, "sort_segment");
}

__global__ void __launch_bounds__(threads)
    sort_segment(two_arrays keys, segment all, nested_grid me) {
  const traced here(me.trace, __func__);
  __shared__ kept_segments kept;
  if (threadIdx.x == 0) kept.begin_with(all);
  __syncthreads();
  while (kept.count > 0) {
    const segment s = kept.list[kept.count - 1];
    __syncthreads();  // all threads have looked
    if (s.size() <= threshold) {
      if (threadIdx.x == 0) rung_2::insertion_sort(keys[s.buffer], keys.home, kept.pop());
    } else {
      const room middle = partition(keys, s);
      // 3. One thread launches for the block.
      if (threadIdx.x == 0) {
        kept.pop();
        const two_halves halves({s.begin, middle.front, 1 - s.buffer},
                                {middle.back, s.end, 1 - s.buffer});
        for (const segment& half : {halves.larger, halves.smaller}) {
          if (half.size() <= threshold || !launch_for(keys, half, me)) kept.push(half);
        }
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) me.block_ends();
}

inline void sort(std::uint32_t* keys, std::size_t n, ladder_run& run) {
  if (n < 2) return;
  const device_buffer<std::uint32_t> other(n, run.stream());
  run.launched(launch(sort_segment, {1, threads}, run.stream(), two_arrays{keys, other.data()},
                      segment{0, static_cast<unsigned>(n), 0}, run.root()));
}

}  // namespace ladder::rung_4
