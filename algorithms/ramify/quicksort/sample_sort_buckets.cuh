// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What becomes of the buckets of a partitioned segment.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// What emit_children() works with in shared memory.
template <class Scan>
struct emit_storage {
  position* begins;  ///< of each bucket
  unsigned* firsts;  ///< the first bucket of each child
  typename Scan::TempStorage& scan;
};

/// Hands the buckets of a segment on: large ones to the next level, small ones, several neighbours
/// together, to the leaves. `shared.begins` are there. Every thread of the block.
template <unsigned threads, class Scan, class Key, class Value, class Compare>
__device__ void emit_children(const sample_sort_context<Key, Value, Compare>& context,
                                const segment& parent, const splitter_tree& tree,
                                const emit_storage<Scan>& shared, const task_list<segment>& next) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr int half_leaf = tuning::leaf_size / 2;
  __shared__ unsigned leaf_count;
  __shared__ position first_leaf;
  const unsigned buckets = tree.buckets();
  const auto buffer = static_cast<unsigned short>(1 - parent.buffer);
  const auto begin = [&](unsigned b) { return shared.begins[b]; };
  const auto end = [&](unsigned b) { return b + 1 < buckets ? begin(b + 1) : parent.end; };
  const auto is_small = [&](unsigned b) { return end(b) - begin(b) <= half_leaf; };
  // Small neighbours that begin in the same half leaf make at most one leaf together.
  const auto window = [&](unsigned b) { return (begin(b) - parent.begin) / half_leaf; };
  const auto is_first = [&](unsigned b) {
    return b == 0 || !is_small(b - 1) || !is_small(b) || window(b - 1) != window(b);
  };
  if (threadIdx.x == 0) leaf_count = 0;

  // 1. Which buckets begin a child? Those after them, to the next one, join it.
  const thread_range<threads> run(buckets);
  unsigned mine = 0;
  for (unsigned b = run.begin; b < run.end; ++b) mine += is_first(b) ? 1 : 0;
  unsigned before = 0;
  unsigned children = 0;
  Scan(shared.scan).ExclusiveSum(mine, before, children);
  for (unsigned b = run.begin; b < run.end; ++b) {
    if (is_first(b)) shared.firsts[before++] = b;
  }
  __syncthreads();

  for (unsigned first = 0; first < children; first += threads) {
    // 2. Where does a child go?
    const unsigned c = first + threadIdx.x;
    segment child;
    bool is_leaf = false;
    if (c < children) {
      const unsigned b = shared.firsts[c];
      const unsigned last = c + 1 < children ? shared.firsts[c + 1] - 1 : buckets - 1;
      child = {begin(b), end(last), parent.depth + 1, buffer, false};
      const bool all_equal = tree.equality != 0 && b % 2 == 1 && last == b;
      bool found_room = true;
      if (all_equal && !is_small(b)) {
        if (buffer != 0) found_room = context.copies.push(child, tile_count(child, copy_tile));
      } else if (child.size() <= tuning::leaf_size) {
        is_leaf = child.size() > 0;
      } else if (child.size() <= context.sizes.long_leaf || child.depth >= context.depth_limit) {
        // Not worth a level of its own, or there have been too many.
        context.long_leaves[atomicAdd(&context.progress->long_leaves, 1ull)] = child;
      } else {
        found_room = next.push(child, block_count(child, context.sizes));
      }
      if (!found_room) atomicAdd(&context.status->dropped, 1ull);
    }
    // 3. Leaves go to the list together: all blocks count them in one word.
    __syncthreads();
    unsigned place = 0;
    if (is_leaf) place = atomicAdd(&leaf_count, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
      first_leaf = atomicAdd(&context.progress->leaves, position{leaf_count});
      if (first_leaf + leaf_count > context.leaf_capacity)
        atomicAdd(&context.status->dropped, 1ull);
      leaf_count = 0;
    }
    __syncthreads();
    if (is_leaf && first_leaf + place < context.leaf_capacity) {
      context.leaves[first_leaf + place] = child;
    }
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
