// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first grid of a level: it takes candidates for splitters from a sorted sample of each segment.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Code, class Value>
using sample_merge_sort = team_merge_sort<Code, no_value, sample_sort_tuning<Code, Value>::sample_threads,
                              sample_sort_tuning<Code, Value>::sample_items>;

/// A small sample is sorted sooner by more threads with fewer keys each.
template <class Code, class Value>
using small_sample_merge_sort = team_merge_sort<Code, no_value, sample_sort_tuning<Code, Value>::sample_threads,
                                    round_down_to_odd((sample_sort_tuning<Code, Value>::sample_items + 2) / 3)>;

/// Bytes of shared memory in which sort_sample() sorts `count` keys.
template <class Code, class Value>
__host__ __device__ constexpr std::size_t sample_bytes(std::size_t count) {
  return (count + sample_sort_tuning<Code, Value>::sample_items + 1) * sizeof(Code);
}

/// Sorts the codes read(0) to read(count - 1) into `sorted`, in shared memory. Every thread of the block.
template <class Code, class Value, class Read, class Compare>
__device__ void sort_sample(Code* sorted, Read read, unsigned count, Compare compare) {
  const block_team<sample_sort_tuning<Code, Value>::sample_threads, 1> all;
  if (count <= small_sample_merge_sort<Code, Value>::capacity) {
    small_sample_merge_sort<Code, Value>::sort_keys(all, {sorted, nullptr}, read, count, compare);
  } else {
    sample_merge_sort<Code, Value>::sort_keys(all, {sorted, nullptr}, read, count, compare);
  }
}

/// What a block has in shared memory of a part of the root's sample, up to `most` keys.
template <class Code, class Value>
struct root_part_memory {
  Code* part;       ///< in no order
  Code* ordered;    ///< the same
  unsigned* ranks;  ///< of its keys

  __device__ root_part_memory(void* memory, unsigned most)
      : part(static_cast<Code*>(memory)),
        ordered(part + most),
        ranks(reinterpret_cast<unsigned*>(static_cast<unsigned char*>(memory) + code_bytes(most))) {
  }
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t most) {
    return code_bytes(most) + most * sizeof(unsigned);
  }

 private:
  [[nodiscard]] __host__ __device__ static constexpr std::size_t code_bytes(std::size_t most) {
    constexpr std::size_t word = sizeof(unsigned);
    const std::size_t bytes = most * sizeof(Code) + sample_bytes<Code, Value>(most);
    return (bytes + word - 1) / word * word;
  }
};

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
__device__ void clear_state(const sample_sort_context<Key, Value, Compare>& context) {
  for (unsigned level = threadIdx.x; level <= max_levels; level += blockDim.x) {
    context.leaves_taken[level] = 0;
  }
  if (threadIdx.x == 0) {
    *context.progress = {};
    *context.launched = {};
  }
}

/// How many of `count` keys come before each of them, added to `ranks`. What is equal counts by its place.
/// Threads that are left over share the others of a key among them. Every thread of the block; the ranks are
/// there after the next barrier.
template <unsigned threads, class Code, class Compare>
__device__ void add_ranks(unsigned* ranks, const Code* keys, unsigned count, Compare compare) {
  const unsigned shares = count < threads ? threads / count : 1;
  for (unsigned job = threadIdx.x; job < shares * count; job += threads) {
    const unsigned mine = job % count;
    const unsigned share = job / count;
    const unsigned end = (share + 1) * count / shares;
    const Code key = keys[mine];
    unsigned other = share * count / shares;
    unsigned before = 0;
    for (; other < min(mine, end); ++other) before += compare(key, keys[other]) ? 0 : 1;
    if (other == mine) ++other;  // by no means before itself, whatever the comparator says
    for (; other < end; ++other) before += compare(keys[other], key) ? 1 : 0;
    atomicAdd(&ranks[mine], before);
  }
}

/// Sorts a part of `size` keys, shared.part, into shared.ordered: a small one by counting for each key which
/// come before, all keys at once. Every thread of the block; they have met when it returns.
template <class Code, class Value, class Compare>
__device__ void sort_part(const root_part_memory<Code, Value>& shared, unsigned size,
                           Compare compare) {
  constexpr unsigned threads = sample_sort_tuning<Code, Value>::sample_threads;
  const auto read = [&](unsigned k) { return shared.part[k]; };
  if (size > threads / 2) {
    sort_sample<Code, Value>(shared.ordered, read, size, compare);
    return;
  }
  // A comparator that contradicts itself may give no key a certain rank: any key will do there.
  for (unsigned k = threadIdx.x; k < size; k += threads) {
    shared.ordered[k] = read(k);
    shared.ranks[k] = 0;
  }
  __syncthreads();
  add_ranks<threads>(shared.ranks, shared.part, size, compare);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < size; k += threads) shared.ordered[shared.ranks[k]] = read(k);
  __syncthreads();
}

/// Begins a run, and takes the root's candidates from one sample, by tuning::root_parts blocks: everybody
/// waits for it, and one block would take long. Each block reads all of the sample and orders one part,
/// the keys between two pivots. How many keys the parts before it have tells which candidates are in its
/// part. What is equal is ordered by its place in the sample, so that no part is long because of it.
///
///     sample, of which the candidates are at places 2, 4 and 6    [7 1 9 4 8 2 3 6 5]
///     1. pivots, the same in all blocks                           [3 6]
///     2. block 1: its part, and how many come before              [4 3 5], 2
///     3. ordered: places 2, 3 and 4                               [3 4 5]: candidates 3 and 5
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(sample_sort_tuning<Key, Value>::sample_threads)
    sample_sort_sample_root(sample_sort_context<Key, Value, Compare> context) {
  const traced here(context.trace, __func__);
  using tuning = sample_sort_tuning<Key, Value>;
  using code = typename Compare::code;
  constexpr unsigned threads = tuning::sample_threads;
  constexpr unsigned parts = tuning::root_parts;
  constexpr unsigned pivot_sample = tuning::root_pivot_sample;
  constexpr int items = tuning::root_items;
  static_assert((parts & (parts - 1)) == 0 && pivot_sample % parts == 0);
  const sample_sort_sizes& sizes = context.sizes;
  const unsigned count = sizes.root_sample;
  const root_part_memory<code, Value> shared(&dynamic_shared<code>(), sizes.root_part);
  __shared__ uninitialized_array<code, pivot_sample> some;
  __shared__ unsigned ranks_of_some[pivot_sample];
  __shared__ unsigned pivots[parts];  // where in `some`; the first is not used
  __shared__ unsigned before;
  __shared__ unsigned part_size;

  grid_dependency_synchronize();  // for nothing: now the next one may take its place

  // 0. The state of the run, its first task, and empty counts.
  if (blockIdx.x == 0) {
    clear_state(context);
    if (threadIdx.x == 0) {
      context.even.push(context.root, block_count(context.root, sizes));
      context.plan_of(context.root) = {{}, nondecreasing | nonincreasing};
    }
  }
  clear_counts(context.counts, sizes.root_buckets, max_buckets(0, sizes),
               blockIdx.x * threads + threadIdx.x, parts * threads);

  // 1. Pivots, from a few keys of the sample. A comparator that contradicts itself may give two keys the same
  //    rank, and none another, but all blocks choose the same ones.
  const Compare compare = context.compare;
  const Key* keys = context.buffers.output.keys;
  const auto read = [&](unsigned k) {
    return compare.encode(keys[sample_position(context.root, k, count)]);
  };
  code mine[items];
  const auto read_some = [&](unsigned first) {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned k = first + i * threads + threadIdx.x;
      if (k < count) mine[i] = read(k);
    }
  };
  read_some(0);  // they come while pivots are chosen
  const auto sampled = [&](unsigned number) { return number * count / pivot_sample; };
  for (unsigned k = threadIdx.x; k < pivot_sample; k += threads) {
    some[k] = read(sampled(k));
    ranks_of_some[k] = 0;
  }
  if (threadIdx.x < parts) pivots[threadIdx.x] = 0;
  if (threadIdx.x == 0) before = part_size = 0;
  __syncthreads();
  add_ranks<threads>(ranks_of_some, some.data(), pivot_sample, compare);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < pivot_sample; k += threads) {
    constexpr unsigned each = pivot_sample / parts;
    const unsigned rank = ranks_of_some[k];
    if (rank % each == 0) atomicMax(&pivots[rank / each], k);
  }
  __syncthreads();

  // 2. This block's part: each key's is found by binary search among the pivots. What has no room, for a part
  //    is hardly ever four times as long as it should be, is counted only.
  for (unsigned first = 0; first < count; first += items * threads) {
    if (first > 0) read_some(first);
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned k = first + i * threads + threadIdx.x;
      unsigned where = parts;  // what is not there is in no part
      if (k < count) {
        where = 0;
        for (unsigned step = parts / 2; step > 0; step /= 2) {
          const unsigned pivot = pivots[where + step];
          const bool comes_first =
              k < sampled(pivot) ? !compare(some[pivot], mine[i]) : compare(mine[i], some[pivot]);
          if (!comes_first) where += step;
        }
      }
      if (where == blockIdx.x) {
        const unsigned place = atomicAdd(&part_size, 1u);
        if (place < sizes.root_part) shared.part[place] = mine[i];
      }
      const unsigned earlier = __ballot_sync(full_warp_mask, where < blockIdx.x);
      if (threadIdx.x % 32 == 0 && earlier != 0) {
        atomicAdd(&before, static_cast<unsigned>(__popc(static_cast<int>(earlier))));
      }
    }
  }
  __syncthreads();

  // 3. Order it, and take candidates: they lie evenly in the whole sample.
  const unsigned size = part_size;
  const unsigned kept = min(size, sizes.root_part);
  if (kept == 0) return;
  sort_part(shared, kept, compare);
  for (unsigned c = threadIdx.x; c < sizes.root_buckets - 1; c += threads) {
    const unsigned place = (c + 1) * count / sizes.root_buckets;
    if (place >= before && place < before + size) {
      const unsigned here = place - before;
      context.candidates[c] = shared.ordered[kept == size ? here : here * kept / size];
    }
  }
}

/// Takes the candidates of each later segment: a block a segment, each block one or several.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(sample_sort_tuning<Key, Value>::sample_threads)
    sample_sort_sample(sample_sort_context<Key, Value, Compare> context, unsigned level, bool on_slot) {
  const traced here(context.trace, __func__);
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned threads = tuning::sample_threads;
  using code = typename Compare::code;
  code* sorted = &dynamic_shared<code>();
  grid_dependency_synchronize();
  if (on_slot) context.slots.release_at_start();
  const task_list<segment> list = context.list(level);
  // The last level's list becomes the next one's: nobody looks at it any more.
  if (blockIdx.x == 0 && threadIdx.x == 0) *context.list(level + 1).count_and_blocks = 0;

  for (unsigned i = blockIdx.x; i < list.size(); i += gridDim.x) {
    const segment mine = list.tasks[i];
    const unsigned buckets = target_buckets<Key, Value>(mine.size());
    if (threadIdx.x == 0) context.plan_of(mine) = {{}, unordered};
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

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
