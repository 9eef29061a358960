// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The two grids that move the elements of a level: count, a block a tile, and scatter, likewise.

#include <ramify/quicksort/multiway_buckets.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// One block's tile of one segment.
template <class Key, class Value>
struct multiway_tile {
  using tuning = multiway_tuning<Key, Value>;
  segment of;
  unsigned segment_tiles;
  position begin;
  unsigned count;
  position slot;  ///< of the segment

  __device__ explicit multiway_tile(const task_list<segment>& list) {
    const auto [mine, rank] = task_source<segment>{{}, list, true}.mine();
    of = mine;
    segment_tiles = tiles(mine, tuning::tile_size);
    begin = mine.begin + position{rank} * tuning::tile_size;
    const position left = mine.end - begin;
    count = static_cast<unsigned>(left < tuning::tile_size ? left : tuning::tile_size);
    slot = mine.begin / tuning::half_leaf;
  }
};

/// The bucket of a key: twice the number of splitters that are not greater, less one if the last of
/// them is equal.
template <class Key, class Compare>
__device__ unsigned bucket_of(const Key& key, const Key* splitters, const multiway_plan& plan,
                              Compare compare) {
  unsigned low = 0;
  unsigned high = plan.splitters;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (compare(key, splitters[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const bool equal = plan.equality != 0 && low > 0 && !compare(splitters[low - 1], key);
  return 2 * low - (equal ? 1 : 0);
}

/// Brings the splitters of a segment into shared memory and clears the counts of its buckets.
template <class Key, class Value, class Context>
__device__ void prepare_buckets(const Context& context, const multiway_tile<Key, Value>& tile,
                                unsigned splitter_count, Key* splitters, unsigned* counts) {
  constexpr unsigned threads = quicksort_tuning<Key, Value>::threads;
  for (unsigned i = threadIdx.x; i < splitter_count; i += threads) {
    splitters[i] = context.splitters[tile.slot + i];
  }
  for (unsigned i = threadIdx.x; i < 2 * splitter_count + 1; i += threads) counts[i] = 0;
  __syncthreads();
}

template <class Key, class Value>
struct count_shared {
  using tuning = multiway_tuning<Key, Value>;
  using scan = block_scan<position, tuning::threads>;
  uninitialized_array<Key, tuning::bucket_limit> splitters;
  unsigned counts[tuning::most_counts];
  typename scan::TempStorage scan_storage;
};

/// Counts the keys of each bucket; the last block of a segment turns counts into places.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
    multiway_count(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  using storage = count_shared<Key, Value>;
  auto& shared = dynamic_shared<storage>();
  if (on_slot) context.slots.release_at_start();

  const multiway_tile<Key, Value> tile(context.lists[level % 2]);
  multiway_plan& plan = context.plans[tile.slot];
  position* counts = context.counts + 2 * tile.slot;
  const unsigned buckets = 2 * plan.splitters + 1;

  // 1. Count in shared memory.
  prepare_buckets(context, tile, plan.splitters, shared.splitters.data(), shared.counts);
  const Key* keys = context.buffers[tile.of.buffer].keys + tile.begin;
  for (unsigned i = threadIdx.x; i < tile.count; i += tuning::threads) {
    atomicAdd(&shared.counts[bucket_of(keys[i], shared.splitters.data(), plan, context.compare)],
              1u);
  }
  __syncthreads();

  // 2. Add up over the segment.
  for (unsigned i = threadIdx.x; i < buckets; i += tuning::threads) {
    if (shared.counts[i] > 0) atomicAdd(&counts[i], position{shared.counts[i]});
  }
  if (!last_to_arrive(plan.tiles_counted, tile.segment_tiles)) return;

  // 3. The last block: where does each bucket begin?
  const thread_run<tuning::threads> run(buckets);
  position mine = 0;
  for (unsigned i = run.begin; i < run.end; ++i) mine += counts[i];
  position before = 0;
  position total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(mine, before, total);
  before += tile.of.begin;
  for (unsigned i = run.begin; i < run.end; ++i) {
    const position here = counts[i];
    counts[i] = before;
    before += here;
  }
}

template <class Key, class Value>
struct scatter_shared {
  using tuning = multiway_tuning<Key, Value>;
  using scan = block_scan<unsigned, tuning::threads>;
  union {
    uninitialized_array<Key, tuning::bucket_limit> splitters;
    uninitialized_array<Key, tuning::tile_size> keys;
    uninitialized_array<Value, tuning::has_values ? tuning::tile_size : 1> values;
  };
  unsigned short bucket_at[tuning::tile_size];
  unsigned counts[tuning::most_counts];  ///< keys of each bucket, then where they begin in the tile
  position shift[tuning::most_counts];   ///< from a place in the tile to the place in the output
  typename scan::TempStorage scan_storage;
};

/// Moves the keys of a tile to their buckets in the other buffer. Bound to registers for two blocks
/// an SM: with one it waits (H200, 2^28 u32 keys, the whole sort: 19.4 ms with two, 23.7 with one).
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads, 2)
    multiway_scatter(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  using storage = scatter_shared<Key, Value>;
  constexpr int items = tuning::tile_items;
  auto& shared = dynamic_shared<storage>();
  if (on_slot) context.slots.release_at_start();

  const task_list<segment>& list = context.lists[level % 2];
  const multiway_tile<Key, Value> tile(list);
  multiway_plan& plan = context.plans[tile.slot];
  position* places = context.counts + 2 * tile.slot;
  const unsigned buckets = 2 * plan.splitters + 1;
  const columns<Key, Value> from = context.buffers[tile.of.buffer];
  const columns<Key, Value> to = context.buffers[1 - tile.of.buffer];

  // 1. Which bucket, and the how manyth of the tile's keys there?
  prepare_buckets(context, tile, plan.splitters, shared.splitters.data(), shared.counts);
  Key keys[items];
  unsigned short bucket[items];
  unsigned short rank[items];
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * tuning::threads + threadIdx.x;
    if (at >= tile.count) continue;
    keys[i] = from.keys[tile.begin + at];
    bucket[i] = static_cast<unsigned short>(
        bucket_of(keys[i], shared.splitters.data(), plan, context.compare));
    rank[i] = static_cast<unsigned short>(atomicAdd(&shared.counts[bucket[i]], 1u));
  }
  __syncthreads();

  // 2. Reserve room in each bucket, and lay the tile out bucket by bucket.
  const thread_run<tuning::threads> run(buckets);
  unsigned mine = 0;
  for (unsigned b = run.begin; b < run.end; ++b) mine += shared.counts[b];
  unsigned before = 0;
  unsigned total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(mine, before, total);
  for (unsigned b = run.begin; b < run.end; ++b) {
    const unsigned here = shared.counts[b];
    shared.counts[b] = before;
    if (here > 0) shared.shift[b] = atomicAdd(&places[b], position{here}) - before;
    before += here;
  }
  __syncthreads();
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * tuning::threads + threadIdx.x;
    if (at >= tile.count) continue;
    const unsigned place = shared.counts[bucket[i]] + rank[i];
    shared.keys[place] = keys[i];
    shared.bucket_at[place] = bucket[i];
  }
  __syncthreads();

  // 3. Write runs of neighbours.
  for (unsigned i = threadIdx.x; i < tile.count; i += tuning::threads) {
    to.keys[shared.shift[shared.bucket_at[i]] + i] = shared.keys[i];
  }
  if constexpr (tuning::has_values) {
    __syncthreads();
    for (int i = 0; i < items; ++i) {
      const unsigned at = i * tuning::threads + threadIdx.x;
      if (at >= tile.count) continue;
      shared.values[shared.counts[bucket[i]] + rank[i]] = from.values[tile.begin + at];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < tile.count; i += tuning::threads) {
      to.values[shared.shift[shared.bucket_at[i]] + i] = shared.values[i];
    }
  }

  // 4. Recurse: the last block of a segment hands its buckets on, and the last one of the level
  //    launches the grids for them. Join: nobody needs one; the grids of the next level stand in
  //    one stream, and the caller's stream waits for the whole tree of grids.
  if (!last_to_arrive(plan.tiles_scattered, tile.segment_tiles)) return;
  hand_on_buckets(context, tile.of, places, buckets, context.lists[(level + 1) % 2]);
  if (!last_to_arrive(context.found->segments_done, list.size())) return;
  if (threadIdx.x == 0) {
    *list.count_and_blocks = 0;
    context.found->level = level + 1;
    launch_from_device(context, level + 1, __func__);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
