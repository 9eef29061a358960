// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What becomes of the buckets of a partitioned segment.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Hands the buckets of a segment on: large ones to the next level, small ones, several neighbours
/// together, to the leaves. Every thread of the block.
template <class Key, class Value, class Compare>
__device__ void hand_on_buckets(const multiway_context<Key, Value, Compare>& context,
                                const segment& parent, const multiway_plan& plan,
                                const position* begins, const task_list<segment>& next) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr int half_leaf = tuning::leaf_size / 2;
  __shared__ unsigned leaf_count;
  __shared__ position first_leaf;
  const unsigned buckets = plan.buckets();
  const auto buffer = static_cast<unsigned short>(1 - parent.buffer);
  const auto begin = [&](unsigned b) { return begins[b]; };
  const auto end = [&](unsigned b) { return b + 1 < buckets ? begins[b + 1] : parent.end; };
  const auto is_small = [&](unsigned b) { return end(b) - begin(b) <= half_leaf; };
  // Small neighbours that begin in the same half leaf make at most one leaf together.
  const auto window = [&](unsigned b) { return (begin(b) - parent.begin) / half_leaf; };
  const auto joins = [&](unsigned b, unsigned after) {
    return is_small(b) && is_small(after) && window(b) == window(after);
  };
  if (threadIdx.x == 0) leaf_count = 0;

  for (unsigned first = 0; first < buckets; first += blockDim.x) {
    const unsigned b = first + threadIdx.x;
    // 1. The first of some buckets that join takes the others along.
    segment child;
    bool is_leaf = false;
    if (b < buckets && (b == 0 || !joins(b - 1, b))) {
      unsigned last = b;
      while (last + 1 < buckets && joins(last, last + 1)) ++last;
      child = {begin(b), end(last), parent.depth + 1, buffer, false};
      const bool all_equal = plan.equality != 0 && b % 2 == 1 && last == b;
      bool found_room = true;
      if (all_equal && !is_small(b)) {
        child.sorted = true;
        if (buffer != 0) found_room = context.copies.push(child, tiles(child, copy_tile));
      } else if (child.size() <= tuning::leaf_size || child.depth >= context.depth_limit) {
        is_leaf = child.size() > 0;
      } else {
        found_room = next.push(child, pieces(child, context.sizes.piece));
      }
      if (!found_room) atomicAdd(&context.status->dropped, 1ull);
    }
    // 2. Leaves go to the list together: all blocks count them in one word.
    __syncthreads();
    unsigned place = 0;
    if (is_leaf) place = atomicAdd(&leaf_count, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
      first_leaf = atomicAdd(&context.found->leaves, position{leaf_count});
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

}  // namespace ramify::inline RAMIFY_BUILD
