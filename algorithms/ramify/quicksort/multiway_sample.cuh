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

/// A small sample is sorted sooner by more threads with fewer keys each.
template <class Key, class Value>
using small_sample_sort = team_sort<Key, no_value, multiway_tuning<Key, Value>::sample_threads,
                                    odd((multiway_tuning<Key, Value>::sample_items + 2) / 3)>;

/// Where in the order of its splitters a node of a tree stands.
__device__ inline unsigned place_in_order(unsigned node, unsigned levels) {
  const unsigned depth = 31 - __clz(static_cast<int>(node));
  const unsigned left_of_it = 2 * (node - (1u << depth)) + 1;
  return (left_of_it << (levels - 1 - depth)) - 1;
}

/// Keys of a sample from a segment that `samplers` blocks sample, for each of them.
template <class Key, class Value>
__device__ unsigned sample_size(const segment& s, unsigned buckets, unsigned most,
                                unsigned samplers) {
  const position share = s.size() / samplers;
  position size = position{60} * buckets;
  if (samplers > 1) {
    // The root is alone, and the smaller it is, the more the time for its sample weighs.
    constexpr position small = small_sample_sort<Key, Value>::capacity;
    position wanted = s.size() / 512 < small ? s.size() / 512 : small;
    if (wanted < position{4} * buckets) wanted = position{4} * buckets;
    if (wanted < s.size() / 4096) wanted = s.size() / 4096;
    if (wanted < size) size = wanted;
  }
  const position limit = share < most ? share : most;
  return static_cast<unsigned>(size < limit ? size : limit);
}

/// Of each of some sorted lists, `stride` elements apart, takes what stands at place `k`, and of these
/// the median. The medians are sorted too.
template <int lists, class Key, class Compare>
__device__ Key median_at(const Key* candidates, unsigned k, unsigned stride, Compare compare) {
  Key values[lists];
  RAMIFY_UNROLL
  for (int i = 0; i < lists; ++i) values[i] = candidates[i * stride + k];
  Key median = values[0];  // stays so only if the comparator contradicts itself
  RAMIFY_UNROLL
  for (int i = 0; i < lists; ++i) {
    int rank = 0;
    RAMIFY_UNROLL
    for (int j = 0; j < lists; ++j) {
      if (j < i ? !compare(values[i], values[j]) : compare(values[j], values[i])) ++rank;
    }
    if (rank == lists / 2) median = values[i];
  }
  return median;
}

/// Takes `wanted` of the `count` sorted keys, evenly, to the front. Every thread of the block.
template <unsigned threads, class Key>
__device__ void keep_candidates(Key* keys, unsigned count, unsigned wanted) {
  for (unsigned first = 0; first < wanted; first += threads) {
    const unsigned k = first + threadIdx.x;
    Key candidate;
    if (k < wanted) candidate = keys[(k + 1) * count / (wanted + 1)];
    __syncthreads();  // they move down: to where no later one is read
    if (k < wanted) keys[k] = candidate;
    __syncthreads();
  }
}

/// Plants the tree of some sorted candidates, for at most `ids` buckets. Every thread of the block; the
/// tree is there after the next barrier.
template <unsigned threads, class Key, class Compare>
__device__ multiway_tree plant_tree(Key* tree, const Key* candidates, unsigned count, unsigned ids,
                                    Compare compare) {
  __shared__ unsigned repeated;
  // 1. Repeated keys show as repeated candidates, and want equality buckets, which share the numbers of
  //    buckets. So does a single splitter: without them, a segment of equal keys would never shrink.
  if (threadIdx.x == 0) repeated = count == 1 ? 1 : 0;
  __syncthreads();
  for (unsigned k = threadIdx.x + 1; k < count; k += threads) {
    if (!compare(candidates[k - 1], candidates[k])) atomicOr(&repeated, 1u);
  }
  __syncthreads();
  const bool equality = repeated != 0;
  const bool halve = equality && 2 * (count + 1) > ids;  // then every other one will do
  const unsigned splitters_wanted = halve ? count / 2 : count;

  // 2. The last splitter fills the places that are left over; nothing falls between equal splitters.
  const multiway_tree planted{tree_levels(splitters_wanted + 1), equality ? 1u : 0u};
  for (unsigned node = threadIdx.x + 1; node <= planted.splitters(); node += threads) {
    const unsigned place = min(place_in_order(node, planted.levels), splitters_wanted - 1);
    tree[node] = candidates[halve ? 2 * place + 1 : place];
  }
  return planted;
}

/// Takes the splitters of each segment of a level. All blocks sample the root; later segments have a
/// block each, and each block one or several.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(multiway_tuning<Key, Value>::sample_threads)
    multiway_sample(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr unsigned threads = tuning::sample_threads;
  const auto shared = dynamic_shared<typename sample_sort<Key, Value>::storage>().view();
  if (on_slot) context.slots.release_at_start();
  const Compare compare = context.compare;
  const task_list<segment> list = context.list(level);
  // The last level's list becomes the next one's: nobody looks at it any more.
  if (blockIdx.x == 0 && threadIdx.x == 0) *context.list(level + 1).count_and_blocks = 0;
  const unsigned samplers = level == 0 ? tuning::root_samplers : 1;
  const unsigned me = level == 0 ? blockIdx.x : 0;

  for (unsigned i = level == 0 ? 0 : blockIdx.x; i < list.size(); i += gridDim.x) {
    const segment mine = list.tasks[i];
    const position slot = mine.begin / tuning::bucket_unit;

    // 1. Sort a sample. Candidates for splitters lie evenly in it.
    const unsigned buckets = wanted_buckets<Key, Value>(mine.size(), level, context.sizes);
    const unsigned candidates = buckets - 1;
    const unsigned count = sample_size<Key, Value>(mine, buckets, context.sizes.sample, samplers);
    const Key* keys = context.buffers[mine.buffer].keys;
    const auto read = [&](unsigned k) {
      return keys[sample_position(mine, k * samplers + me, count * samplers)];
    };
    if (count <= small_sample_sort<Key, Value>::capacity) {
      small_sample_sort<Key, Value>::sort_keys(block_team<threads>{}, {shared.keys, nullptr}, read,
                                               count, compare);
    } else {
      sample_sort<Key, Value>::sort_keys(block_team<threads>{}, shared, read, count, compare);
    }
    keep_candidates<threads>(shared.keys, count, candidates);

    // 2. The last of the blocks that sampled together takes the medians.
    if (samplers > 1) {
      for (unsigned k = threadIdx.x; k < candidates; k += threads) {
        context.candidates[me * buckets + k] = shared.keys[k];
      }
      if (!last_to_arrive(context.found->samplers_done, samplers)) return;
      for (unsigned k = threadIdx.x; k < candidates; k += threads) {
        shared.keys[k] = median_at<tuning::root_samplers>(context.candidates, k, buckets, compare);
      }
      __syncthreads();
    }

    // 3. Plant the tree.
    const multiway_tree tree = plant_tree<threads>(context.trees + slot, shared.keys, candidates,
                                                   ids_of_level(level, context.sizes), compare);
    const unsigned order = level == 0 ? rising | falling : in_no_order;
    if (threadIdx.x == 0) context.plans[mine.begin / tuning::leaf_size] = {tree, order, 0, 0};
    for (unsigned b = threadIdx.x; b < tree.buckets(); b += threads) context.counts[slot + b] = 0;
    __syncthreads();
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
