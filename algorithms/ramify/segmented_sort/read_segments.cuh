// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first two grids: they clear the state of a run, check the segments of the caller, and sort
/// them out by length.

#include <ramify/quicksort/sample_sort_sizes.cuh>
#include <ramify/runtime/prefix_sum.cuh>
#include <ramify/segmented_sort/program.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// Clears the state of a run. All threads of one block call it.
template <class Program>
__device__ void begin_in_block(const Program& program) {
  quicksort::clear_state(program.sample_sort());
  if (threadIdx.x != 0) return;
  segment_findings& found = *program.findings;
  found.refused = segment_findings::none;
  found.elements = 0;
  found.counted = program.segments.counted();
  found.tiles = 0;
  found.tiles_taken = 0;
  found.chunks_taken = 0;
}

/// Clears the state of a run. Launched with one block.
template <class Program>
__global__ void begin_segmented_sort(Program program) {
  const traced here(program.trace, __func__);
  grid_dependency_synchronize();  // also allows the next grid to be scheduled
  begin_in_block(program);
}

/// The segments of a warp, one in each lane.
struct lane_segments {
  position index;     ///< of this lane's segment
  given_range range;  ///< empty if there is none, or if it is refused

  /// Reads the segments from `first` on, of `count`. All lanes of the warp must call it.
  template <class Segments>
  __device__ lane_segments(const Segments& segments, position first, position count)
      : index(first + threadIdx.x % 32) {
    if (index < count) range = segments[index];
  }

  /// Refuses what is no range of an array of n elements, and what overlaps the next segment. All
  /// lanes of the warp must call it.
  template <class Segments>
  __device__ void check(const Segments& segments, position n, position count,
                        segment_findings& found) {
    const bool exists = index < count;
    given_range next{__shfl_down_sync(full_warp_mask, range.begin, 1),
                     __shfl_down_sync(full_warp_mask, range.end, 1)};
    if (threadIdx.x % 32 == 31 && index + 1 < count) next = segments[index + 1];
    const bool is_range = range.is_within(n);
    if (exists && !is_range) {
      found.refuse(index, segment_findings::is_no_range);
    } else if (index + 1 < count && next.is_within(n) && range.overlaps(next)) {
      found.refuse(index, segment_findings::overlaps_next);
    }
    if (!is_range) range = {};
  }
};

/// Puts a segment that is longer than a tile into a list of the sample sort. A list is full only if
/// segments overlap, and then no grid sorts.
template <class Program>
__device__ void append_long_segment(const Program& program, const given_range& range) {
  const quicksort::segment s{range.begin, range.end, 1, 0, 0};
  if (s.size() > program.sizes.long_leaf) {
    static_cast<void>(program.list(1).push(s, quicksort::block_count(s, program.sizes)));
    return;
  }
  const position at = atomicAdd(&program.state->found.long_leaves, 1ull);
  if (at < program.list(1).capacity) program.long_leaves[at] = s;
}

/// Divides the middle-sized segments of a warp into tiles: as many consecutive ones as fit.
/// Segments of other lengths between them are in no tile. All lanes of the warp must call it.
template <class Program>
__device__ void append_tiles(const Program& program, position first, unsigned length) {
  constexpr auto capacity = static_cast<unsigned>(Program::sizes_of_tiles::leaf_size);
  const unsigned lane = threadIdx.x % 32;
  const unsigned end = sum_up_to_lane(length);
  unsigned left = __ballot_sync(full_warp_mask, length > 0);
  while (left != 0) {
    const auto from = static_cast<unsigned>(__ffs(static_cast<int>(left))) - 1;
    const unsigned begin = __shfl_sync(full_warp_mask, end - length, static_cast<int>(from));
    const unsigned fits = __ballot_sync(full_warp_mask, lane >= from && end - begin <= capacity);
    if (lane == 0) {
      const unsigned at = atomicAdd(&program.findings->tiles, 1u);
      const auto segments = static_cast<unsigned>(__popc(fits));
      if (at < program.tile_capacity) program.tiles[at] = (first + from) << 6 | segments;
    }
    left &= ~fits;
  }
}

/// Checks all segments, and appends those that are not small to lists.
template <class Program>
__global__ void __launch_bounds__(Program::sizes_of_tiles::read_threads)
    read_segments(Program program) {
  const traced here(program.trace, __func__);
  using sizes = typename Program::sizes_of_tiles;
  grid_dependency_synchronize();
  const position count = program.segments.size();
  const position n = program.root.end;
  const position warps = position{gridDim.x} * (blockDim.x / 32);
  // A sum that exceeds n, which is less than 2^40, is refused. With this limit, the sum of all
  // lanes, fewer than 2^20, does not wrap.
  constexpr position most = position{1} << 44;
  position elements = 0;
  for (position first = (position{blockIdx.x} * blockDim.x + threadIdx.x) / 32 * 32; first < count;
       first += 32 * warps) {
    // 1. Read 32 segments, and check them.
    lane_segments mine(program.segments, first, count);
    mine.check(program.segments, n, count, *program.findings);
    const position length = mine.range.end - mine.range.begin;
    elements = quicksort::least(elements + length, most);
    // 2. Append the longest ones to the lists of the sample sort.
    if (length > sizes::leaf_size) append_long_segment(program, mine.range);
    // 3. Divide the middle-sized ones into tiles.
    const bool is_middle = length > sizes::small_size && length <= sizes::leaf_size;
    append_tiles(program, first, is_middle ? static_cast<unsigned>(length) : 0);
  }
  // 4. Add up the lengths, so that overlaps are seen.
  elements = sum_up_to_lane(elements);
  if (threadIdx.x % 32 == 31 && elements > 0) atomicAdd(&program.findings->elements, elements);
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
