// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort with many pivots at once: sample sort (Frazer and McKellar, 1970). Against repeated
/// keys it has the equality buckets of super scalar sample sort (Sanders and Winkel, 2004).
///
/// Three grids, one after another, partition all segments of a level:
///
///     sample    a block per segment, several for the root: sorts a sample, and selects candidates
///               for splitters from it
///     count     a block per piece: counts the keys of each bucket
///     scatter   a block per piece: moves the keys to their buckets
///
///     splitters        [4 | 7]
///     bucket numbers   0: key < 4   1: key = 4   2: 4 < key < 7   3: key = 7   4: 7 < key
///
/// In the scatter grid, one block of each segment emits the children: large buckets become segments
/// of the next level, and small ones, several neighbors together, become leaves. The next round of
/// the launch chain has the grids of both. On the device route, the last block of a level launches
/// it. Leaf grids can also finish a sort of which levels are missing (sample_sort_leaves.cuh).
///
/// Integers of 8 bits without values, and many of 16, are not partitioned, but counted
/// (counting_sort.cuh).
///
/// A root that the first count finds in order stays where it is; a root in the opposite order
/// is reversed in place.

#include <ramify/quicksort/counting_sort.cuh>
#include <ramify/quicksort/sample_sort_leaves.cuh>
#include <ramify/quicksort/sample_sort_root.cuh>
#include <ramify/quicksort/sample_sort_scatter.cuh>
#include <ramify/quicksort/small_root.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The numbers of blocks of the grids of a round; 0 for no grid.
struct round_blocks {
  unsigned sample;
  unsigned count_and_scatter;
  unsigned copies;
  unsigned leaves;
};

/// Returns the numbers of blocks of the grids whose work is unknown when the host launches them.
template <class Tuning>
round_blocks blocks_for_any_work(const sample_sort_sizes& sizes, position n) {
  const auto at_most = [](position tasks, unsigned blocks) {
    return tasks < blocks ? static_cast<unsigned>(tasks) : blocks;
  };
  return {sizes.blocks, 4 * sizes.blocks, at_most(n / copy_tile + 1, 16 * sizes.blocks),
          at_most(2 * n / Tuning::leaf_size + 1, sizes.blocks)};
}

/// Launches the grids that partition the segments of a level.
template <bool launches, class Context, class Grids>
__host__ __device__ void launch_level(const Context& context, Grids& grids, unsigned level,
                                      const round_blocks& blocks) {
  using tuning = typename Context::tuning;
  const sample_sort_sizes& sizes = context.sizes;
  if (level == 0) {
    launch_shape shape =
        sizes.shape(blocks.sample, tuning::sample_threads, sizes.root_sample_bytes);
    if constexpr (!Context::is_counted) shape.serialization = stream_serialization::full;  // first
    grids(sample_sort_sample_root<Context>, shape, context);
  } else {
    grids(sample_sort_sample<Context>,
          sizes.shape(blocks.sample, tuning::sample_threads, sizes.sample_bytes), context, level);
  }
  // A counted root may have wide bucket numbers although one of its upper bound has not.
  const unsigned bytes = count_shared<Context>::bytes(
      Context::is_counted && level == 0 ? max_ids : max_buckets(level, sizes));
  grids(sample_sort_count<Context>,
        sizes.shape(blocks.count_and_scatter, tuning::count_threads, bytes), context, level);
  grids(sample_sort_scatter<launches, Context>,
        sizes.shape(blocks.count_and_scatter, tuning::tile_threads, sizes.tile_bytes), context,
        level);
}

/// Launches the grids that finish segments, in no order with the grids of a level. If
/// work.ends_chain, no level follows.
template <class Context, class Grids>
__host__ __device__ void launch_finishing(const Context& context, Grids& grids, unsigned level,
                                          const round_blocks& blocks, sample_sort_work work) {
  using tuning = typename Context::tuning;
  const sample_sort_sizes& sizes = context.sizes;
  const bool ends_chain = work.ends_chain;
  // One grid ends the chain: that of the leaves, or that of the copies if there are no leaves.
  work.ends_chain = ends_chain && blocks.leaves == 0;
  grids.unordered(sample_sort_copies<Context>, sizes.shape(blocks.copies, tuning::tile_threads, 0),
                  context, work);
  work.ends_chain = ends_chain;
  grids.unordered(sample_sort_leaves<Context>,
                  sizes.shape(blocks.leaves, tuning::leaf_threads, sizes.leaf_bytes), context, work,
                  level);
}

/// Launches all grids of a run whose root is not partitioned.
template <class Context, class Grids>
void launch_without_levels(const Context& context, Grids& grids) {
  if constexpr (countable_values<Context> != 0) {
    if (context.sizes.value_window != 0) return launch_counting_sort(context, grids);
  }
  launch_small_root(context, grids);
}

/// Launches the grids that finish the segments that are due, and those of the due level.
template <class Context, class Grids>
__host__ __device__ void launch_due_grids(const Context& context, const sample_sort_state& now,
                                          Grids& grids) {
  using tuning = typename Context::tuning;
  const auto due_leaves = static_cast<unsigned>(now.due.leaves - now.launched.leaves +
                                                now.due.long_leaves - now.launched.long_leaves);
  const unsigned long long segments = now.segments_due();  // segments << 32 | blocks
  const round_blocks blocks{
      now.level == 0 ? tuning::root_parts : static_cast<unsigned>(segments >> 32),
      static_cast<unsigned>(segments), static_cast<unsigned>(now.due.copies - now.launched.copies),
      due_leaves < context.sizes.blocks ? due_leaves : context.sizes.blocks};
  launch_finishing(context, grids, now.level, blocks,
                   {work_source::argument, now.launched, now.due, segments == 0});
  if (segments != 0) launch_level<true>(context, grids, now.level, blocks);
}

/// Launches the grids that partition the root.
template <class Context, class Grids>
void launch_root(const Context& context, Grids& grids) {
  launch_level<true>(context, grids, 0,
                     {Context::tuning::root_parts, block_count(context.root, context.sizes), 0, 0});
}

/// Launches the expected levels and then the leaves. Returns the level of the leaves.
template <class Context, class Grids>
unsigned launch_levels_ahead(const Context& context, Grids& grids) {
  const unsigned levels = context.sizes.levels_ahead;
  const round_blocks blocks =
      blocks_for_any_work<typename Context::tuning>(context.sizes, context.root.size());
  launch_root(context, grids);
  for (unsigned level = 1; level < levels; ++level) {
    launch_level<true>(context, grids, level, blocks);
  }
  launch_finishing(context, grids, levels, blocks, {work_source::all_found, {}, {}, true});
  return levels;
}

template <class Key, class Value, class Compare>
template <class Grids>
__host__ __device__ void sample_sort_context<Key, Value, Compare>::launch_round(
    const sample_sort_state& now, Grids& grids) const {
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
  if (has_no_levels()) {  // only the host launches its grids
    launch_without_levels(*this, grids);
    return;
  }
#endif
  launch_due_grids(*this, now, grids);
}

template <class Key, class Value, class Compare>
template <class Grids>
unsigned sample_sort_context<Key, Value, Compare>::launch_ahead(Grids& grids) const {
  if (!has_no_levels()) return launch_levels_ahead(*this, grids);
  launch_without_levels(*this, grids);
  return this->sizes.levels_ahead;
}

/// Launches the grid that follows the grids of the device route in the stream. It finishes the sort
/// if the kernels could not launch all rounds, and otherwise ends at once. It begins after all
/// grids that kernels have launched, which programmatic dependent launch does not promise.
template <class Context, class Grids>
__host__ __device__ void launch_rest_of(const Context& context, Grids& grids) {
  if (context.root_is_small()) return;
  grids(sample_sort_leaves<Context>,
        {context.sizes.blocks, Context::tuning::leaf_threads, context.sizes.leaf_bytes}, context,
        sample_sort_work{work_source::rest}, unsigned{level_on_device});
}

template <class Key, class Value, class Compare>
template <class Grids>
__host__ __device__ void sample_sort_context<Key, Value, Compare>::launch_rest(Grids& grids) const {
  if (!has_no_levels()) launch_rest_of(*this, grids);
}

#if RAMIFY_ON_CUDA
/// Launches a round of any size below the root, in kernels that read its level and its size.
template <class Key, class Value, class Compare>
template <class Grids>
void sample_sort_context<Key, Value, Compare>::launch_repeated(const sample_sort_state&,
                                                               Grids& grids) const {
  static_cast<void>(set_max_dynamic_shared(sample_sort_scatter<false, sample_sort_context>,
                                           this->sizes.tile_bytes));
  sample_sort_context in_loop = *this;
  in_loop.sizes.serialization = stream_serialization::full;
  const round_blocks blocks = blocks_for_any_work<tuning>(this->sizes, this->root.size());
  launch_finishing(in_loop, grids, level_on_device, blocks, {work_source::all_due});
  launch_level<false>(in_loop, grids, level_on_device, blocks);
}
#endif

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
