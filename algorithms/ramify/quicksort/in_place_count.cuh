// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grids of a level in place (in_place_level.cuh) that count the elements of each bucket, or
/// reverse the array.

#include <cstddef>
#include <ramify/quicksort/in_place_level.cuh>
#include <ramify/quicksort/order.cuh>
#include <ramify/runtime/residency.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The static shared memory of a block that finds the buckets of keys.
template <class Level>
struct bucket_search_shared {
  uninitialized_array<typename Level::code, Level::tuning::max_buckets> tree;
  unsigned counts[Level::tuning::max_ids];
  unsigned order;  ///< of the keys that the block has read
};

/// Loads the keys of this thread of a tile with `count` keys, and finds their buckets. A missing
/// key is replaced by the first.
template <class Level, int items>
__device__ void load_tile(typename Level::key (&keys)[items], unsigned (&ids)[items],
                          const Level& level, position begin, unsigned count,
                          const typename Level::code* tree, const splitter_tree& shape) {
  typename Level::code codes[items];
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = unsigned(i) * Level::tuning::threads + threadIdx.x;
    keys[i] = level.data.keys[begin + (at < count ? at : 0)];
    codes[i] = level.compare.encode(keys[i]);
  }
  find_buckets(ids, codes, tree, shape.levels, shape.equality != 0, level.compare);
}

/// Counts the elements of each bucket, and checks the order of the keys. Blocks share the tiles.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads, Level::tuning::blocks)
    in_place_count(Level level) {
  using tuning = typename Level::tuning;
  constexpr unsigned threads = tuning::threads;
  __shared__ bucket_search_shared<Level> shared;

  // 1. Build the splitter tree: the same one in all blocks.
  const splitter_tree shape =
      build_splitter_tree<threads>(shared.tree.data(), level.candidates, level.buckets - 1,
                                   unsigned{tuning::max_ids}, level.compare);
  for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) shared.counts[b] = 0;
  if (blockIdx.x == 0 && threadIdx.x == 0) level.state->tree = shape;
  if (threadIdx.x == 0) shared.order = nondecreasing | nonincreasing;
  __syncthreads();

  // 2. Count in shared memory.
  bool in_order = true;
  for (unsigned tile = blockIdx.x; tile < level.tiles(); tile += gridDim.x) {
    const position begin = position{tile} * tuning::tile;
    const auto count = static_cast<unsigned>(min(level.n - begin, position{tuning::tile}));
    if (in_order) {  // the first key of the next tile is included
      const auto checked = static_cast<unsigned>(min(level.n - begin, position{tuning::tile + 1}));
      check_order<threads, tuning::items>(shared.order, level.data.keys + begin, checked,
                                          level.compare);
      __syncthreads();
      in_order = shared.order != unordered;
      __syncthreads();
    }
    typename Level::key keys[tuning::items];
    unsigned ids[tuning::items];
    load_tile(keys, ids, level, begin, count, shared.tree.data(), shape);
    RAMIFY_UNROLL
    for (int i = 0; i < tuning::items; ++i) {
      const unsigned at = unsigned(i) * threads + threadIdx.x;
      if (at < count) atomicAdd(&shared.counts[ids[i]], 1u);
    }
  }
  __syncthreads();

  // 3. Add to the counts of the level.
  if (threadIdx.x == 0) atomicAnd(&level.state->order, shared.order);
  for (unsigned b = threadIdx.x; b < shape.buckets(); b += threads) {
    if (shared.counts[b] != 0) atomicAdd(&level.state->counts[b], position{shared.counts[b]});
  }
}

/// Reverses the array. Each block swaps a range of its first half with the mirror image.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads) in_place_reverse(Level level) {
  constexpr unsigned threads = Level::tuning::threads;
  const segment all{0, level.n};
  const position half = level.n / 2;
  const position each = half / gridDim.x + 1;
  const position first = blockIdx.x * each + threadIdx.x;
  const position end = min((blockIdx.x + 1) * each, half);
  swap_with_mirror_images<threads>(level.data.keys, all, first, end);
  if constexpr (Level::tuning::has_values) {
    swap_with_mirror_images<threads>(level.data.values, all, first, end);
  }
}

/// Computes where the buckets begin. One block.
template <class Level>
__global__ void __launch_bounds__(Level::tuning::threads) in_place_bounds(Level level) {
  constexpr unsigned threads = Level::tuning::threads;
  __shared__ typename block_scan<position, threads>::TempStorage storage;
  auto* state = level.state;
  scan_in_order<threads, position>(
      storage, state->tree.buckets(), [&](unsigned b) { return state->counts[b]; },
      [&](unsigned b, position, position before) { state->next[b] = before; });
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
