// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The sizes and the memory of a segmented sort. The host computes those of a run, and a kernel
/// those of a sort that it calls.

#include <algorithm>
#include <ramify/quicksort/sample_sort_sizes.cuh>
#include <ramify/segmented_sort/tile_grids.cuh>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// The scratch memory of a segmented sort of n elements. It begins with what the host reads.
/// `shortest_piece` is the least number of elements of a piece of a segment.
template <class Program>
struct segmented_sort_memory {
  using context = typename Program::base;
  using tuning = typename context::tuning;
  using arrays = quicksort::key_value_arrays<typename context::key, typename context::value>;

  __host__ __device__ segmented_sort_memory(memory_layout& layout, position n,
                                            const quicksort::sample_sort_sizes& of_device,
                                            position shortest_piece = 8 * tuning::min_piece) {
    findings = layout.take<segment_findings>(1);
    sort.root = {0, n};
    sort.sizes = quicksort::sizes_of_segments<context>(n, of_device, shortest_piece);
    sort.depth_limit = quicksort::depth_limit_of_segments<tuning>(n);
    sort.state = layout.take<quicksort::sample_sort_state>(1);
    quicksort::take_arrays<tuning>(sort, layout);
    // Each tile has a segment that is longer than a small one.
    tile_capacity = static_cast<unsigned>(n / (Program::sizes_of_tiles::small_size + 1) + 1);
    tiles = layout.take<unsigned long long>(tile_capacity);
    elements.keys = layout.take<typename context::key>(n);
    if (arrays::has_values) elements.values = layout.take<typename context::value>(n);
  }

  /// Returns the program of the sort of segments of `data`.
  template <class Segments>
  [[nodiscard]] __host__ __device__ Program program(const arrays& data,
                                                    const typename context::order& order,
                                                    const Segments& segments,
                                                    const first_round_sizes& first_round,
                                                    bool completes) const {
    const context shared{{}, sort, {data, elements}, order, completes};
    return {shared, segments, findings, tiles, tile_capacity, first_round};
  }

  segment_findings* findings;
  quicksort::sample_sort_memory<typename context::code> sort{};
  /// Tiles of middle-sized segments, see segmented_program.
  unsigned long long* tiles;
  unsigned tile_capacity;
  arrays elements{};
};

/// Returns the sizes of the grids of round 0, which are computed once per context.
template <class Program>
const first_round_sizes& sizes_of_first_round() {
  return runtime::once_per_context([] {
    using sizes_of_tiles = typename Program::sizes_of_tiles;
    using small_storage = typename Program::small_sort::storage;
    using middle_storage = typename Program::middle_sort::storage;
    first_round_sizes sizes{};
    if constexpr (Program::has_few_segments) {
      sizes.middle_bytes = static_cast<unsigned>(
          set_max_dynamic_shared(begin_few_segments<Program>, sizeof(middle_storage)));
    } else {
      sizes.small_teams = static_cast<unsigned>(std::clamp<std::size_t>(
          quicksort::default_shared_bytes / sizeof(small_storage), 1, sizes_of_tiles::small_teams));
      sizes.small_bytes = static_cast<unsigned>(sizes.small_teams * sizeof(small_storage));
      sizes.middle_bytes = static_cast<unsigned>(
          set_max_dynamic_shared(sort_middle_segments<Program>, sizeof(middle_storage)));
      sizes.read_blocks = resident_blocks(read_segments<Program>, sizes_of_tiles::read_threads, 0);
      sizes.small_blocks =
          resident_blocks(sort_small_segments<Program>, sizes.small_teams * sizes_of_tiles::warp,
                          sizes.small_bytes);
      sizes.middle_blocks = resident_blocks(sort_middle_segments<Program>,
                                            sizes_of_tiles::middle_threads, sizes.middle_bytes);
    }
    return sizes;
  });
}

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
