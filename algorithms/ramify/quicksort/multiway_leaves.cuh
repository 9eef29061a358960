// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What ends a multiway quicksort: sorting leaves, and bringing runs of equal keys home.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <class Key, class Value>
using multiway_leaf_sorter = leaf_sorter<Key, Value, multiway_tuning<Key, Value>::team_threads,
                                         multiway_tuning<Key, Value>::leaf_items>;

/// As the number of leaves or of blocks: whatever has been found when the grid begins.
inline constexpr position all_found = ~position{0};

/// Sorts leaves, from whichever buffer, into the caller's arrays: `count` of them from `first` on. Each
/// team of each block takes one after the other.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(
    multiway_tuning<Key, Value>::most_teams* multiway_tuning<Key, Value>::team_threads)
    multiway_leaves(multiway_context<Key, Value, Compare> context, position first, position count,
                    bool on_slot) {
  using sorter = multiway_leaf_sorter<Key, Value>;
  if (on_slot) context.slots.release_at_start();
  const typename sorter::team self;
  auto& shared = (&dynamic_shared<typename sorter::storage>())[self.index];
  if (count == all_found) count = context.found->leaves - first;

  const position teams = position{context.sizes.teams} * gridDim.x;
  for (position i = self.index * gridDim.x + blockIdx.x; i < count; i += teams) {
    const segment leaf = context.leaves[first + i];
    if (sorter::sort(self, shared, context.buffers, leaf, context.compare) && self.rank == 0) {
      if (leaf.depth >= context.depth_limit) atomicAdd(&context.found->merge_sorted, 1ull);
    }
  }
}

/// Brings sorted segments home: of what the first `segments` of the copy list say, `blocks` blocks'
/// work from block `first` on. Later levels may append to the list meanwhile.
template <class Key, class Value, class Compare>
__global__ void multiway_copies(multiway_context<Key, Value, Compare> context, unsigned first,
                                unsigned segments, unsigned blocks, bool on_slot) {
  if (on_slot) context.slots.release_at_start();
  if (blocks == static_cast<unsigned>(all_found)) {
    segments = context.copies.size();
    blocks = context.copies.blocks() - first;
  }
  for (unsigned i = blockIdx.x; i < blocks; i += gridDim.x) {
    const unsigned index = context.copies.owner_of(first + i, segments);
    const segment mine = context.copies.tasks[index];
    const position begin =
        mine.begin + position{first + i - context.copies.first_block[index]} * copy_tile;
    const position end = begin + copy_tile < mine.end ? begin + copy_tile : mine.end;
    copy_home(context.buffers, begin, end, threadIdx.x, blockDim.x);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
