// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first grid of a level: a block a segment takes splitters from a sorted sample.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Key, class Value>
struct sample_shared {
  using tuning = quicksort_tuning<Key, Value>;
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
  const thread_run<tuning::threads> run(candidates);
  unsigned found = 0;
  for (unsigned i = run.begin; i < run.end; ++i) found += is_new(i) ? 1 : 0;
  unsigned place = 0;
  unsigned total = 0;
  typename storage::scan(shared.scan_storage).ExclusiveSum(found, place, total);
  for (unsigned i = run.begin; i < run.end; ++i) {
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

}  // namespace ramify::inline RAMIFY_BUILD
