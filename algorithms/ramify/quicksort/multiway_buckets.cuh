// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What becomes of the buckets of a partitioned segment.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

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

}  // namespace ramify::inline RAMIFY_BUILD
