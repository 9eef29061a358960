// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The three grids that partition all segments of a level: sample, count, scatter.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

// ---- sample
// --------------------------------------------------------------------------------------

template <class Key, class Value>
struct sample_shared {
  using tuning = quicksort_tuning<Key, Value>;
  using sorter = block_sorter<Key, no_value>;
  using sort = block_merge_sort<Key, tuning::threads, tuning::leaf_items>;
  using scan = block_scan<unsigned, tuning::threads>;
  union {
    typename sort::TempStorage sort_storage;
    uninitialized_array<Key, tuning::leaf_size> sample;
  };
  typename scan::TempStorage scan_storage;
};

/// Takes the splitters of one segment from a sorted sample as large as a leaf.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
    multiway_sample(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  using storage = sample_shared<Key, Value>;
  constexpr int items = tuning::leaf_items;
  auto& shared = dynamic_shared<storage>();
  if (on_slot) context.slots.release_at_start();

  const segment mine = context.lists[level % 2].tasks[blockIdx.x];
  const position slot = mine.begin / tuning::half_leaf;
  const Compare compare = context.compare;

  // 1. Sort a sample.
  Key keys[items];
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * tuning::threads + threadIdx.x;
    keys[i] = context.buffers[mine.buffer].keys[sample_position(mine, at, tuning::leaf_size)];
  }
  typename storage::sort(shared.sort_storage).Sort(keys, compare);
  __syncthreads();
  for (int i = 0; i < items; ++i) shared.sample[threadIdx.x * items + i] = keys[i];
  __syncthreads();

  // 2. Candidates lie evenly in the sample; a candidate equal to the one before it is left out.
  const unsigned candidates = bucket_count<Key, Value>(mine.size()) - 1;
  const auto candidate = [&](unsigned i) -> const Key& {
    return shared.sample[(i + 1) * tuning::leaf_size / (candidates + 1)];
  };
  const auto is_new = [&](unsigned i) { return i == 0 || compare(candidate(i - 1), candidate(i)); };
  const unsigned each = (candidates + tuning::threads - 1) / tuning::threads;
  const unsigned first = threadIdx.x * each;
  unsigned found = 0;
  for (unsigned i = first; i < first + each && i < candidates; ++i) found += is_new(i) ? 1 : 0;
  unsigned place = 0;
  unsigned total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(found, place, total);
  for (unsigned i = first; i < first + each && i < candidates; ++i) {
    if (is_new(i)) context.splitters[slot + place++] = candidate(i);
  }

  // 3. Repeated keys show as repeated candidates, and want equality buckets. So does a single
  //    splitter: without them, a segment of equal keys would never shrink.
  if (threadIdx.x == 0) {
    context.plans[slot] = {total, total < candidates || total == 1 ? 1u : 0u, 0, 0};
  }
  for (unsigned i = threadIdx.x; i <= 2 * total; i += tuning::threads) {
    context.counts[2 * slot + i] = 0;
  }
}

// ---- count and scatter
// ---------------------------------------------------------------------------

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
  for (unsigned i = threadIdx.x; i < plan.splitters; i += tuning::threads) {
    shared.splitters[i] = context.splitters[tile.slot + i];
  }
  for (unsigned i = threadIdx.x; i < buckets; i += tuning::threads) shared.counts[i] = 0;
  __syncthreads();
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
  const unsigned each = (buckets + tuning::threads - 1) / tuning::threads;
  const unsigned first = threadIdx.x * each;
  position mine = 0;
  for (unsigned i = first; i < first + each && i < buckets; ++i) mine += counts[i];
  position before = 0;
  position total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(mine, before, total);
  before += tile.of.begin;
  for (unsigned i = first; i < first + each && i < buckets; ++i) {
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

/// Hands the buckets of a segment on. Every thread of the block calls this.
template <class Key, class Value, class Compare>
__device__ void hand_on_buckets(const multiway_context<Key, Value, Compare>& context,
                                const segment& parent, const position* ends, unsigned buckets,
                                const task_list<segment>& next) {
  using tuning = multiway_tuning<Key, Value>;
  const auto buffer = static_cast<unsigned short>(1 - parent.buffer);
  const auto begin = [&](unsigned b) { return b == 0 ? parent.begin : ends[b - 1]; };
  const auto is_small = [&](unsigned b) { return ends[b] - begin(b) <= tuning::half_leaf; };
  // Small neighbours that begin in the same half leaf make at most one leaf together.
  const auto window = [&](unsigned b) { return (begin(b) - parent.begin) / tuning::half_leaf; };
  const auto joins = [&](unsigned b, unsigned after) {
    return is_small(b) && is_small(after) && window(b) == window(after);
  };
  const auto add_leaf = [&](const segment& leaf) {
    const position place = atomicAdd(&context.found->leaves, 1ull);
    if (place < context.leaf_capacity) {
      context.leaves[place] = leaf;
    } else {
      atomicAdd(&context.status->dropped, 1ull);
    }
  };

  for (unsigned b = threadIdx.x; b < buckets; b += tuning::threads) {
    if (b > 0 && joins(b - 1, b)) continue;  // the thread of an earlier bucket takes it along
    unsigned last = b;
    while (last + 1 < buckets && joins(last, last + 1)) ++last;

    segment child{begin(b), ends[last], parent.depth + 1, buffer, false};
    const bool all_equal = b % 2 == 1 && last == b;
    if (child.size() == 0) continue;
    if (all_equal && !is_small(b)) {
      child.sorted = true;
      if (buffer == 0) continue;
      if (!context.copies.push(child, tiles(child, tuning::tile_size))) {
        atomicAdd(&context.status->dropped, 1ull);
      }
    } else if (child.size() <= tuning::leaf_size || child.depth >= context.depth_limit) {
      add_leaf(child);
    } else if (!next.push(child, tiles(child, tuning::tile_size))) {
      atomicAdd(&context.status->dropped, 1ull);
    }
  }
}

/// Moves the keys of a tile to their buckets in the other buffer.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
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
  for (unsigned i = threadIdx.x; i < plan.splitters; i += tuning::threads) {
    shared.splitters[i] = context.splitters[tile.slot + i];
  }
  for (unsigned i = threadIdx.x; i < buckets; i += tuning::threads) shared.counts[i] = 0;
  __syncthreads();
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
  const unsigned each = (buckets + tuning::threads - 1) / tuning::threads;
  const unsigned first = threadIdx.x * each;
  unsigned mine = 0;
  for (unsigned b = first; b < first + each && b < buckets; ++b) mine += shared.counts[b];
  unsigned before = 0;
  unsigned total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(mine, before, total);
  for (unsigned b = first; b < first + each && b < buckets; ++b) {
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

  // 4. Recurse: the last block of a segment hands its buckets on, the last one of the level
  // launches
  //    the grids for them. Join: nobody needs one; the grids of the next level stand in one stream.
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
