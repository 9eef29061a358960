// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort with many pivots at once: sample sort (Frazer and McKellar, 1970), with the equality
/// buckets of super scalar sample sort (Sanders and Winkel, 2004) against repeated keys.
///
/// All segments of a level are partitioned by the same three grids, which run one after another:
///
///     sample    a block a segment    sorts a sample and takes splitters from it
///     count     a block a tile       counts the keys that belong into each bucket
///     scatter   a block a tile       moves the keys there
///
///     splitters        [4 | 7]
///     bucket numbers   0: key < 4   1: key = 4   2: 4 < key < 7   3: key = 7   4: 7 < key
///
/// The last block of a segment's scatter hands its buckets on: large ones to the next level, small
/// ones, several neighbours together, to the leaf grid. The last block of a level launches both.

#include <ramify/quicksort/multiway_leaves.cuh>
#include <ramify/quicksort/multiway_partition.cuh>
#include <ramify/runtime/run_control.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Grids that launch_level() launches at most.
inline constexpr unsigned multiway_level_grids = 5;
static_assert(multiway_level_grids <= must_launch);

/// Launches what `found` has and `launched` has not: copies and leaves into the stream `aside`, and
/// the level's partition into `in_order`. From the host or from one thread of a kernel. Stops at
/// the first launch that fails, with its error; what was not launched can be launched later.
template <class Key, class Value, class Compare>
__host__ __device__ cudaError_t launch_level(const multiway_context<Key, Value, Compare>& context,
                                             const multiway_found& found,
                                             multiway_launched& launched, unsigned level,
                                             bool on_slots, cudaStream_t in_order,
                                             cudaStream_t aside) {
  constexpr unsigned threads = quicksort_tuning<Key, Value>::threads;

  if (const auto blocks = static_cast<unsigned>(found.copies); blocks > launched.copy_blocks) {
    const unsigned first = launched.copy_blocks;
    const auto status = launch(multiway_copies<Key, Value, Compare>, {blocks - first, threads},
                               aside, context, first, on_slots);
    if (!status) return status.code();
    launched.copy_blocks = blocks;
    ++launched.grids;
  }
  if (found.leaves > launched.leaves) {
    const position first = launched.leaves;
    const auto blocks = static_cast<unsigned>(found.leaves - first);
    const auto status =
        launch(multiway_leaves<Key, Value, Compare>,
               {blocks, threads, sizeof(typename block_sorter<Key, Value>::storage)}, aside,
               context, first, on_slots);
    if (!status) return status.code();
    launched.leaves = found.leaves;
    ++launched.grids;
  }
  const auto segments = static_cast<unsigned>(found.segments[level % 2] >> 32);
  const auto tiles = static_cast<unsigned>(found.segments[level % 2]);
  if (segments > 0) {
    const auto sample = launch(multiway_sample<Key, Value, Compare>,
                               {segments, threads, sizeof(sample_shared<Key, Value>)}, in_order,
                               context, level, on_slots);
    if (!sample) return sample.code();
    ++launched.grids;
    const auto count = launch(multiway_count<Key, Value, Compare>,
                              {tiles, threads, sizeof(count_shared<Key, Value>)}, in_order, context,
                              level, on_slots);
    if (!count) return count.code();
    ++launched.grids;
    // Until this one is launched the level has changed nothing that cannot be done again.
    const auto scatter = launch(multiway_scatter<Key, Value, Compare>,
                                {tiles, threads, sizeof(scatter_shared<Key, Value>)}, in_order,
                                context, level, on_slots);
    if (!scatter) return scatter.code();
    ++launched.grids;
  }
  return cudaSuccess;
}

template <class Key, class Value, class Compare>
__device__ void launch_from_device(const multiway_context<Key, Value, Compare>& context,
                                   unsigned level, const char* name) {
#if RAMIFY_DEVICE_LAUNCH
  if (context.slots.allowed == 0) return;
  context.slots.take(multiway_level_grids, *context.status);
  const unsigned before = context.launched->grids;
  const device_stream in_order;
  const cudaError_t error = launch_level(context, *context.found, *context.launched, level, true,
                                         in_order.get(), fire_and_forget());
  const unsigned grids = context.launched->grids - before;
  context.slots.release(multiway_level_grids - grids);
  context.status->count_children(grids, level);
  // An empty pool is no error here: the host launches the rest.
  if (error != cudaSuccess && error != cudaErrorLaunchPendingCountExceeded) {
    context.status->record_error(error, name, level - 1);
  }
#endif
}

/// One run of the multiway strategy.
template <class Key, class Value, class Compare>
class multiway_run {
  using tuning = multiway_tuning<Key, Value>;

 public:
  /// Levels after which a segment is merge-sorted, unless the caller says: four more than even
  /// splitting takes.
  [[nodiscard]] static unsigned default_depth_limit(std::size_t n) {
    unsigned levels = 4;
    for (std::size_t size = n; size > tuning::leaf_size; size /= tuning::bucket_limit) ++levels;
    return levels;
  }

  /// Takes this run's part of the scratch memory; with a null base, only measures it.
  multiway_run(memory_layout& memory, std::size_t n, unsigned depth_limit)
      : n_(n), depth_limit_(depth_limit) {
    const std::size_t halves = n / tuning::half_leaf + 1;
    context_.plans = memory.take<multiway_plan>(halves);
    context_.splitters = memory.take<Key>(halves);
    context_.counts = memory.take<position>(2 * halves);
    // A segment in a list is longer than a leaf, one in the copy list than half a leaf.
    for (auto& list : context_.lists) list = take_list(memory, n / tuning::leaf_size + 1);
    context_.copies = take_list(memory, halves);
    // On each level at most two leaves begin in a stretch of half a leaf, and one more may follow
    // each bucket that is longer.
    context_.leaf_capacity = halves * (2 + 2 * depth_limit);
    context_.leaves = memory.take<segment>(context_.leaf_capacity);
    state_ = memory.take<state>(1);
  }

  /// Puts the run into the control's stream. Asynchronous on the device route; on the flat route it
  /// waits between levels. The memory must be there.
  /// \throws cuda_error, std::length_error
  void start(run_control& control, columns<Key, Value> data, columns<Key, Value> scratch,
             Compare compare) {
    context_.buffers[0] = data;
    context_.buffers[1] = scratch;
    context_.found = &state_->found;
    context_.launched = &state_->launched;
    context_.lists[0].count_and_blocks = &state_->found.segments[0];
    context_.lists[1].count_and_blocks = &state_->found.segments[1];
    context_.copies.count_and_blocks = &state_->found.copies;
    context_.status = control.status();
    context_.slots = control.slots();
    context_.compare = compare;
    context_.depth_limit = depth_limit_;

    // The root is a leaf, or the only segment of level 0. The host launches it.
    const segment root{0, n_};
    const bool is_leaf = n_ <= tuning::leaf_size;
    state first{};
    first.found.leaves = is_leaf ? 1 : 0;
    first.found.segments[0] = is_leaf ? 0 : 1ull << 32 | tiles(root, tuning::tile_size);
    multiway_launched launched{};
    first.launched.leaves = first.found.leaves;

    const auto write = [&](auto* to, const auto& from) {
      check(cudaMemcpyAsync(to, &from, sizeof from, cudaMemcpyHostToDevice, control.stream()),
            "writing the first segment");
    };
    write(is_leaf ? context_.leaves : context_.lists[0].tasks, root);
    write(context_.lists[0].first_block, 0u);
    write(state_, first);
    launch_from_host(control, first.found, launched);
    if (!control.on_device_route()) run_levels(control, launched);
  }

  /// Waits for the run. What kernels could not launch, the host launches here.
  /// \throws cuda_error, device_launch_error, std::length_error
  void finish(run_control& control) {
    if (control.on_device_route()) {
      multiway_launched launched = read(control).launched;
      run_levels(control, launched);
    }
    merge_sorted_ = read(control).found.merge_sorted;
  }

  /// Segments that had reached the depth limit; after finish().
  [[nodiscard]] std::uint64_t merge_sorted() const { return merge_sorted_; }

 private:
  struct state {
    multiway_found found;
    multiway_launched launched;
  };

  static task_list<segment> take_list(memory_layout& memory, std::size_t capacity) {
    task_list<segment> list;
    list.tasks = memory.take<segment>(capacity);
    list.first_block = memory.take<unsigned>(capacity);
    list.capacity = static_cast<unsigned>(capacity);
    return list;
  }

  /// Waits, and looks at the run's status.
  state read(run_control& control) {
    state now{};
    check(cudaMemcpyAsync(&now, state_, sizeof now, cudaMemcpyDeviceToHost, control.stream()),
          "reading what a level found");
    control.wait();
    return now;
  }

  void launch_from_host(run_control& control, const multiway_found& found,
                        multiway_launched& launched) {
    const unsigned before = launched.grids;
    check(launch_level(context_, found, launched, found.level, false, control.stream(),
                       control.stream()),
          "launching a level");
    control.count_grids(launched.grids - before, found.level);
  }

  /// Launches level after level until one has no segments.
  void run_levels(run_control& control, multiway_launched& launched) {
    for (bool more = true; more;) {
      const multiway_found found = read(control).found;
      more = found.segments[found.level % 2] != 0;
      launch_from_host(control, found, launched);
    }
  }

  std::size_t n_;
  unsigned depth_limit_;
  multiway_context<Key, Value, Compare> context_{};
  state* state_ = nullptr;
  std::uint64_t merge_sorted_ = 0;
};

}  // namespace ramify::inline RAMIFY_BUILD
