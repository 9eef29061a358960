// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first grid of a level: a block a segment takes splitters from a sorted sample.
///
/// Splitters are kept as a search tree without pointers: node 1 is the root, node j has the children
/// 2j and 2j + 1. A search goes down from the root, and the splitters that are compared early lie side
/// by side, in different banks of shared memory.
///
///     splitters [10 20 30 40 50 60 70]  -->  tree [- 40 20 60 10 30 50 70]

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Key, class Value>
using sample_sort = team_sort<Key, no_value, multiway_tuning<Key, Value>::sample_threads,
                              multiway_tuning<Key, Value>::sample_items>;

/// Where in the order of its splitters a node of a tree stands.
__device__ inline unsigned place_in_order(unsigned node, unsigned levels) {
  const unsigned depth = 31 - __clz(static_cast<int>(node));
  const unsigned left_of_it = 2 * (node - (1u << depth)) + 1;
  return (left_of_it << (levels - 1 - depth)) - 1;
}

/// Takes the splitters of each segment of a level. A block a segment, or several.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(multiway_tuning<Key, Value>::sample_threads)
    multiway_sample(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr unsigned threads = tuning::sample_threads;
  auto& shared = dynamic_shared<typename sample_sort<Key, Value>::storage>();
  __shared__ unsigned repeated;
  if (on_slot) context.slots.release_at_start();
  const Compare compare = context.compare;
  const task_list<segment> list = context.lists[level % 2];

  for (unsigned i = blockIdx.x; i < list.size(); i += gridDim.x) {
    const segment mine = list.tasks[i];
    const position slot = mine.begin / tuning::bucket_unit;

    // 1. Sort a sample: 44 keys for each bucket.
    unsigned levels = bucket_levels<Key, Value>(mine.size());
    const unsigned wanted = 44u << levels;
    unsigned count = wanted < context.sizes.sample ? wanted : context.sizes.sample;
    if (count > mine.size()) count = static_cast<unsigned>(mine.size());
    const Key* keys = context.buffers[mine.buffer].keys;
    sample_sort<Key, Value>::sort_keys(
        block_team<threads>{}, shared,
        [&](unsigned k) { return keys[sample_position(mine, k, count)]; }, count, compare);

    // 2. Candidates lie evenly in the sample. Repeated keys show as repeated candidates, and want
    //    equality buckets, which share the numbers of buckets. So does a single splitter: without
    //    them, a segment of equal keys would never shrink.
    const auto candidate = [&](unsigned k) -> const Key& {
      return shared.keys[(k + 1) * count >> levels];
    };
    if (threadIdx.x == 0) repeated = levels == 1 ? 1 : 0;
    __syncthreads();
    for (unsigned k = threadIdx.x + 1; k < (1u << levels) - 1; k += threads) {
      if (!compare(candidate(k - 1), candidate(k))) repeated = 1;
    }
    __syncthreads();
    const bool equality = repeated != 0;
    if (equality && (2u << levels) > multiway_most_ids) --levels;

    // 3. Plant the tree. A splitter may be there twice; then the bucket between is empty.
    const unsigned splitters = (1u << levels) - 1;
    for (unsigned node = threadIdx.x + 1; node <= splitters; node += threads) {
      context.trees[slot + node] = candidate(place_in_order(node, levels));
    }
    if (threadIdx.x == 0) context.plans[slot] = {levels, equality ? 1u : 0u, 0, 0};
    for (unsigned b = threadIdx.x; b <= 2 * splitters; b += threads) context.counts[slot + b] = 0;
    __syncthreads();
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
