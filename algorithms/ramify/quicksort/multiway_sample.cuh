// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first grid of a level: it takes candidates for splitters from a sorted sample of each segment.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Code, class Value>
using sample_sort = team_sort<Code, no_value, multiway_tuning<Code, Value>::sample_threads,
                              multiway_tuning<Code, Value>::sample_items>;

/// A small sample is sorted sooner by more threads with fewer keys each.
template <class Code, class Value>
using small_sample_sort = team_sort<Code, no_value, multiway_tuning<Code, Value>::sample_threads,
                                    odd((multiway_tuning<Code, Value>::sample_items + 2) / 3)>;

/// Bytes of shared memory in which sort_sample() sorts `count` keys.
template <class Code, class Value>
__host__ __device__ constexpr std::size_t sample_bytes(std::size_t count) {
  return (count + multiway_tuning<Code, Value>::sample_items + 1) * sizeof(Code);
}

/// Sorts the codes read(0) to read(count - 1) into `sorted`, in shared memory. Every thread of the block.
template <class Code, class Value, class Read, class Compare>
__device__ void sort_sample(Code* sorted, Read read, unsigned count, Compare compare) {
  const block_team<multiway_tuning<Code, Value>::sample_threads, 1> all;
  if (count <= small_sample_sort<Code, Value>::capacity) {
    small_sample_sort<Code, Value>::sort_keys(all, {sorted, nullptr}, read, count, compare);
  } else {
    sample_sort<Code, Value>::sort_keys(all, {sorted, nullptr}, read, count, compare);
  }
}

/// Clears the counts of a segment that is to have `wanted` buckets, `most` at most with equality buckets.
/// One of `count` threads, `me`.
__device__ inline void clear_counts(position* counts, unsigned wanted, unsigned most, unsigned me,
                                    unsigned count) {
  const unsigned may_be = 2u << tree_levels(wanted);
  const unsigned end = may_be < most ? may_be : most;
  for (unsigned b = me; b < end; b += count) counts[b] = 0;
}

/// Puts the state of a run to its beginning. One block.
template <class Key, class Value, class Compare>
__device__ void clear_state(const multiway_context<Key, Value, Compare>& context) {
  for (unsigned level = threadIdx.x; level <= most_levels; level += blockDim.x) {
    context.leaves_taken[level] = 0;
  }
  if (threadIdx.x == 0) {
    *context.found = {};
    *context.launched = {};
  }
}

/// Begins a run, and takes the root's candidates from one sample, by tuning::root_parts blocks: everybody
/// waits for it, and one block would take long. Each block reads all of the sample and sorts one part,
/// the keys between two pivots. How many keys the parts before it have tells which candidates are in its
/// part.
///
///     sample, of which the candidates are at places 2, 4 and 6    [7 1 9 4 8 2 3 6 5]
///     1. pivots, the same in all blocks                           [3 6]
///     2. block 1: its part, and how many come before              [4 3 5], 2
///     3. sorted: places 2, 3 and 4                                [3 4 5]: candidates 3 and 5
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(multiway_tuning<Key, Value>::sample_threads)
    multiway_sample_root(multiway_context<Key, Value, Compare> context) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr unsigned threads = tuning::sample_threads;
  constexpr unsigned parts = tuning::root_parts;
  constexpr unsigned pivot_sample = tuning::root_pivot_sample;
  constexpr int items = tuning::sample_items;
  const multiway_sizes& sizes = context.sizes;
  const unsigned count = sizes.root_sample;
  using code = typename Compare::code;
  code* sorted = &dynamic_shared<code>();
  code* part = sorted + sample_bytes<code, Value>(count) / sizeof(code);
  __shared__ uninitialized_array<code, pivot_sample> some;
  __shared__ unsigned pivots[parts];  // where in `some`; the first is not used
  __shared__ unsigned before;
  __shared__ unsigned part_size;

  // 0. The state of the run, its first task, and empty counts.
  if (blockIdx.x == 0) {
    clear_state(context);
    if (threadIdx.x == 0) {
      context.even.push(context.root, pieces(context.root, sizes));
      context.plan_of(context.root) = {{}, rising | falling};
    }
  }
  clear_counts(context.counts, sizes.root_buckets, most_buckets(0, sizes),
               blockIdx.x * threads + threadIdx.x, parts * threads);

  // 1. The sample, and pivots from a few of its keys: for each, the others that come before it are
  //    counted. A comparator that contradicts itself may give two the same rank, and none another, but all
  //    blocks choose the same ones.
  const Compare compare = context.compare;
  const Key* keys = context.buffers.home.keys;
  const auto read = [&](unsigned k) {
    return compare.encode(keys[sample_position(context.root, k, count)]);
  };
  code mine[items];
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    const unsigned k = i * threads + threadIdx.x;
    if (k < count) mine[i] = read(k);
  }
  if (threadIdx.x < pivot_sample) some[threadIdx.x] = read(threadIdx.x * count / pivot_sample);
  if (threadIdx.x < parts) pivots[threadIdx.x] = 0;
  if (threadIdx.x == 0) before = part_size = 0;
  __syncthreads();
  if (threadIdx.x < pivot_sample) {
    unsigned rank = 0;
    for (unsigned other = 0; other < pivot_sample; ++other) {
      const bool comes_first = other < threadIdx.x ? !compare(some[threadIdx.x], some[other])
                                                   : compare(some[other], some[threadIdx.x]);
      if (comes_first) ++rank;
    }
    for (unsigned p = 1; p < parts; ++p) {
      if (rank == p * pivot_sample / parts) atomicMax(&pivots[p], threadIdx.x);
    }
  }
  __syncthreads();

  // 2. This block's part.
  RAMIFY_UNROLL
  for (int i = 0; i < items; ++i) {
    unsigned where = parts;  // what is not there is in no part
    if (i * threads + threadIdx.x < count) {
      where = 0;
      for (unsigned p = 1; p < parts; ++p) where += compare(mine[i], some[pivots[p]]) ? 0 : 1;
    }
    const unsigned earlier = __ballot_sync(0xffffffffu, where < blockIdx.x);
    if (threadIdx.x % 32 == 0 && earlier != 0) {
      atomicAdd(&before, static_cast<unsigned>(__popc(static_cast<int>(earlier))));
    }
    if (where == blockIdx.x) part[atomicAdd(&part_size, 1u)] = mine[i];
  }
  __syncthreads();

  // 3. Sort it, and take candidates: they lie evenly in the whole sample.
  const unsigned size = part_size;
  sort_sample<code, Value>(
      sorted, [&](unsigned k) { return part[k]; }, size, compare);
  for (unsigned c = threadIdx.x; c < sizes.root_buckets - 1; c += threads) {
    const unsigned place = (c + 1) * count / sizes.root_buckets;
    if (place >= before && place < before + size) {
      context.candidates[c] = sorted[place - before];
    }
  }
}

/// Takes the candidates of each later segment: a block a segment, each block one or several.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(multiway_tuning<Key, Value>::sample_threads)
    multiway_sample(multiway_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  constexpr unsigned threads = tuning::sample_threads;
  using code = typename Compare::code;
  code* sorted = &dynamic_shared<code>();
  if (on_slot) context.slots.release_at_start();
  const task_list<segment> list = context.list(level);
  // The last level's list becomes the next one's: nobody looks at it any more.
  if (blockIdx.x == 0 && threadIdx.x == 0) *context.list(level + 1).count_and_blocks = 0;

  for (unsigned i = blockIdx.x; i < list.size(); i += gridDim.x) {
    const segment mine = list.tasks[i];
    const unsigned buckets = wanted_buckets<Key, Value>(mine.size());
    if (threadIdx.x == 0) context.plan_of(mine) = {{}, in_no_order};
    clear_counts(context.counts_of(mine), buckets, byte_ids, threadIdx.x, threads);

    const position wanted = position{tuning::oversampling} * buckets;
    position most = context.sizes.sample;
    most = most < mine.size() ? most : mine.size();
    const auto count = static_cast<unsigned>(wanted < most ? wanted : most);
    const Key* keys = context.buffers[mine.buffer].keys;
    const Compare compare = context.compare;
    const auto read = [&](unsigned k) {
      return compare.encode(keys[sample_position(mine, k, count)]);
    };
    sort_sample<code, Value>(sorted, read, count, compare);
    for (unsigned c = threadIdx.x; c < buckets - 1; c += threads) {
      context.candidates_of(mine)[c] = sorted[(c + 1) * count / buckets];
    }
    __syncthreads();
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
