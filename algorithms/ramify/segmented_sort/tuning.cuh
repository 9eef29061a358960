// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compile-time sizes of the kernels of segmented_sort.

#include <algorithm>
#include <ramify/quicksort/tuning.cuh>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// Sizes for elements of a key and an optional value. A tile is a number of consecutive segments
/// that a team of threads sorts at once in shared memory.
template <class Key, class Value>
struct segmented_tuning {
  using sample_sort = quicksort::sample_sort_tuning<Key, Value>;
  static constexpr int leaf_size = sample_sort::leaf_size;

  /// Threads of a block of the grid that reads all segments.
  static constexpr int read_threads = 256;

  // A warp sorts a tile of small segments. The capacity of a tile is a little more than a power of
  // two, so that it holds a whole number of segments whose lengths are powers of two.
  static constexpr int warp = 32;
#if RAMIFY_ON_CUDA
  static constexpr int registers = (sample_sort::key_bytes + 3) / 4 + sample_sort::has_values;
  static constexpr int small_items = registers <= 2   ? 17
                                     : registers <= 5 ? 9
                                     : registers <= 8 ? 5
                                                      : 1;
  static constexpr int middle_threads = sample_sort::team_threads;
#else
  static constexpr int small_items = sample_sort::key_bytes <= 16 ? 9 : 1;
  static constexpr int middle_threads = warp;
#endif
  /// If 32 consecutive segments have at most so many elements each, they are tiny: each lane of a
  /// warp sorts one of them. 0: none are.
  static constexpr int lane_items = small_items == 1 ? 0 : small_items - 1;
  /// Maximum number of warps of a block that sort small tiles, and of such blocks on a
  /// multiprocessor.
  static constexpr int small_teams = RAMIFY_ON_CUDA ? 4 : 1;
  static constexpr int small_blocks = 5;
  static constexpr int small_tile = warp * small_items;
  /// Segments of at most this length are small: at least two fit in a tile.
  static constexpr int small_size = std::min(small_tile / 2, leaf_size);
  /// Segments of a tile of small segments.
  static constexpr int small_segments = 4 * warp;

  // A team sorts a tile of middle-sized segments, which are at most as long as a leaf.
  static constexpr int middle_items = (leaf_size + middle_threads - 1) / middle_threads;
  /// Minimum number of blocks on a multiprocessor, as teams in the leaf grid of a sample sort: it
  /// limits the registers.
  static constexpr int middle_blocks = sample_sort::max_teams;
  /// Segments of a tile of middle-sized segments: a warp reads them.
  static constexpr int middle_segments = warp;
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
