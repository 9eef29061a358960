// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort with many pivots at once: sample sort (Frazer and McKellar, 1970). Against repeated
/// keys it has the equality buckets of super scalar sample sort (Sanders and Winkel, 2004).
///
/// Three grids, one after another, partition all segments of a level:
///
///     sample    a block a segment    sorts a sample and takes candidates for splitters from it
///               (the root: several)
///     count     a block a piece      counts the keys of each bucket
///     scatter   a block a piece      moves the keys there
///
///     splitters        [4 | 7]
///     bucket numbers   0: key < 4   1: key = 4   2: 4 < key < 7   3: key = 7   4: 7 < key
///
/// In the scatter grid, one block of each segment emits the children: large buckets become segments
/// of the next level, and small ones, several neighbors together, become leaves. The next step of
/// the launch chain has the grids of both. On the device route, the last block of a level launches
/// it. A root that the first count finds in order stays where it is; a root in the opposite order
/// is reversed in place.

#include <ramify/quicksort/sample_sort_leaves.cuh>
#include <ramify/quicksort/sample_sort_root.cuh>
#include <ramify/quicksort/sample_sort_scatter.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Returns the shape of a grid that follows another grid of the run.
__host__ __device__ inline launch_shape shape_of_grid(const sample_sort_sizes& sizes,
                                                      unsigned blocks, unsigned threads,
                                                      unsigned shared_bytes) {
  launch_shape shape(blocks, threads, shared_bytes);
  shape.serialization = sizes.serialization;
  return shape;
}

/// The number of blocks of the grids of a level; 0 for no grid.
struct level_blocks {
  unsigned sample;
  unsigned count_and_scatter;
};

/// Launches the grids that partition the segments of a level.
template <bool launches, class Key, class Value, class Compare, class Grids>
__host__ __device__ void launch_level(const sample_sort_context<Key, Value, Compare>& context,
                                      Grids& grids, unsigned level, const level_blocks& blocks) {
  using tuning = sample_sort_tuning<Key, Value>;
  const sample_sort_sizes& sizes = context.sizes;
  if (level == 0) {
    grids(sample_sort_sample_root<Key, Value, Compare>,
          {blocks.sample, tuning::sample_threads, sizes.root_sample_bytes}, context);
  } else {
    grids(sample_sort_sample<Key, Value, Compare>,
          shape_of_grid(sizes, blocks.sample, tuning::sample_threads, sizes.sample_bytes), context,
          level);
  }
  const unsigned bytes =
      count_shared<typename Compare::code, Value>::bytes(max_buckets(level, sizes));
  grids(sample_sort_count<Key, Value, Compare>,
        shape_of_grid(sizes, blocks.count_and_scatter, tuning::count_threads, bytes), context,
        level);
  grids(sample_sort_scatter<launches, Key, Value, Compare>,
        shape_of_grid(sizes, blocks.count_and_scatter, tuning::tile_threads, sizes.tile_bytes),
        context, level);
}

/// The number of blocks of the grids that finish segments; 0 for no grid.
struct finishing_blocks {
  unsigned copies;
  unsigned leaves;
};

/// Launches the grids that finish segments, in no order with the grids of a level. If `ends_chain`,
/// no level follows.
template <class Key, class Value, class Compare, class Grids>
__host__ __device__ void launch_finishing(const sample_sort_context<Key, Value, Compare>& context,
                                          Grids& grids, unsigned level,
                                          const finishing_blocks& blocks, sample_sort_work work,
                                          bool ends_chain) {
  using tuning = sample_sort_tuning<Key, Value>;
  const sample_sort_sizes& sizes = context.sizes;
  work.ends_chain = ends_chain && blocks.leaves == 0;
  grids.unordered(sample_sort_copies<Key, Value, Compare>,
                  shape_of_grid(sizes, blocks.copies, tuning::tile_threads, 0), context, work);
  work.ends_chain = ends_chain;
  grids.unordered(sample_sort_leaves<Key, Value, Compare>,
                  shape_of_grid(sizes, blocks.leaves, tuning::max_teams * tuning::team_threads,
                                sizes.leaf_bytes),
                  context, work, level);
}

/// Launches the grids that finish the segments that are due, and those of the due level.
template <class Key, class Value, class Compare>
template <class Grids>
__host__ __device__ void sample_sort_context<Key, Value, Compare>::launch_step(
    const sample_sort_state& now, Grids& grids) const {
  const auto leaves = static_cast<unsigned>(now.due.leaves - now.launched.leaves +
                                            now.due.long_leaves - now.launched.long_leaves);
  const auto copies = static_cast<unsigned>(now.due.copies - now.launched.copies);
  const unsigned long long segments = now.segments[now.level % 2];
  launch_finishing(*this, grids, now.level,
                   {copies, leaves < this->sizes.blocks ? leaves : this->sizes.blocks},
                   {work_source::argument, now.launched, now.due}, segments == 0);
  if (segments == 0) return;
  const unsigned sample = now.level == 0 ? sample_sort_tuning<Key, Value>::root_parts
                                         : static_cast<unsigned>(segments >> 32);
  launch_level<true>(*this, grids, now.level, {sample, static_cast<unsigned>(segments)});
}

/// The number of blocks of the grids whose work is unknown when the host launches them.
template <class Key, class Value>
struct blocks_for_any_work {
  level_blocks level;
  finishing_blocks finishing;

  explicit blocks_for_any_work(const sample_sort_sizes& sizes, position n)
      : level{sizes.blocks, 4 * sizes.blocks},
        finishing{at_most(n / copy_tile + 1, 16 * sizes.blocks),
                  at_most(2 * n / sample_sort_tuning<Key, Value>::leaf_size + 1, sizes.blocks)} {}

 private:
  static unsigned at_most(position tasks, unsigned blocks) {
    return tasks < blocks ? static_cast<unsigned>(tasks) : blocks;
  }
};

/// Launches the expected levels and then the leaves. Returns the level of the leaves.
template <class Key, class Value, class Compare>
template <class Grids>
unsigned sample_sort_context<Key, Value, Compare>::launch_ahead(Grids& grids) const {
  const unsigned levels = sizes.levels_ahead;
  blocks_for_any_work<Key, Value> blocks(sizes, root.size());
  for (unsigned level = 0; level < levels; ++level) {
    const level_blocks of_root{sample_sort_tuning<Key, Value>::root_parts,
                               block_count(root, sizes)};
    launch_level<true>(*this, grids, level, level == 0 ? of_root : blocks.level);
  }
  if (levels == 0) blocks.finishing.copies = 0;  // the root is a leaf
  launch_finishing(*this, grids, levels, blocks.finishing, {work_source::all_found}, true);
  return levels;
}

#if RAMIFY_ON_CUDA
/// Launches a step of any size below the root, in kernels that read its level and its size.
template <class Key, class Value, class Compare>
template <class Grids>
void sample_sort_context<Key, Value, Compare>::launch_repeated(const sample_sort_state&,
                                                               Grids& grids) const {
  static_cast<void>(
      set_max_dynamic_shared(sample_sort_scatter<false, Key, Value, Compare>, sizes.tile_bytes));
  sample_sort_context in_loop = *this;
  in_loop.sizes.serialization = stream_serialization::full;
  const blocks_for_any_work<Key, Value> blocks(sizes, root.size());
  launch_finishing(in_loop, grids, level_on_device, blocks.finishing, {work_source::all_due},
                   false);
  launch_level<false>(in_loop, grids, level_on_device, blocks.level);
}
#endif

/// Begins a run whose root is a leaf. The grid has one block.
template <class Key, class Value, class Compare>
__global__ void sample_sort_begin(sample_sort_context<Key, Value, Compare> context) {
  const traced here(context.trace, __func__);
  clear_state(context);
  if (threadIdx.x != 0) return;
  context.leaves[0] = context.root;
  context.state->found.leaves = 1;
  context.state->due.leaves = 1;
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
