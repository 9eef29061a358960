// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The first grid of a level: it selects the splitter candidates of each segment from a sorted
/// sample.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Sorts a sample with all threads of a block.
template <class Context, int items = Context::tuning::sample_items>
using sample_merge_sort =
    team_merge_sort<typename Context::code, no_value, Context::tuning::sample_threads, items>;

/// Sorts the codes read(0) to read(count - 1) into `sorted`, in shared memory. A small sample is
/// sorted with fewer keys per thread, which takes less time. All threads of the block must call
/// this function. It ends with a barrier.
template <class Context, class Read, class Compare>
__device__ void sort_sample(typename Context::code* sorted, Read read, unsigned count,
                            Compare compare) {
  using small_merge_sort = sample_merge_sort<Context, Context::tuning::small_sample_items>;
  const block_team<Context::tuning::sample_threads, 1> block;
  if (count <= small_merge_sort::capacity) {
    small_merge_sort::sort_keys(block, {sorted, nullptr}, read, count, compare);
  } else {
    sample_merge_sort<Context>::sort_keys(block, {sorted, nullptr}, read, count, compare);
  }
}

/// Clears the bucket counts of a segment: those of the smallest splitter tree with at least
/// `target` leaves, equality buckets included, and at most `max`. Each of `threads` threads must
/// call it with its own `rank`.
__device__ inline void clear_counts(position* counts, unsigned target, unsigned max, unsigned rank,
                                    unsigned threads) {
  const unsigned possible = 2u << tree_levels(target);
  const unsigned end = possible < max ? possible : max;
  for (unsigned b = rank; b < end; b += threads) counts[b] = 0;
}

/// Initializes the state of a run. All threads of one block must call it. (Inlined: nvlink rejects
/// copies of a function whose size differs between files.)
template <class Context>
__device__ __forceinline__ void clear_state(const Context& context) {
  for (unsigned level = threadIdx.x; level <= max_levels; level += blockDim.x) {
    context.leaves_taken[level] = 0;
  }
  if (threadIdx.x == 0) *context.state = {};
}

/// Selects the splitter candidates of each segment below the root. One block processes one segment
/// at a time.
template <class Context>
__global__ void __launch_bounds__(Context::tuning::sample_threads)
    sample_sort_sample(Context context, unsigned level) {
  const traced here(context.trace, __func__);
  using tuning = typename Context::tuning;
  auto* sorted = &dynamic_shared<typename Context::code>();
  grid_dependency_synchronize();
  context.read_root();
  context.release_slot();
  level = context.level_of_grid(level);
  const task_list<segment> list = context.list(level);
  // Two lists alternate: the list of the previous level is cleared and reused for the next level.
  // No kernel reads it any more.
  if (blockIdx.x == 0 && threadIdx.x == 0) *context.list(level + 1).count_and_blocks = 0;

  for (unsigned i = blockIdx.x; i < list.size(); i += gridDim.x) {
    const segment mine = list.tasks[i];
    const unsigned buckets = target_buckets<tuning>(mine.size());
    if (threadIdx.x == 0) context.plan_of(mine) = {{}, unordered};
    clear_counts(context.counts_of(mine), buckets, byte_ids, threadIdx.x, tuning::sample_threads);

    const position max = min(position{context.sizes.sample}, mine.size());
    const auto count = static_cast<unsigned>(min(position{tuning::oversampling} * buckets, max));
    const auto* keys = context.buffers[mine.buffer].keys;
    const auto compare = context.compare;
    const auto read = [&](unsigned k) {
      return compare.encode(keys[sample_position(mine, k, count)]);
    };
    sort_sample<Context>(sorted, read, count, compare);
    for (unsigned c = threadIdx.x; c < buckets - 1; c += tuning::sample_threads) {
      context.candidates_of(mine)[c] = sorted[(c + 1) * count / buckets];
    }
    __syncthreads();
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
