// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What ends a sample_sort quicksort: sorting leaves, and bringing runs of equal keys output.

#include <ramify/quicksort/sample_sort_context.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Code, class Value>
using sample_sort_leaf_sorter = leaf_sorter<Code, Value, sample_sort_tuning<Code, Value>::team_threads,
                                         sample_sort_tuning<Code, Value>::leaf_items>;

/// As the number of leaves or of blocks: whatever has been found when the grid begins.
inline constexpr unsigned count_on_device = ~0u;

/// Which leaves, and which of those that came out too long, a grid sorts.
struct leaf_range {
  unsigned first;
  unsigned count;
  unsigned first_long;
  unsigned long_count;
};

/// A long leaf is sorted by all of a block.
template <class Code, class Value>
using sample_sort_long_leaf_sorter = leaf_sorter<Code, Value,
                                              sample_sort_tuning<Code, Value>::max_teams *
                                                  sample_sort_tuning<Code, Value>::team_threads,
                                              sample_sort_tuning<Code, Value>::leaf_items>;

/// Sorts leaves of `level`, from whichever buffer, into the caller's arrays.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(
    sample_sort_tuning<Key, Value>::max_teams* sample_sort_tuning<Key, Value>::team_threads)
    sample_sort_leaves(sample_sort_context<Key, Value, Compare> context, leaf_range share, unsigned level,
                    bool on_slot) {
  const traced here(context.trace, __func__);
  using code = typename Compare::code;
  using sorter = sample_sort_leaf_sorter<code, Value>;
  using long_sorter = sample_sort_long_leaf_sorter<code, Value>;
  __shared__ unsigned upcoming[sample_sort_tuning<Key, Value>::max_teams];
  grid_dependency_synchronize();
  if (on_slot) context.slots.release_at_start();
  if (share.count == count_on_device) {
    share.count = static_cast<unsigned>(context.progress->leaves) - share.first;
    share.long_count = static_cast<unsigned>(context.progress->long_leaves) - share.first_long;
  }

  // 1. Long leaves, by all threads of a block. There are few, in few blocks.
  const unsigned most = context.sizes.long_leaf;
  void* memory = &dynamic_shared<typename sorter::storage>();
  for (unsigned i = blockIdx.x; i < share.long_count; i += gridDim.x) {
    const segment leaf = context.long_leaves[share.first_long + i];
    long_sorter::sort({}, long_sorter::leaf_sort::lay_out(memory, most), context.buffers, leaf,
                      context.compare, most);
    if (threadIdx.x == 0 && leaf.depth >= context.depth_limit) {
      atomicAdd(&context.progress->merge_sorted, 1ull);
    }
  }

  // 2. Leaves, by teams. Each begins with one of its own, unless its block is late because of a long leaf,
  //    and takes another when it is ready, for leaves differ in length.
  const typename sorter::team self;
  if (self.index >= context.sizes.teams) return;
  const auto shared = static_cast<typename sorter::storage*>(memory)[self.index].view();
  const unsigned late = share.long_count < gridDim.x ? share.long_count : gridDim.x;
  const unsigned punctual = gridDim.x - late;
  const auto ask = [&] {
    if (self.rank != 0) return;
    upcoming[self.index] =
        punctual * context.sizes.teams + atomicAdd(&context.leaves_taken[level], 1u);
  };
  const auto answer = [&] {
    self.sync();
    const unsigned leaf = upcoming[self.index];
    self.sync();  // all have read it before it is written again
    return leaf;
  };
  unsigned i = self.index * punctual + blockIdx.x - late;
  if (blockIdx.x < late) {
    ask();
    i = answer();
  }
  while (i < share.count) {
    ask();  // the answer comes while the team sorts
    sorter::sort_leaf(self, shared, context.buffers, context.leaves[share.first + i],
                      context.compare);
    i = answer();
  }
}

/// Brings sorted segments home: of what the first `segments` of the copy list say, `blocks` blocks'
/// work from block `first` on. Later levels may append to the list meanwhile.
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
