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
/// of the next level, and small ones, several neighbors together, become leaves. On the device
/// route, the last block of a level launches the grids of both. A root that the first count finds
/// in order stays where it is; a root in the opposite order is reversed in place.

#include <ramify/quicksort/sample_sort_leaves.cuh>
#include <ramify/quicksort/sample_sort_root.cuh>
#include <ramify/quicksort/sample_sort_scatter.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The maximum number of grids that launch_level() launches. The device route needs as many slots.
inline constexpr unsigned sample_sort_level_grids = 5;

/// The result of launch_level().
struct level_launch {
  cudaError_t error;  ///< of the first launch that failed
  unsigned grids;     ///< number of grids launched
};

/// The number of blocks of each grid of a level; 0 for no grid.
struct level_blocks {
  unsigned copies;
  unsigned leaves;
  unsigned sample;
  unsigned count_and_scatter;
};

/// Launches the grids of a level: copies and leaves into the stream `aside`, as far as they are not
/// launched yet, and the level's partition into `in_order`. The host or one thread of a kernel
/// calls it. Stops at the first launch that fails; the rest can be launched later.
template <class Key, class Value, class Compare>
__host__ __device__ level_launch
launch_grids(const sample_sort_context<Key, Value, Compare>& context, const level_blocks& blocks,
             const sample_sort_progress& progress, sample_sort_launched& launched, unsigned level,
             bool on_slots, cudaStream_t in_order, cudaStream_t aside) {
  using tuning = sample_sort_tuning<Key, Value>;
  const sample_sort_sizes& sizes = context.sizes;
  const auto shaped = [&](unsigned grid, unsigned threads, std::size_t shared_bytes) {
    launch_shape shape(grid, threads, shared_bytes);
    shape.serialization = sizes.serialization;
    return shape;
  };
  unsigned grids = 0;

  // 1. Runs of equal keys that are in the scratch buffer.
  if (blocks.copies > 0) {
    const auto all = static_cast<unsigned>(progress.copies);
    const auto status = launch(sample_sort_copies<Key, Value, Compare>,
                               shaped(blocks.copies, tuning::tile_threads, 0), aside, context,
                               launched.copy_blocks, static_cast<unsigned>(progress.copies >> 32),
                               all == count_on_device ? all : all - launched.copy_blocks, on_slots);
    if (!status) return {status.code(), grids};
    launched.copy_blocks = all;
    ++grids;
  }
  // 2. Leaves.
  if (blocks.leaves > 0) {
    const auto left = [](unsigned long long all, unsigned long long before) {
      return all == count_on_device ? count_on_device : static_cast<unsigned>(all - before);
    };
    const leaf_range share{static_cast<unsigned>(launched.leaves),
                           left(progress.leaves, launched.leaves),
                           static_cast<unsigned>(launched.long_leaves),
                           left(progress.long_leaves, launched.long_leaves)};
    const auto status =
        launch(sample_sort_leaves<Key, Value, Compare>,
               shaped(blocks.leaves, tuning::max_teams * tuning::team_threads, sizes.leaf_bytes),
               aside, context, share, level, on_slots);
    if (!status) return {status.code(), grids};
    launched.leaves = progress.leaves;
    launched.long_leaves = progress.long_leaves;
    ++grids;
  }
  // 3. The level. Until scatter is launched, all work can be repeated. After that launch, the next
  //    level's launches may be in progress, and only they may access `launched`.
  if (blocks.count_and_scatter > 0) {
    const auto launch_one = [&](auto kernel, const launch_shape& shape) {
      const auto status = launch(kernel, shape, in_order, context, level, on_slots);
      if (status) ++grids;
      return status.code();
    };
    cudaError_t error = cudaSuccess;
    if (level == 0) {
      const auto status = launch(sample_sort_sample_root<Key, Value, Compare>,
                                 {blocks.sample, tuning::sample_threads, sizes.root_sample_bytes},
                                 in_order, context);
      error = status.code();
      if (status) ++grids;
    } else {
      error = launch_one(sample_sort_sample<Key, Value, Compare>,
                         shaped(blocks.sample, tuning::sample_threads, sizes.sample_bytes));
    }
    if (error == cudaSuccess) {
      const unsigned bytes =
          count_shared<typename Compare::code, Value>::bytes(max_buckets(level, sizes));
      error = launch_one(sample_sort_count<Key, Value, Compare>,
                         shaped(blocks.count_and_scatter, tuning::count_threads, bytes));
    }
    if (error == cudaSuccess) {
      error = launch_one(sample_sort_scatter<Key, Value, Compare>,
                         shaped(blocks.count_and_scatter, tuning::tile_threads, sizes.tile_bytes));
    }
    return {error, grids};
  }
  return {cudaSuccess, grids};
}

/// Launches the work that `progress` counts and `launched` does not.
template <class Key, class Value, class Compare>
__host__ __device__ level_launch
launch_level(const sample_sort_context<Key, Value, Compare>& context,
             const sample_sort_progress& progress, sample_sort_launched& launched, unsigned level,
             bool on_slots, cudaStream_t in_order, cudaStream_t aside) {
  const auto leaves = static_cast<unsigned>(progress.leaves - launched.leaves +
                                            progress.long_leaves - launched.long_leaves);
  const auto segments = static_cast<unsigned>(progress.segments[level % 2] >> 32);
  const level_blocks blocks{
      .copies = static_cast<unsigned>(progress.copies) - launched.copy_blocks,
      .leaves = leaves < context.sizes.blocks ? leaves : context.sizes.blocks,
      .sample = level == 0 ? sample_sort_tuning<Key, Value>::root_parts : segments,
      .count_and_scatter = static_cast<unsigned>(progress.segments[level % 2])};
  return launch_grids(context, blocks, progress, launched, level, on_slots, in_order, aside);
}

template <class Key, class Value, class Compare>
__device__ void launch_from_device(const sample_sort_context<Key, Value, Compare>& context,
                                   unsigned level, const char* name) {
#if RAMIFY_DEVICE_LAUNCH
  // One copy: the loads of single members would depend on one another, and all blocks wait for this
  // thread.
  const sample_sort_progress progress = *context.progress;
  // If there are no slots, as on the flat route, the host launches.
  if (!context.slots.acquire(*context.status, sample_sort_level_grids)) return;
  const auto launch_into = [&](cudaStream_t in_order) {
    return launch_level(context, progress, *context.launched, level, true, in_order,
                        fire_and_forget());
  };
  // The last level needs no order among grids, and creating a stream takes time.
  const bool is_last = progress.segments[level % 2] == 0;
  const level_launch done =
      is_last ? launch_into(fire_and_forget()) : launch_into(device_stream().get());
  context.slots.release(sample_sort_level_grids - done.grids);
  context.status->count_children(done.grids, level);
  context.status->record_failure(done.error, name, level - 1);
#endif
}

/// Begins a run whose root is a leaf. The grid has one block.
template <class Key, class Value, class Compare>
__global__ void sample_sort_begin(sample_sort_context<Key, Value, Compare> context) {
  const traced here(context.trace, __func__);
  clear_state(context);
  if (threadIdx.x != 0) return;
  context.leaves[0] = context.root;
  context.progress->leaves = 1;
  context.launched->leaves = 1;  // the host launches the first level
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
