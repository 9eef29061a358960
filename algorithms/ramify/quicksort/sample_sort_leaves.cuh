// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grids that finish a sample sort: leaves are sorted, and runs of equal keys are copied to the
/// output.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Sorts a leaf with a team of a block's threads.
template <class Code, class Value>
using sample_sort_leaf_sorter =
    leaf_sorter<Code, Value, sample_sort_tuning<Code, Value>::team_threads,
                sample_sort_tuning<Code, Value>::leaf_items>;

/// Sorts a long leaf with all threads of a block.
template <class Code, class Value>
using sample_sort_long_leaf_sorter = leaf_sorter<Code, Value,
                                                 sample_sort_tuning<Code, Value>::max_teams *
                                                     sample_sort_tuning<Code, Value>::team_threads,
                                                 sample_sort_tuning<Code, Value>::leaf_items>;

/// As a number of leaves or of blocks: the kernel reads the number from device memory when it
/// starts.
inline constexpr unsigned count_on_device = ~0u;

/// The leaves, and the long leaves, that a grid sorts.
struct leaf_range {
  unsigned first;
  unsigned count;
  unsigned first_long;
  unsigned long_count;
};

/// Sorts long leaves, one block a leaf. All threads of the block must call it.
template <class Key, class Value, class Compare>
__device__ void sort_long_leaves(const sample_sort_context<Key, Value, Compare>& context,
                                 const leaf_range& range, void* shared) {
  using sorter = sample_sort_long_leaf_sorter<typename Compare::code, Value>;
  const unsigned max = context.sizes.long_leaf;
  for (unsigned i = blockIdx.x; i < range.long_count; i += gridDim.x) {
    const segment leaf = context.long_leaves[range.first_long + i];
    sorter::sort({}, sorter::leaf_sort::lay_out(shared, max), context.buffers, leaf,
                 context.compare, max);
    if (threadIdx.x == 0 && leaf.depth >= context.depth_limit) {
      atomicAdd(&context.progress->merge_sorted, 1ull);
    }
  }
}

/// Sorts leaves, one team a leaf. A team of a block without long leaves has a first leaf that its
/// number determines. All further leaves are fetched dynamically, because leaves differ in length.
/// All threads of the team must call it.
template <class Key, class Value, class Compare>
__device__ void sort_leaves_by_team(
    const sample_sort_context<Key, Value, Compare>& context, const leaf_range& range,
    unsigned level,
    const typename sample_sort_leaf_sorter<typename Compare::code, Value>::team& self,
    unsigned& upcoming,
    const typename sample_sort_leaf_sorter<typename Compare::code, Value>::arrays& shared) {
  using sorter = sample_sort_leaf_sorter<typename Compare::code, Value>;
  const unsigned with_long_leaf = range.long_count < gridDim.x ? range.long_count : gridDim.x;
  const unsigned without_long_leaf = gridDim.x - with_long_leaf;
  const unsigned first_dynamic = without_long_leaf * context.sizes.teams;
  const auto request_next = [&] {
    if (self.rank == 0) upcoming = first_dynamic + atomicAdd(&context.leaves_taken[level], 1u);
  };
  const auto fetch_next = [&] {
    self.sync();
    const unsigned leaf = upcoming;
    self.sync();  // all threads have read it before it is overwritten
    return leaf;
  };
  unsigned i = self.index * without_long_leaf + blockIdx.x - with_long_leaf;
  if (blockIdx.x < with_long_leaf) {
    request_next();
    i = fetch_next();
  }
  while (i < range.count) {
    request_next();  // the atomic operation overlaps with the sort
    sorter::sort_leaf(self, shared, context.buffers, context.leaves[range.first + i],
                      context.compare);
    i = fetch_next();
  }
}

/// Sorts leaves of `level`, from either buffer, into the output arrays.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(
    sample_sort_tuning<Key, Value>::max_teams* sample_sort_tuning<Key, Value>::team_threads)
    sample_sort_leaves(sample_sort_context<Key, Value, Compare> context, leaf_range range,
                       unsigned level, bool on_slot) {
  const traced here(context.trace, __func__);
  using sorter = sample_sort_leaf_sorter<typename Compare::code, Value>;
  __shared__ unsigned upcoming[sample_sort_tuning<Key, Value>::max_teams];
  grid_dependency_synchronize();
  if (on_slot) context.slots.release_at_start();
  if (range.count == count_on_device) {
    range.count = static_cast<unsigned>(context.progress->leaves) - range.first;
    range.long_count = static_cast<unsigned>(context.progress->long_leaves) - range.first_long;
  }

  // 1. Long leaves, by all threads of a block. They are few, and in few blocks.
  auto* const shared = &dynamic_shared<typename sorter::storage>();
  sort_long_leaves(context, range, shared);

  // 2. Leaves, by teams.
  const typename sorter::team self;
  if (self.index >= context.sizes.teams) return;
  sort_leaves_by_team(context, range, level, self, upcoming[self.index], shared[self.index].view());
}

/// Copies sorted segments to the output: `blocks` tiles from tile `first` on, of the first
/// `segments` segments of the copy list. Later levels may append to the list at the same time.
template <class Key, class Value, class Compare>
__global__ void sample_sort_copies(sample_sort_context<Key, Value, Compare> context, unsigned first,
                                   unsigned segments, unsigned blocks, bool on_slot) {
  const traced here(context.trace, __func__);
  grid_dependency_synchronize();
  if (on_slot) context.slots.release_at_start();
  if (blocks == count_on_device) {
    segments = context.copies.size();
    blocks = context.copies.blocks() - first;
  }
  for (unsigned i = blockIdx.x; i < blocks; i += gridDim.x) {
    const unsigned index = context.copies.owner_of(first + i, segments);
    const segment mine = context.copies.tasks[index];
    const position begin =
        mine.begin + position{first + i - context.copies.first_block[index]} * copy_tile;
    const position end = begin + copy_tile < mine.end ? begin + copy_tile : mine.end;
    copy_to_output(context.buffers, begin, end, threadIdx.x, blockDim.x);
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
