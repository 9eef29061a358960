// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What ends a multiway quicksort: sorting leaves, and bringing runs of equal keys home.

#include <ramify/quicksort/multiway_context.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Sorts one leaf, from whichever buffer, into the caller's arrays.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
    multiway_leaves(multiway_context<Key, Value, Compare> context, position first, bool on_slot) {
  using sorter = block_sorter<Key, Value>;
  auto& shared = dynamic_shared<typename sorter::storage>();
  if (on_slot) context.slots.release_at_start();

  const segment leaf = context.leaves[first + blockIdx.x];
  if (leaf.size() <= sorter::tuning::leaf_size) {
    sorter::sort_leaf(shared, context.buffers[leaf.buffer], context.buffers[0], leaf.begin,
                      static_cast<unsigned>(leaf.size()), context.compare);
  } else {
    sorter::sort_long(shared, context.buffers, leaf, context.compare);
    if (threadIdx.x == 0) atomicAdd(&context.found->merge_sorted, 1ull);
  }
}

/// Brings sorted segments home: what the first `count` of the copy list say, from block `first` on.
/// Later levels may append to the list meanwhile.
template <class Key, class Value, class Compare>
__global__ void __launch_bounds__(quicksort_tuning<Key, Value>::threads)
    multiway_copies(multiway_context<Key, Value, Compare> context, unsigned first, unsigned count,
                    bool on_slot) {
  using tuning = multiway_tuning<Key, Value>;
  if (on_slot) context.slots.release_at_start();

  const unsigned block = first + blockIdx.x;
  const unsigned index = context.copies.owner_of(block, count);
  const segment mine = context.copies.tasks[index];
  const position begin =
      mine.begin + position{block - context.copies.first_block[index]} * tuning::tile_size;
  const position end = begin + tuning::tile_size < mine.end ? begin + tuning::tile_size : mine.end;
  block_sorter<Key, Value>::copy_home(context.buffers, begin, end);
}

}  // namespace ramify::inline RAMIFY_BUILD
