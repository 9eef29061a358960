// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The two grids that move the elements of a level: count, a block a piece, and scatter, likewise.

#include <cstdint>
#include <ramify/quicksort/multiway_buckets.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Key, class Value>
struct count_shared {
  using tuning = multiway_tuning<Key, Value>;
  using scan = block_scan<position, tuning::count_threads>;
  uninitialized_array<Key, tuning::bucket_limit> tree;
  unsigned counts[multiway_most_ids];
  typename scan::TempStorage scan_storage;
};

/// The buckets of some keys: how many splitters are not greater than a key or, if there are equality
/// buckets, twice that, less one if the last of them is equal.
template <int items, class Key, class Compare>
__device__ void find_buckets(unsigned (&ids)[items], const Key (&keys)[items], const Key* tree,
                             unsigned levels, bool equality, Compare compare) {
  // 1. Down the tree, all keys together.
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) ids[i] = 1;
  const auto descend = [&] {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) ids[i] = 2 * ids[i] + (compare(keys[i], tree[ids[i]]) ? 0 : 1);
  };
  constexpr int most_levels = 8;
  if (levels == most_levels) {  // the usual case, without the loop: takes 0.8 of the time
    RAMIFY_UNROLL
    for (int level = 0; level < most_levels; ++level) descend();
  } else {
    for (unsigned level = 0; level < levels; ++level) descend();
  }
  const unsigned leaves = 1u << levels;
  if (!equality) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) ids[i] -= leaves;
    return;
  }
  // 2. A search turns right at a splitter that is not greater. It has turned left ever since the last
  //    of them, so that one is the node before as many zeros as the number ends with, and a one.
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned end = ids[i];
    const unsigned last_right = end == leaves ? 0 : end >> __ffs(static_cast<int>(end));
    const bool equal = last_right != 0 && !compare(tree[last_right], keys[i]);
    ids[i] = 2 * (end - leaves) - (equal ? 1 : 0);
  }
}

/// Adds one to a bucket's count, and gives what it was, where keys are repeated: a warp's lanes often want
/// the same bucket then, one after the other, so one of them does it for all. Every thread of the warp;
/// `there` says which of them add.
__device__ inline unsigned add_repeated(unsigned* counts, unsigned id, bool there) {
  const unsigned first = __shfl_sync(0xffffffffu, id, 0);
  if (__all_sync(0xffffffffu, there && id == first)) {
    const unsigned lane = threadIdx.x % 32;
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(&counts[id], 32u);
    return __shfl_sync(0xffffffffu, before, 0) + lane;
  }
  return there ? atomicAdd(&counts[id], 1u) : 0;
}

/// Counts the keys of a tile, and writes each one's bucket down. Unless it is `plain`, there may be only
/// `count` keys, and repeated ones.
template <bool plain, class Key, class Value, class Compare>
__device__ void count_tile(count_shared<Key, Value>& shared, const Key* keys,
                           unsigned char* all_ids, unsigned count, unsigned levels, bool equality,
                           Compare compare) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr int items = tuning::count_items;
  constexpr unsigned threads = tuning::count_threads;
  // What lies beyond the end is the tile's first key again, and does not count.
  Key mine[items];
  unsigned ids[items];
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * threads + threadIdx.x;
    mine[i] = keys[plain || at < count ? at : 0];
  }
  find_buckets(ids, mine, shared.tree.data(), levels, equality, compare);
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * threads + threadIdx.x;
    if (plain || at < count) all_ids[at] = static_cast<unsigned char>(ids[i]);
  }
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    if constexpr (plain) {
      atomicAdd(&shared.counts[ids[i]], 1u);
    } else {
      const bool there = i * threads + threadIdx.x < count;
      static_cast<void>(add_repeated(shared.counts, ids[i], there));
    }
  }
}

/// Counts the keys of each bucket, and writes each key's down. The last block of a segment turns
/// counts into places.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(multiway_tuning<Key, Value>::count_threads)
    multiway_count(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  using storage = count_shared<Key, Value>;
  constexpr unsigned threads = tuning::count_threads;
  auto& shared = dynamic_shared<storage>();
  if (on_slot) context.slots.release_at_start();

  const task_list<segment> list = context.list(level);
  const unsigned pieces = list.blocks();
  for (unsigned number = blockIdx.x; number < pieces; number += gridDim.x) {
    const multiway_piece piece(list, number, context.sizes);
    const position slot = piece.of.begin / tuning::bucket_unit;
    multiway_plan& plan = context.plans[slot];
    position* counts = context.counts + slot;
    const unsigned buckets = plan.buckets();
    const unsigned levels = plan.levels;
    const bool equality = plan.equality != 0;

    // 1. Count in shared memory.
    for (unsigned i = threadIdx.x; i < 1u << levels; i += threads) {
      shared.tree[i] = context.trees[slot + i];
    }
    for (unsigned b = threadIdx.x; b < buckets; b += threads) shared.counts[b] = 0;
    __syncthreads();
    constexpr unsigned tile = tuning::count_items * threads;
    const Key* keys = context.buffers[piece.of.buffer].keys;
    for (position at = piece.begin; at < piece.end; at += tile) {
      const position left = piece.end - at;
      if (left >= tile && !equality) {
        count_tile<true>(shared, keys + at, context.ids + at, tile, levels, equality,
                         context.compare);
      } else {
        const unsigned count = left < tile ? static_cast<unsigned>(left) : tile;
        count_tile<false>(shared, keys + at, context.ids + at, count, levels, equality,
                          context.compare);
      }
    }
    __syncthreads();

    // 2. Add up over the segment. The sum so far is where this piece's keys begin in the bucket.
    for (unsigned b = threadIdx.x; b < buckets; b += threads) {
      const position here = shared.counts[b];
      const position before = here == 0 ? 0 : atomicAdd(&counts[b], here);
      if (piece.pieces > 1) context.offsets[piece.offsets + b] = before;
    }
    if (!last_to_arrive(plan.pieces_counted, piece.pieces)) continue;

    // 3. The last block: where does each bucket begin?
    const thread_run<threads> run(buckets);
    position mine = 0;
    for (unsigned b = run.begin; b < run.end; ++b) mine += counts[b];
    position before = 0;
    position total = 0;
    typename storage::scan(shared.scan_storage).ExclusiveSum(mine, before, total);
    before += piece.of.begin;
    for (unsigned b = run.begin; b < run.end; ++b) {
      const position here = counts[b];
      counts[b] = before;
      before += here;
    }
    __syncthreads();
  }
}

/// What a block of scatter has in shared memory before the elements and the bucket numbers of a tile.
template <class Key, class Value>
struct alignas(128) scatter_shared {
  using tuning = multiway_tuning<Key, Value>;
  using scan = block_scan<unsigned, tuning::tile_threads>;
  unsigned counts[multiway_most_ids];  ///< keys of each bucket, then where they begin in the tile
  position next[multiway_most_ids];    ///< place in each bucket
  position shift[multiway_most_ids];   ///< from a place in the tile to the place in the output
  typename scan::TempStorage scan_storage;

  [[nodiscard]] static constexpr unsigned bytes(unsigned tile) {
    return static_cast<unsigned>(sizeof(scatter_shared)) + tile * (tuning::staged_bytes + 1);
  }
  [[nodiscard]] __device__ unsigned char* elements() {
    return reinterpret_cast<unsigned char*>(this + 1);
  }
  [[nodiscard]] __device__ unsigned char* ids(unsigned tile) {
    return elements() + tile * tuning::staged_bytes;
  }
};

/// Moves `count` elements from `begin` on to their buckets: lays them out bucket by bucket in shared
/// memory, then neighbours write neighbours. A `plain` tile has an element for each item of each thread,
/// and no keys that are known to be repeated. Every thread of the block.
template <bool plain, class Key, class Value, class Compare>
__device__ void scatter_tile(scatter_shared<Key, Value>& shared,
                             const multiway_context<Key, Value, Compare>& context,
                             const segment& of, position begin, unsigned count, unsigned buckets) {
  using tuning = multiway_tuning<Key, Value>;
  using storage = scatter_shared<Key, Value>;
  constexpr int items = tuning::tile_items;
  constexpr unsigned threads = tuning::tile_threads;
  const Key* from = context.buffers[of.buffer].keys + begin;
  Key* to = context.buffers[1 - of.buffer].keys;
  const unsigned char* all_ids = context.ids + begin;

  // 1. Which bucket, and the how manyth of the tile's keys there?
  Key keys[items];
  unsigned id_and_rank[items];
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * threads + threadIdx.x;
    id_and_rank[i] = 0;
    if (plain || at < count) {
      keys[i] = from[at];
      id_and_rank[i] = all_ids[at];
    }
  }
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned id = id_and_rank[i];
    if constexpr (plain) {
      id_and_rank[i] |= atomicAdd(&shared.counts[id], 1u) << 8;
    } else {
      const bool there = i * threads + threadIdx.x < count;
      id_and_rank[i] |= add_repeated(shared.counts, id, there) << 8;
    }
  }
  __syncthreads();

  // 2. Where does each bucket begin in the tile, and where does that go?
  const thread_run<threads> run(buckets);
  unsigned mine = 0;
  for (unsigned b = run.begin; b < run.end; ++b) mine += shared.counts[b];
  unsigned before = 0;
  unsigned total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(mine, before, total);
  for (unsigned b = run.begin; b < run.end; ++b) {
    const unsigned here = shared.counts[b];
    shared.counts[b] = before;
    shared.shift[b] = shared.next[b] - before;
    shared.next[b] += here;
    before += here;
  }
  __syncthreads();

  // 3. Lay the keys out, and write runs of neighbours.
  const auto place = [&](int i) {
    return shared.counts[id_and_rank[i] & 0xff] + (id_and_rank[i] >> 8);
  };
  auto* staged = reinterpret_cast<Key*>(shared.elements());
  unsigned char* ids = shared.ids(context.sizes.tile);
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    if (plain || i * threads + threadIdx.x < count) {
      const unsigned to_place = place(i);
      staged[to_place] = keys[i];
      ids[to_place] = static_cast<unsigned char>(id_and_rank[i]);
    }
  }
  __syncthreads();
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * threads + threadIdx.x;
    if (plain || at < count) to[shared.shift[ids[at]] + at] = staged[at];
  }

  // 4. The same with the values.
  if constexpr (tuning::has_values) {
    const Value* from_values = context.buffers[of.buffer].values + begin;
    Value* to_values = context.buffers[1 - of.buffer].values;
    auto* values = reinterpret_cast<Value*>(shared.elements());
    __syncthreads();
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned at = i * threads + threadIdx.x;
      if (plain || at < count) values[place(i)] = from_values[at];
    }
    __syncthreads();
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned at = i * threads + threadIdx.x;
      if (plain || at < count) to_values[shared.shift[ids[at]] + at] = values[at];
    }
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < buckets; b += threads) shared.counts[b] = 0;
  __syncthreads();
}

/// Moves the elements of a level to their buckets in the other buffer, tile by tile.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(multiway_tuning<Key, Value>::tile_threads)
    multiway_scatter(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr unsigned threads = tuning::tile_threads;
  auto& shared = dynamic_shared<scatter_shared<Key, Value>>();
  if (on_slot) context.slots.release_at_start();

  const task_list<segment> list = context.list(level);
  const unsigned segments = list.size();
  const unsigned pieces = list.blocks();
  for (unsigned number = blockIdx.x; number < pieces; number += gridDim.x) {
    const multiway_piece piece(list, number, context.sizes);
    const position slot = piece.of.begin / tuning::bucket_unit;
    multiway_plan& plan = context.plans[slot];
    const position* begins = context.counts + slot;
    const unsigned buckets = plan.buckets();

    // 1. Where do this piece's keys of each bucket go?
    for (unsigned b = threadIdx.x; b < buckets; b += threads) {
      shared.next[b] = begins[b] + (piece.pieces > 1 ? context.offsets[piece.offsets + b] : 0);
      shared.counts[b] = 0;
    }
    __syncthreads();

    // 2. Move them.
    for (position begin = piece.begin; begin < piece.end; begin += context.sizes.tile) {
      const position left = piece.end - begin;
      const unsigned count =
          left < context.sizes.tile ? static_cast<unsigned>(left) : context.sizes.tile;
      if (count == tuning::tile_threads * tuning::tile_items && plan.equality == 0) {
        scatter_tile<true>(shared, context, piece.of, begin, count, buckets);
      } else {
        scatter_tile<false>(shared, context, piece.of, begin, count, buckets);
      }
    }

    // 3. Recurse: the last block of a segment hands its buckets on, and the last one of the level
    //    launches the grids for them. Join: nobody needs one; the grids of the next level stand in
    //    one stream, and the caller's stream waits for the whole tree of grids.
    if (!last_to_arrive(plan.pieces_scattered, piece.pieces)) continue;
    hand_on_buckets(context, piece.of, plan, begins, shared.shift, context.list(level + 1));
    if (!last_to_arrive(context.found->segments_done, segments)) continue;
    if (threadIdx.x == 0) {
      context.found->level = level + 1;
      launch_from_device(context, level + 1, __func__);
    }
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
