// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grid that counts how many keys of a level belong into each bucket, a block a piece.

#include <ramify/quicksort/splitter_tree.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// What a block of count has in shared memory: this, the counts, and the tree. Below the root these are
/// small (3 KiB for u32 keys), which matters to grids that kernels launched, see ramify/runtime/team.cuh.
template <class Code, class Value>
struct alignas(128) count_shared {
  using tuning = sample_sort_tuning<Code, Value>;
  unsigned order;  ///< of the piece so far

  /// Nodes of a tree of so many buckets at most, and one more: its root is node 1.
  [[nodiscard]] __host__ __device__ static constexpr unsigned nodes(unsigned buckets) {
    constexpr unsigned most = tuning::leaf_bucket_limit;
    return buckets < most ? buckets : most;
  }
  [[nodiscard]] __host__ __device__ static constexpr unsigned bytes(unsigned buckets) {
    return static_cast<unsigned>(sizeof(count_shared) + buckets * sizeof(unsigned) +
                                 nodes(buckets) * sizeof(Code));
  }
  [[nodiscard]] __device__ unsigned* counts() { return reinterpret_cast<unsigned*>(this + 1); }
  [[nodiscard]] __device__ Code* tree(unsigned max_buckets) {
    return reinterpret_cast<Code*>(counts() + max_buckets);
  }
};

/// Adds one to a bucket's count, and gives what it was, where keys are repeated: a warp's lanes often want
/// the same bucket then, one after the other, so one of them does it for all. Every thread of the warp;
/// `there` says which of them add.
__device__ inline unsigned add_warp_aggregated(unsigned* counts, unsigned id, bool there) {
  const unsigned first = __shfl_sync(full_warp_mask, id, 0);
  if (__all_sync(full_warp_mask, there && id == first)) {
    const unsigned lane = threadIdx.x % 32;
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(&counts[id], 32u);
    return __shfl_sync(full_warp_mask, before, 0) + lane;
  }
  return there ? atomicAdd(&counts[id], 1u) : 0;
}

/// Counts the keys of a tile, and writes each one's bucket down. Unless it is `plain`, there may be only
/// `count` keys, and repeated ones.
template <bool plain, class Key, class Value, class Id, class Compare>
__device__ void count_tile(unsigned* counts, const typename Compare::code* tree, const Key* keys,
                           Id* all_ids, unsigned count, const splitter_tree& shape,
                           Compare compare) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr int items = tuning::count_items;
  constexpr unsigned threads = tuning::count_threads;
  // What lies beyond the end is the tile's first key again, and does not count.
  typename Compare::code mine[items];
  unsigned ids[items];
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * threads + threadIdx.x;
    mine[i] = compare.encode(keys[plain || at < count ? at : 0]);
  }
  find_buckets(ids, mine, tree, shape.levels, shape.equality != 0, compare);
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned at = i * threads + threadIdx.x;
    if (plain || at < count) all_ids[at] = static_cast<Id>(ids[i]);
  }
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    if constexpr (plain) {
      atomicAdd(&counts[ids[i]], 1u);
    } else {
      const bool there = i * threads + threadIdx.x < count;
      static_cast<void>(add_warp_aggregated(counts, ids[i], there));
    }
  }
}

/// Strikes out of `order` what `count` keys are not. Most inputs are in no order, which a warp sees at its
/// first look. Every thread of the block.
template <class Key, class Value, class Compare>
__device__ void check_order(unsigned& order, const Key* keys, unsigned count, Compare compare) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned threads = tuning::count_threads;
  bool falls = false;
  bool rises = false;
  const auto look = [&](unsigned at) {
    if (at + 1 >= count) return;
    const auto& here = compare.encode(keys[at]);
    const auto& next = compare.encode(keys[at + 1]);
    falls = falls || compare(next, here);
    rises = rises || compare(here, next);
  };
  const auto seen = [&] {
    return (__any_sync(full_warp_mask, falls) ? unordered : nondecreasing) |
           (__any_sync(full_warp_mask, rises) ? unordered : nonincreasing);
  };
  look(threadIdx.x);
  unsigned found = seen();
  if (found != unordered) {
    RAMIFY_UNROLL
    for (int i = 1; i < tuning::count_items; ++i) look(i * threads + threadIdx.x);
    found = seen();
  }
  if (threadIdx.x % 32 == 0) atomicAnd(&order, found);
}

/// Counts the keys of a piece, tile by tile, and looks at the order of the root's. Every thread of the
/// block; the counts are there after the next barrier.
template <class Key, class Value, class Id, class Compare>
__device__ void count_piece(count_shared<typename Compare::code, Value>& shared,
                            const typename Compare::code* tree, const Key* keys, Id* ids,
                            const sample_sort_piece& piece, const splitter_tree& shape,
                            Compare compare) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned tile = tuning::count_items * tuning::count_threads;
  bool in_order = piece.of.depth == 0;
  for (position at = piece.begin; at < piece.end; at += tile) {
    if (in_order) {
      // The next tile's first key, too, is to follow.
      const position left = piece.of.end - at;
      check_order<Key, Value>(shared.order, keys + at,
                                left < tile + 1 ? static_cast<unsigned>(left) : tile + 1, compare);
      __syncthreads();
      in_order = shared.order != unordered;
      __syncthreads();
    }
    const position left = piece.end - at;
    if (left >= tile && shape.equality == 0) {
      count_tile<true, Key, Value>(shared.counts(), tree, keys + at, ids + at, tile, shape,
                                   compare);
    } else {
      const unsigned count = left < tile ? static_cast<unsigned>(left) : tile;
      count_tile<false, Key, Value>(shared.counts(), tree, keys + at, ids + at, count, shape,
                                    compare);
    }
  }
}

/// Counts the keys of each bucket, and writes each one's down.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(sample_sort_tuning<Key, Value>::count_threads)
    sample_sort_count(sample_sort_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  const traced here(context.trace, __func__);
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned threads = tuning::count_threads;
  using code = typename Compare::code;
  auto& shared = dynamic_shared<count_shared<code, Value>>();
  grid_dependency_synchronize();
  if (on_slot) context.slots.release_at_start();

  const task_list<segment> list = context.list(level);
  const unsigned blocks = list.blocks();
  const unsigned most = max_buckets(level, context.sizes);
  unsigned* counts = shared.counts();
  code* tree = shared.tree(most);

  for (unsigned number = blockIdx.x; number < blocks; number += gridDim.x) {
    const sample_sort_piece piece(list, number, context.sizes);
    if (piece.begin == piece.end) continue;
    sample_sort_plan& plan = context.plan_of(piece.of);
    const unsigned wanted =
        target_buckets<Key, Value>(piece.of.size(), piece.of.depth, context.sizes);

    // 1. The splitters: the same ones in all blocks of a segment.
    const splitter_tree shape = build_splitter_tree<threads>(tree, context.candidates_of(piece.of),
                                                    wanted - 1, most, context.compare);
    if (piece.begin == piece.of.begin && threadIdx.x == 0) plan.tree = shape;
    const unsigned buckets = shape.buckets();

    // 2. Count in shared memory.
    for (unsigned b = threadIdx.x; b < buckets; b += threads) counts[b] = 0;
    if (threadIdx.x == 0) shared.order = nondecreasing | nonincreasing;
    __syncthreads();
    const Key* keys = context.buffers[piece.of.buffer].keys;
    with_id_type(context.sizes, [&](auto* type) {
      using id = std::remove_pointer_t<decltype(type)>;
      count_piece(shared, tree, keys, static_cast<id*>(context.ids), piece, shape, context.compare);
    });
    __syncthreads();
    if (piece.of.depth == 0 && threadIdx.x == 0) atomicAnd(&plan.order, shared.order);

    // 3. Add up over the segment. The sum so far is where this piece's keys begin in the bucket.
    position* all_counts = context.counts_of(piece.of);
    for (unsigned b = threadIdx.x; b < buckets; b += threads) {
      const position here = counts[b];
      const position before = here == 0 ? 0 : atomicAdd(&all_counts[b], here);
      if (piece.pieces > 1) context.offsets[piece.offsets + b] = before;
    }
    __syncthreads();
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
