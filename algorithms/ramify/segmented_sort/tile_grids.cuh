// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grids that sort tiles of small and of middle-sized segments in place.

#include <ramify/segmented_sort/lane_sort.cuh>
#include <ramify/segmented_sort/read_segments.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// Sorts the small segments of a warp: tiny ones at once, and others in a tile, when it is full.
/// All lanes of the warp must make the same calls.
template <class Program>
struct small_collector {
  using sort = typename Program::small_sort;
  using sizes = typename Program::sizes_of_tiles;
  using tiny_sort = lane_sort<typename Program::code, typename Program::value,
                              sizes::lane_items == 0 ? 1 : sizes::lane_items>;
  static_assert(sizes::lane_items == 0 || sizeof(typename Program::code) * tiny_sort::size <=
                                              sizeof(sort::storage::elements.keys));

  const Program& program;
  typename sort::storage& shared;
  const warp_team& self;
  typename sort::tile_size size{};

  /// Sorts 32 segments, if all of them are tiny. Otherwise adds the small ones to the tile. Sorts
  /// the tile when it is full, and after the last segments.
  __device__ void add(const lane_segments& mine, bool are_last) {
    const position length = mine.range.end - mine.range.begin;
    // A segment of one element stays where it is, but keeps the others consecutive.
    const bool is_small = length > 0 && length <= sizes::small_size;
    const unsigned own = is_small ? static_cast<unsigned>(length) : 0;
    const unsigned end = sum_up_to_lane(own);
    const unsigned count = __shfl_sync(full_warp_mask, end, 31);
    if (count == 0 && !are_last) return;
    if constexpr (sizes::lane_items > 0) {
      if (!are_last && __all_sync(full_warp_mask, own <= sizes::lane_items ? 1 : 0) != 0) {
        tiny_sort::sort(self, shared.elements.view(), {mine.range.begin, end - own, own}, count,
                        program.buffers.output, program.compare);
        return;
      }
    }
    for (unsigned from = 0; from < 32;) {
      from += add_from(from, end - own, own, mine.range.begin);
      if (from == 32 && size.segments + 32 <= sizes::small_segments && !are_last) break;
      if (size.segments > 0) {
        sort::sort(self, shared, size, program.buffers.output, program.compare);
      }
      size = {};
    }
  }

 private:
  /// Adds the segments of lane `from` and of the lanes after it that fit. `before` is the sum of
  /// the lengths in the lanes before this one. Returns the number of lanes.
  __device__ unsigned add_from(unsigned from, unsigned before, unsigned own, position begin) {
    const unsigned added = __shfl_sync(full_warp_mask, before, static_cast<int>(from));
    const unsigned at = size.elements + before - added;
    const unsigned fits =
        __ballot_sync(full_warp_mask, self.rank >= from && at + own <= sort::capacity);
    const bool is_added = (fits >> self.rank & 1) != 0 && own > 0;
    const unsigned with_segment = __ballot_sync(full_warp_mask, is_added);
    if (is_added) {
      sort::put(shared, size.segments + lanes_before(with_segment, self.rank), at, begin);
    }
    size.segments += static_cast<unsigned>(__popc(with_segment));
    if (fits == 0) return 0;
    const int last = 31 - __clz(static_cast<int>(fits));
    size.elements = __shfl_sync(full_warp_mask, at + own, last);
    return static_cast<unsigned>(__popc(fits));
  }
};

/// Sorts the small segments. Warps fetch chunks of segments dynamically, because segments differ in
/// length.
template <class Program>
__global__ void __launch_bounds__(32 * Program::sizes_of_tiles::small_teams,
                                  Program::sizes_of_tiles::small_blocks)
    sort_small_segments(Program program) {
  const traced here(program.trace, __func__);
  using storage = typename Program::small_sort::storage;
  grid_dependency_synchronize();
  if (program.refuses()) return;
  const warp_team self;
  const position count = program.segments.size();
  const unsigned warps = gridDim.x * program.first_round.small_teams;
  // A chunk is a multiple of 32 segments. There are several chunks for each warp.
  constexpr position most = 2048;
  const position chunk = min(count / (position{warps} * 8), most) / 32 * 32 + 32;
  small_collector<Program> tile{program, (&dynamic_shared<storage>())[self.index], self};
  position number = position{self.index} * gridDim.x + blockIdx.x;
  position first = number * chunk;
  for (bool is_end = false; !is_end;) {
    is_end = first >= count;
    tile.add({program.segments, first, count}, is_end);
    first += 32;
    if (first < (number + 1) * chunk || is_end) continue;
    unsigned fetched = 0;
    if (self.rank == 0) fetched = warps + atomicAdd(&program.findings->chunks_taken, 1u);
    number = __shfl_sync(full_warp_mask, fetched, 0);
    first = number * chunk;
  }
}

/// Sorts the tiles of middle-sized segments; each block sorts one tile at a time. The last block
/// ends the round: it launches the grids of the next one.
template <class Program>
__global__ void __launch_bounds__(Program::sizes_of_tiles::middle_threads,
                                  Program::sizes_of_tiles::middle_blocks)
    sort_middle_segments(Program program) {
  const traced here(program.trace, __func__);
  using sizes = typename Program::sizes_of_tiles;
  using sort = typename Program::middle_sort;
  struct tile_number {
    unsigned next;
    typename sort::tile_size size;
  };
  __shared__ tile_number tile;
  auto& shared = dynamic_shared<typename sort::storage>();
  const block_team<sizes::middle_threads, 1> self;
  grid_dependency_synchronize();
  const bool refuses = program.refuses();
  const unsigned tiles = refuses ? 0 : program.findings->tiles;
  const position count = program.segments.size();
  for (unsigned number = blockIdx.x; number < tiles; number = tile.next) {
    self.sync();
    if (self.rank < 32) {
      // 1. The first warp reads the tile's segments.
      const unsigned long long first_and_lanes = program.tiles[number];
      const lane_segments mine(program.segments, first_and_lanes >> 6, count);
      const position length = mine.range.end - mine.range.begin;
      const bool is_in_tile = self.rank < first_and_lanes % 64 && length > sizes::small_size &&
                              length <= sizes::leaf_size;
      const unsigned own = is_in_tile ? static_cast<unsigned>(length) : 0;
      const unsigned end = sum_up_to_lane(own);
      const unsigned lanes = __ballot_sync(full_warp_mask, is_in_tile);
      if (is_in_tile)
        sort::put(shared, lanes_before(lanes, self.rank), end - own, mine.range.begin);
      if (self.rank == 31) tile.size = {static_cast<unsigned>(__popc(lanes)), end};
      if (self.rank == 0) tile.next = gridDim.x + atomicAdd(&program.findings->tiles_taken, 1u);
    }
    self.sync();
    // 2. All threads sort it.
    sort::sort(self, shared, tile.size, program.buffers.output, program.compare);
  }
  // 3. If segments are refused, nothing is left to do.
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  if (refuses) {
    program.state->segments[1] = 0;
    program.state->found.long_leaves = 0;
  }
  quicksort::end_level<true>(program.sample_sort(), __func__);
}

/// Round 0 of a sort of few segments. Its one block sorts those that fit in a tile, and appends the
/// others to a list. It ends the round: it launches the grids of the next one.
template <class Program>
__global__ void __launch_bounds__(Program::sizes_of_tiles::middle_threads)
    begin_few_segments(Program program) {
  const traced here(program.trace, __func__);
  using sizes = typename Program::sizes_of_tiles;
  using sort = typename Program::middle_sort;
  auto& shared = dynamic_shared<typename sort::storage>();
  const block_team<sizes::middle_threads, 1> self;
  // 1. Clear the state. Thread 0 does that, and appends to the lists.
  grid_dependency_synchronize();
  unsigned long long merge_sorted = 0;
  if (self.rank == 0 && program.segments.follows) merge_sorted = program.state->merge_sorted;
  begin_in_block(program);
  if (self.rank == 0) program.state->merge_sorted = merge_sorted;
  // 2. Sort the segments, or let the next rounds do it.
  const position count = program.segments.size();
  for (position i = 0; i < count; ++i) {
    const given_range mine = program.segments[i];
    const position length = mine.end - mine.begin;
    self.sync();
    if (self.rank == 0) {
      program.findings->elements += length;
      sort::put(shared, 0, 0, mine.begin);
    }
    self.sync();
    if (length > sizes::leaf_size) {
      if (self.rank == 0) append_long_segment(program, mine);
    } else if (length > 1) {
      sort::sort(self, shared, {1, static_cast<unsigned>(length)}, program.buffers.output,
                 program.compare);
    }
  }
  // 3. End the round.
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  quicksort::end_level<true>(program.sample_sort(), __func__);
}

/// Launches the grids of round 0.
template <class Key, class Value, class Compare, class Segments>
template <class Grids>
__host__ __device__ void segmented_program<Key, Value, Compare, Segments>::launch_first_round(
    Grids& grids) const {
  const first_round_sizes& s = first_round;
  if constexpr (has_few_segments) {
    grids(begin_few_segments<segmented_program>,
          {1, sizes_of_tiles::middle_threads, s.middle_bytes}, *this);
  } else {
    grids(begin_segmented_sort<segmented_program>, {1, 256}, *this);
    const auto shape = [&](unsigned blocks, unsigned threads, unsigned bytes) {
      return this->sizes.shape(blocks, threads, bytes);
    };
    grids(read_segments<segmented_program>, shape(s.read_blocks, sizes_of_tiles::read_threads, 0),
          *this);
    grids(sort_small_segments<segmented_program>,
          shape(s.small_blocks, s.small_teams * sizes_of_tiles::warp, s.small_bytes), *this);
    grids(sort_middle_segments<segmented_program>,
          shape(s.middle_blocks, sizes_of_tiles::middle_threads, s.middle_bytes), *this);
  }
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
