// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first grid of a run: several blocks take the root's candidates from one sample.
///
/// All other work waits for this grid, and one block would take long. Each block reads the whole
/// sample and sorts one part, the keys between two pivots. The number of keys in the parts before
/// it determines which candidates are in its part. Equal keys are ordered by their index in the
/// sample, so that repeated keys make no part long.
///
///     sample, of which the candidates have ranks 2, 4 and 6       [7 1 9 4 8 2 3 6 5]
///     1. pivots, the same in all blocks                           [3 6]
///     2. block 1: its part, and the number of keys before it      [4 3 5], 2
///     3. sorted: ranks 2, 3 and 4                                 [3 4 5]: candidates 3 and 5

#include <ramify/quicksort/sample_sort_sample.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// A block's part of the root's sample in dynamic shared memory, up to `max` keys.
template <class Code, class Value>
struct root_part_memory {
  Code* part;       ///< the keys, unsorted
  Code* ordered;    ///< the keys, sorted
  unsigned* ranks;  ///< of the keys in `part`

  __device__ root_part_memory(void* memory, unsigned max)
      : part(static_cast<Code*>(memory)),
        ordered(part + max),
        ranks(reinterpret_cast<unsigned*>(static_cast<unsigned char*>(memory) + code_bytes(max))) {}
  [[nodiscard]] static constexpr std::size_t bytes(std::size_t max) {
    return code_bytes(max) + max * sizeof(unsigned);
  }

 private:
  [[nodiscard]] __host__ __device__ static constexpr std::size_t code_bytes(std::size_t max) {
    constexpr std::size_t word = sizeof(unsigned);
    const std::size_t bytes = max * sizeof(Code) + sample_bytes<Code, Value>(max);
    return (bytes + word - 1) / word * word;
  }
};

/// The sample of the root.
template <class Key, class Compare>
struct root_sample {
  using code = typename Compare::code;
  const Key* keys;
  segment root;
  unsigned count;
  Compare compare;

  [[nodiscard]] __device__ code read(unsigned k) const {
    return compare.encode(keys[sample_position(root, k, count)]);
  }
  /// Loads keys first + threadIdx.x, first + threadIdx.x + threads, ... of the sample, if they
  /// exist.
  template <unsigned threads, int items>
  __device__ void load(code (&mine)[items], unsigned first) const {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned k = first + i * threads + threadIdx.x;
      if (k < count) mine[i] = read(k);
    }
  }
};

/// The pivots between the parts of the root's sample, in static shared memory. They are chosen from
/// `size` keys of the sample.
template <class Code, unsigned parts, unsigned size>
struct root_pivots {
  static_assert((parts & (parts - 1)) == 0 && size % parts == 0);
  uninitialized_array<Code, size> keys;
  unsigned ranks[size];     ///< of `keys`
  unsigned indices[parts];  ///< of the pivots in `keys`; the first is unused

  /// Returns the index in a sample of `count` keys of key `k` of `keys`.
  [[nodiscard]] __device__ static unsigned sampled(unsigned k, unsigned count) {
    return k * count / size;
  }

  /// Returns the part of key `k` of the sample, by binary search.
  template <class Compare>
  [[nodiscard]] __device__ unsigned part_of(unsigned k, const Code& key, unsigned count,
                                            const Compare& compare) const {
    unsigned part = 0;
    for (unsigned step = parts / 2; step > 0; step /= 2) {
      const unsigned pivot = indices[part + step];
      const bool comes_first =
          k < sampled(pivot, count) ? !compare(keys[pivot], key) : compare(key, keys[pivot]);
      if (!comes_first) part += step;
    }
    return part;
  }
};

/// The sizes of a block's part of the sample, in static shared memory.
struct root_part_sizes {
  unsigned before;  ///< keys in the parts before it
  unsigned size;    ///< keys in it
};

/// Adds to the rank of each of `count` keys the number of keys before it. Equal keys are ordered by
/// their index. If there are several threads a key, they share the comparisons. All threads of the
/// block must call it. The ranks are complete after the next barrier.
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
    if (other == mine) ++other;  // a key is never before itself, whatever the comparator returns
    for (; other < end; ++other) before += compare(keys[other], key) ? 1 : 0;
    atomicAdd(&ranks[mine], before);
  }
}

/// Sorts the `size` keys of shared.part into shared.ordered. A small part is sorted by counting the
/// keys before each key, all keys at once. All threads of the block must call it. It ends with a
/// barrier.
template <class Code, class Value, class Compare>
__device__ void sort_part(const root_part_memory<Code, Value>& shared, unsigned size,
                          Compare compare) {
  constexpr unsigned threads = sample_sort_tuning<Code, Value>::sample_threads;
  const auto read = [&](unsigned k) { return shared.part[k]; };
  if (size > threads / 2) {
    sort_sample<Code, Value>(shared.ordered, read, size, compare);
    return;
  }
  // With an inconsistent comparator, some rank may belong to no key: any key is valid there.
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

/// Initializes the state of a run, its first task, and the counts of the root. All blocks of the
/// grid must call it.
template <class Key, class Value, class Compare>
__device__ __forceinline__ void begin_run(const sample_sort_context<Key, Value, Compare>& context) {
  using tuning = sample_sort_tuning<Key, Value>;
  constexpr unsigned threads = tuning::sample_threads;
  const sample_sort_sizes& sizes = context.sizes;
  if (blockIdx.x == 0) {
    clear_state(context);
    if (threadIdx.x == 0) {
      context.even.push(context.root, block_count(context.root, sizes));
      context.plan_of(context.root) = {{}, nondecreasing | nonincreasing};
    }
  }
  clear_counts(context.counts, sizes.root_buckets, max_buckets(0, sizes),
               blockIdx.x * threads + threadIdx.x, tuning::root_parts * threads);
}

/// Chooses the pivots from a few keys of the sample, and clears `sizes`. All blocks choose the same
/// pivots. With an inconsistent comparator two keys may have the same rank, and some rank may
/// belong to no key. All threads of the block must call it. It ends with a barrier.
template <unsigned threads, class Code, unsigned parts, unsigned size, class Sample>
__device__ void choose_root_pivots(root_pivots<Code, parts, size>& pivots, root_part_sizes& sizes,
                                   const Sample& sample) {
  for (unsigned k = threadIdx.x; k < size; k += threads) {
    pivots.keys[k] = sample.read(pivots.sampled(k, sample.count));
    pivots.ranks[k] = 0;
  }
  if (threadIdx.x < parts) pivots.indices[threadIdx.x] = 0;
  if (threadIdx.x == 0) sizes.before = sizes.size = 0;
  __syncthreads();
  add_ranks<threads>(pivots.ranks, pivots.keys.data(), size, sample.compare);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < size; k += threads) {
    constexpr unsigned each = size / parts;
    const unsigned rank = pivots.ranks[k];
    if (rank % each == 0) atomicMax(&pivots.indices[rank / each], k);
  }
  __syncthreads();
}

/// Copies the keys of this block's part to `part`, up to `max` keys, and counts them and those of
/// the parts before it. A part is rarely four times as long as expected; the keys beyond `max` are
/// only counted. `mine` holds the first keys of the sample. All threads of the block must call it.
/// It ends with a barrier.
template <unsigned threads, class Code, unsigned parts, unsigned size, int items, class Sample>
__device__ void collect_part(Code* part, unsigned max, root_part_sizes& sizes,
                             const root_pivots<Code, parts, size>& pivots, const Sample& sample,
                             Code (&mine)[items]) {
  for (unsigned first = 0; first < sample.count; first += items * threads) {
    if (first > 0) sample.template load<threads>(mine, first);
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned k = first + i * threads + threadIdx.x;
      unsigned where = parts;  // a missing key is in no part
      if (k < sample.count) where = pivots.part_of(k, mine[i], sample.count, sample.compare);
      if (where == blockIdx.x) {
        const unsigned index = atomicAdd(&sizes.size, 1u);
        if (index < max) part[index] = mine[i];
      }
      const unsigned earlier = __ballot_sync(full_warp_mask, where < blockIdx.x);
      if (threadIdx.x % 32 == 0 && earlier != 0) {
        atomicAdd(&sizes.before, static_cast<unsigned>(__popc(static_cast<int>(earlier))));
      }
    }
  }
  __syncthreads();
}

/// Begins a run, and takes the root's candidates from one sample with tuning::root_parts blocks.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(sample_sort_tuning<Key, Value>::sample_threads)
    sample_sort_sample_root(sample_sort_context<Key, Value, Compare> context) {
  const traced here(context.trace, __func__);
  using tuning = sample_sort_tuning<Key, Value>;
  using code = typename Compare::code;
  constexpr unsigned threads = tuning::sample_threads;
  const unsigned capacity = context.sizes.root_part;
  const unsigned buckets = context.sizes.root_buckets;
  const root_part_memory<code, Value> shared(&dynamic_shared<code>(), capacity);
  __shared__ root_pivots<code, tuning::root_parts, tuning::root_pivot_sample> pivots;
  __shared__ root_part_sizes sizes;

  // There is nothing to wait for, but the call also allows the next grid to be scheduled.
  grid_dependency_synchronize();
  begin_run(context);

  // 1. Choose pivots, while this thread's first keys of the sample are loaded.
  const root_sample<Key, Compare> sample{context.buffers.output.keys, context.root,
                                         context.sizes.root_sample, context.compare};
  code mine[tuning::root_items];
  sample.template load<threads>(mine, 0);
  choose_root_pivots<threads>(pivots, sizes, sample);

  // 2. Collect this block's part.
  collect_part<threads>(shared.part, capacity, sizes, pivots, sample, mine);

  // 3. Sort it, and take the candidates, which are evenly spaced in the sorted sample.
  const unsigned size = sizes.size;
  const unsigned kept = min(size, capacity);
  if (kept == 0) return;
  sort_part(shared, kept, sample.compare);
  for (unsigned c = threadIdx.x; c < buckets - 1; c += threads) {
    const unsigned rank = (c + 1) * sample.count / buckets;
    if (rank >= sizes.before && rank < sizes.before + size) {
      const unsigned index = rank - sizes.before;
      context.candidates[c] = shared.ordered[kept == size ? index : index * kept / size];
    }
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
