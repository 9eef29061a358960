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

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// A block's part of the root's sample in dynamic shared memory, up to `max` keys.
template <class Context>
struct root_part_memory {
  using code = typename Context::code;
  code* part;       ///< the keys, unsorted
  code* ordered;    ///< the keys, sorted
  unsigned* ranks;  ///< of the keys in `part`

  __device__ root_part_memory(void* memory, unsigned max)
      : part(static_cast<code*>(memory)),
        ordered(part + max),
        ranks(reinterpret_cast<unsigned*>(static_cast<unsigned char*>(memory) + code_bytes(max))) {}
  [[nodiscard]] __host__ __device__ static constexpr std::size_t bytes(std::size_t max) {
    return code_bytes(max) + max * sizeof(unsigned);
  }

 private:
  [[nodiscard]] __host__ __device__ static constexpr std::size_t code_bytes(std::size_t max) {
    constexpr std::size_t word = sizeof(unsigned);
    const std::size_t bytes = max * sizeof(code) + sample_merge_sort<Context>::bytes(max);
    return (bytes + word - 1) / word * word;
  }
};

/// The static shared memory of a block: the pivots between the parts of the root's sample, which
/// are chosen from some keys of the sample, and the sizes of the block's part.
template <class Context>
struct root_part_shared {
  static constexpr unsigned size = Context::tuning::root_pivot_sample;
  static constexpr unsigned parts = Context::tuning::root_parts;
  static_assert((parts & (parts - 1)) == 0 && size % parts == 0);

  uninitialized_array<typename Context::code, size> keys;
  unsigned ranks[size];    ///< of `keys`
  unsigned pivots[parts];  ///< their indices in `keys`; the first is unused
  unsigned keys_before;    ///< keys in the parts before the block's part
  unsigned keys_in_part;
};

/// The work of a block on the sample of the root. All threads of the block must make the same
/// calls.
template <class Context>
struct root_sampler {
  using code = typename Context::code;
  using tuning = typename Context::tuning;
  static constexpr unsigned threads = tuning::sample_threads;
  static constexpr int items = tuning::root_items;

  const Context& context;
  const root_part_memory<Context>& memory;
  root_part_shared<Context>& shared;
  unsigned count;  ///< keys of the sample

  /// Loads keys first + threadIdx.x, first + threadIdx.x + threads, ... of the sample, if they
  /// exist.
  __device__ void load(code (&mine)[items], unsigned first) const {
    RAMIFY_UNROLL
    for (int i = 0; i < items; ++i) {
      const unsigned k = first + unsigned(i) * threads + threadIdx.x;
      if (k < count) mine[i] = read(k);
    }
  }

  /// Chooses the pivots from a few keys of the sample, and clears the sizes. All blocks choose the
  /// same pivots. With an inconsistent comparator two keys may have the same rank, and some rank
  /// may belong to no key. It ends with a barrier.
  __device__ void choose_pivots() const {
    constexpr unsigned size = root_part_shared<Context>::size;
    for (unsigned k = threadIdx.x; k < size; k += threads) {
      shared.keys[k] = read(sampled(k));
      shared.ranks[k] = 0;
    }
    if (threadIdx.x < shared.parts) shared.pivots[threadIdx.x] = 0;
    if (threadIdx.x == 0) shared.keys_before = shared.keys_in_part = 0;
    __syncthreads();
    add_ranks(shared.ranks, shared.keys.data(), size);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < size; k += threads) {
      constexpr unsigned each = size / root_part_shared<Context>::parts;
      const unsigned rank = shared.ranks[k];
      if (rank % each == 0) atomicMax(&shared.pivots[rank / each], k);
    }
    __syncthreads();
  }

  /// Copies the keys of this block's part to memory.part, up to the capacity, and counts them and
  /// those of the parts before it. A part is rarely four times as long as expected; the keys beyond
  /// the capacity are only counted. `mine` holds the first keys of the sample. It ends with a
  /// barrier.
  __device__ void collect_part(code (&mine)[items]) const {
    for (unsigned first = 0; first < count; first += items * threads) {
      if (first > 0) load(mine, first);
      RAMIFY_UNROLL
      for (int i = 0; i < items; ++i) {
        const unsigned k = first + unsigned(i) * threads + threadIdx.x;
        unsigned where = shared.parts;  // a missing key is in no part
        if (k < count) where = part_of(k, mine[i]);
        if (where == blockIdx.x) {
          const unsigned index = atomicAdd(&shared.keys_in_part, 1u);
          if (index < context.sizes.root_part) memory.part[index] = mine[i];
        }
        const unsigned earlier = __ballot_sync(full_warp_mask, where < blockIdx.x);
        if (threadIdx.x % 32 == 0 && earlier != 0) {
          atomicAdd(&shared.keys_before, static_cast<unsigned>(__popc(earlier)));
        }
      }
    }
    __syncthreads();
  }

  /// Sorts `size` keys of memory.part into memory.ordered. A small part is sorted by counting the
  /// keys before each key, all keys at once. It ends with a barrier.
  __device__ void sort_part(unsigned size) const {
    const auto read_part = [&](unsigned k) { return memory.part[k]; };
    if (size > threads / 2) {
      sort_sample<Context>(memory.ordered, read_part, size, context.compare);
      return;
    }
    // With an inconsistent comparator, some rank may belong to no key: any key is valid there.
    for (unsigned k = threadIdx.x; k < size; k += threads) {
      memory.ordered[k] = memory.part[k];
      memory.ranks[k] = 0;
    }
    __syncthreads();
    add_ranks(memory.ranks, memory.part, size);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < size; k += threads) {
      memory.ordered[memory.ranks[k]] = memory.part[k];
    }
    __syncthreads();
  }

 private:
  /// Returns key `k` of the sample.
  [[nodiscard]] __device__ code read(unsigned k) const {
    const auto* keys = context.buffers.output.keys;
    return context.compare.encode(keys[sample_position(context.root, k, count)]);
  }
  /// Returns the index in the sample of key `k` of shared.keys.
  [[nodiscard]] __device__ unsigned sampled(unsigned k) const { return k * count / shared.size; }

  /// Returns the part of key `k` of the sample, by binary search.
  [[nodiscard]] __device__ unsigned part_of(unsigned k, const code& key) const {
    const auto& compare = context.compare;
    unsigned part = 0;
    for (unsigned step = shared.parts / 2; step > 0; step /= 2) {
      const unsigned index = shared.pivots[part + step];
      const code& pivot = shared.keys[index];
      const bool comes_first = k < sampled(index) ? !compare(pivot, key) : compare(key, pivot);
      if (!comes_first) part += step;
    }
    return part;
  }

  /// Adds to the rank of each of `size` keys the number of keys before it. Equal keys are ordered
  /// by their index. If a key has several threads, they share its comparisons. The ranks are
  /// complete after the next barrier.
  __device__ void add_ranks(unsigned* ranks, const code* keys, unsigned size) const {
    const auto compare = context.compare;
    const unsigned shares = size < threads ? threads / size : 1;
    for (unsigned job = threadIdx.x; job < shares * size; job += threads) {
      const unsigned mine = job % size;
      const unsigned share = job / size;
      const unsigned end = (share + 1) * size / shares;
      const code key = keys[mine];
      unsigned other = share * size / shares;
      unsigned before = 0;
      for (; other < min(mine, end); ++other) before += compare(key, keys[other]) ? 0u : 1u;
      if (other == mine) ++other;  // a key is never before itself, whatever the comparator returns
      for (; other < end; ++other) before += compare(keys[other], key) ? 1u : 0u;
      atomicAdd(&ranks[mine], before);
    }
  }
};

/// Initializes the state of a run, its first task, and the counts of the root. All blocks of the
/// grid must call it.
template <class Context>
__device__ __forceinline__ void begin_run(const Context& context) {
  using tuning = typename Context::tuning;
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

/// Begins a run, and takes the root's candidates from one sample with tuning::root_parts blocks.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::sample_threads)
    sample_sort_sample_root(Context context) {
  const traced here(context.trace, __func__);
  using sampler = root_sampler<Context>;
  __shared__ root_part_shared<Context> shared;

  // A counted root has grids before this one. Otherwise there is nothing to wait for, but the call
  // also allows the next grid to be scheduled.
  grid_dependency_synchronize();
  context.read_root();
  if (Context::is_counted && context.root_is_small()) return;
  begin_run(context);
  const unsigned capacity = context.sizes.root_part;
  const unsigned buckets = context.sizes.root_buckets;
  const root_part_memory<Context> memory(&dynamic_shared<typename Context::code>(), capacity);

  // 1. Choose pivots, while this thread's first keys of the sample are loaded.
  const sampler sample{context, memory, shared, context.sizes.root_sample};
  typename Context::code mine[sampler::items];
  sample.load(mine, 0);
  sample.choose_pivots();

  // 2. Collect this block's part.
  sample.collect_part(mine);

  // 3. Sort it, and take the candidates, which are evenly spaced in the sorted sample.
  const unsigned size = shared.keys_in_part;
  const unsigned kept = min(size, capacity);
  if (kept == 0) return;
  sample.sort_part(kept);
  for (unsigned c = threadIdx.x; c < buckets - 1; c += sampler::threads) {
    const unsigned rank = (c + 1) * sample.count / buckets;
    if (rank >= shared.keys_before && rank < shared.keys_before + size) {
      const unsigned index = rank - shared.keys_before;
      context.candidates[c] = memory.ordered[kept == size ? index : index * kept / size];
    }
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
