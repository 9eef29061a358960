// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grid that counts the keys of each bucket of a level's segments, one block a piece.

#include <ramify/quicksort/splitter_tree.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The shared memory of a block: this struct, the counts, and the tree. Below the root the latter
/// are small (3 KiB for u32 keys), so several blocks of a grid that a kernel launched can be
/// resident on an SM, see <ramify/runtime/team.cuh>.
template <class Code, class Value>
struct alignas(128) count_shared {
  using tuning = sample_sort_tuning<Code, Value>;
  unsigned order;  ///< of the piece's keys so far

  /// Returns the maximum number of nodes of a tree of so many buckets, plus one, because the root
  /// is node 1.
  [[nodiscard]] __host__ __device__ static constexpr unsigned nodes(unsigned buckets) {
    constexpr unsigned max = tuning::leaf_bucket_limit;
    return buckets < max ? buckets : max;
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

/// Adds one to the count of a bucket and returns the old count. If all lanes of a warp add to the
/// same bucket, as happens with repeated keys, one lane adds for all (warp-aggregated atomics). All
/// threads of the warp must call it; only those with `adds` add.
__device__ inline unsigned add_warp_aggregated(unsigned* counts, unsigned id, bool adds) {
  const unsigned first = __shfl_sync(full_warp_mask, id, 0);
  if (__all_sync(full_warp_mask, adds && id == first)) {
    const unsigned lane = threadIdx.x % 32;
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(&counts[id], 32u);
    return __shfl_sync(full_warp_mask, before, 0) + lane;
  }
  return adds ? atomicAdd(&counts[id], 1u) : 0;
}

/// Counts the keys of a tile, and stores the bucket of each key. A `plain` tile has a key for each
/// item of each thread, and no keys that are known to be repeated. Any other has `count` keys.
template <bool plain, class Key, class Value, class Id, class Compare>
__device__ void count_tile(unsigned* counts, const typename Compare::code* tree, const Key* keys,
                           Id* all_ids, unsigned count, const splitter_tree& shape,
                           Compare compare) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr int items = tuning::count_items;
  constexpr unsigned threads = tuning::count_threads;
  // Missing keys are replaced by the tile's first key, which is not counted again.
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
      const bool exists = i * threads + threadIdx.x < count;
      static_cast<void>(add_warp_aggregated(counts, ids[i], exists));
    }
  }
}

/// Clears the flags in `order` that `count` keys contradict. A warp detects most unordered inputs
/// with the first pair of keys of each lane. All threads of the block must call it.
template <class Key, class Value, class Compare>
__device__ void check_order(unsigned& order, const Key* keys, unsigned count, Compare compare) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned threads = tuning::count_threads;
  bool falls = false;
  bool rises = false;
  const auto check_pair = [&](unsigned at) {
    if (at + 1 >= count) return;
    const auto& here = compare.encode(keys[at]);
    const auto& next = compare.encode(keys[at + 1]);
    falls = falls || compare(next, here);
    rises = rises || compare(here, next);
  };
  const auto order_of_warp = [&] {
    return (__any_sync(full_warp_mask, falls) ? unordered : nondecreasing) |
           (__any_sync(full_warp_mask, rises) ? unordered : nonincreasing);
  };
  check_pair(threadIdx.x);
  unsigned found = order_of_warp();
  if (found != unordered) {
    RAMIFY_UNROLL
    for (int i = 1; i < tuning::count_items; ++i) check_pair(i * threads + threadIdx.x);
    found = order_of_warp();
  }
  if (threadIdx.x % 32 == 0) atomicAnd(&order, found);
}

/// Counts the keys of a piece, tile by tile, and checks the order of the keys of a piece of the
/// root. All threads of the block must call it. The counts are complete after the next barrier.
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
      // The first key of the next tile is included.
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

/// Counts the keys of each bucket of a level's segments, and stores the bucket of each key.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(sample_sort_tuning<Key, Value>::count_threads)
    sample_sort_count(sample_sort_context<Key, Value, Compare> context, unsigned level) {
  const traced here(context.trace, __func__);
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned threads = tuning::count_threads;
  using code = typename Compare::code;
  auto& shared = dynamic_shared<count_shared<code, Value>>();
  grid_dependency_synchronize();
  context.release_slot();
  level = context.level_of_grid(level);

  const task_list<segment> list = context.list(level);
  const unsigned blocks = list.blocks();
  const unsigned max = max_buckets(level, context.sizes);
  unsigned* counts = shared.counts();
  code* tree = shared.tree(max);

  for (unsigned number = blockIdx.x; number < blocks; number += gridDim.x) {
    const sample_sort_piece piece(list, number, context.sizes);
    if (piece.begin == piece.end) continue;
    sample_sort_plan& plan = context.plan_of(piece.of);
    const unsigned target =
        target_buckets<Key, Value>(piece.of.size(), piece.of.depth, context.sizes);

    // 1. Build the splitter tree: the same one in all blocks of a segment.
    const splitter_tree shape = build_splitter_tree<threads>(tree, context.candidates_of(piece.of),
                                                             target - 1, max, context.compare);
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

    // 3. Add the counts to those of the segment. The old sum is the offset in the bucket at which
    //    this piece's keys begin.
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
