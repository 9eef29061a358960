// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The program of a segmented sort: that of a sample sort, whose first round reads the segments of
/// the caller instead of a root.
///
///     round 0    begin     clears the state
///                read      checks all segments, and sorts them out by length
///                small     warps read the segments again, and sort small ones in tiles
///                middle    teams sort middle-sized ones in tiles; the last block ends the round
///     round 1    leaves    blocks sort long leaves, which are longer than a tile
///                sample, count, scatter    partition the longest segments
///     round 2    as in a sample sort
///
/// If there are few segments, round 0 is one grid of one block.
///
/// The segments that a sample sort partitions begin at level 1, in the output buffer. Its arrays
/// have a place for each position of the input, so segments at any place share them.

#include <concepts>
#include <ramify/quicksort/sample_sort.cuh>
#include <ramify/segmented_sort/given_segments.cuh>
#include <ramify/segmented_sort/tile_sort.cuh>
#include <ramify/segmented_sort/tuning.cuh>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// The number of grids of round 0.
inline constexpr unsigned first_round_grids = 4;

/// The sizes of the grids of round 0, which depend on the device alone.
struct first_round_sizes {
  unsigned read_blocks;
  unsigned small_blocks;
  unsigned small_teams;  ///< of a block
  unsigned small_bytes;  ///< of dynamic shared memory of a block
  unsigned middle_blocks;
  unsigned middle_bytes;
};

/// The program, and the parameter of the kernels of round 0. Kernels of later rounds have its base
/// as their parameter, so they are those of quicksort().
template <class Key, class Value, class Compare, class Segments>
struct segmented_program : quicksort::sample_sort_context<Key, Value, Compare> {
  using base = quicksort::sample_sort_context<Key, Value, Compare>;
  using code = typename base::code;
  using sizes_of_tiles = segmented_tuning<Key, Value>;
  using small_sort = tile_sort<code, Value, sizes_of_tiles::warp, sizes_of_tiles::small_items,
                               sizes_of_tiles::small_segments>;
  using middle_sort = tile_sort<code, Value, sizes_of_tiles::middle_threads,
                                sizes_of_tiles::middle_items, sizes_of_tiles::middle_segments>;

  /// Whether there are few segments: then round 0 is one grid of one block.
  static constexpr bool has_few_segments = !std::same_as<Segments, offset_arrays>;

  Segments segments;
  segment_findings* findings;
  /// Tiles of middle-sized segments: the index of the first segment << 6 | number of segments.
  unsigned long long* tiles;
  unsigned tile_capacity;
  first_round_sizes first_round;

  [[nodiscard]] __host__ __device__ const base& sample_sort() const { return *this; }
  /// Returns whether no grid sorts. All threads of the grids after the first two may call it.
  [[nodiscard]] __device__ bool refuses() const { return findings->refuses(this->root.end); }

  template <class Grids>
  __host__ __device__ void launch_first_round(Grids& grids) const;

  /// Launches a round. Only the host launches round 0, here; see calls.cuh.
  template <class Grids>
  __host__ __device__ void launch_round(const quicksort::sample_sort_state& now,
                                        Grids& grids) const {
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
    if (now.level == 0) {
      launch_first_round(grids);
      return;
    }
#endif
    base::launch_round(now, grids);
  }

  /// Launches round 0, the expected levels, and then the leaves. Returns the level of the leaves.
  template <class Grids>
  unsigned launch_ahead(Grids& grids) const {
    launch_first_round(grids);
    const unsigned end = 1 + this->sizes.levels_ahead;
    const auto blocks =
        quicksort::blocks_for_any_work<typename base::tuning>(this->sizes, this->root.size());
    for (unsigned level = 1; level < end; ++level) {
      quicksort::launch_level<true>(sample_sort(), grids, level, blocks);
    }
    quicksort::launch_finishing(sample_sort(), grids, end, blocks,
                                {quicksort::work_source::all_found, {}, {}, true});
    return end;
  }
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
