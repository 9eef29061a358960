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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort/multiway_leaves.cuh>
#include <ramify/quicksort/multiway_partition.cuh>
#include <ramify/quicksort/multiway_sample.cuh>
#include <ramify/runtime/run_control.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Grids that launch_level() launches at most; so many slots the device route needs.
inline constexpr unsigned multiway_level_grids = 5;

/// What launch_level() did.
struct level_launch {
  cudaError_t error;  ///< of the first launch that failed
  unsigned grids;     ///< that were launched
};

/// Launches what `found` has and `launched` has not: copies and leaves into the stream `aside`, and
/// the level's partition into `in_order`. From the host or from one thread of a kernel. Stops at
/// the first launch that fails; what was not launched can be launched later.
template <class Key, class Value, class Compare>
__host__ __device__ level_launch launch_level(const multiway_context<Key, Value, Compare>& context,
                                              const multiway_found& found,
                                              multiway_launched& launched, unsigned level,
                                              bool on_slots, cudaStream_t in_order,
                                              cudaStream_t aside) {
  constexpr unsigned threads = quicksort_tuning<Key, Value>::threads;
  unsigned grids = 0;

  // 1. Runs of equal keys that lie in the wrong buffer.
  if (const auto blocks = static_cast<unsigned>(found.copies); blocks > launched.copy_blocks) {
    const unsigned first = launched.copy_blocks;
    const auto count = static_cast<unsigned>(found.copies >> 32);
    const auto status = launch(multiway_copies<Key, Value, Compare>, {blocks - first, threads},
                               aside, context, first, count, on_slots);
    if (!status) return {status.code(), grids};
    launched.copy_blocks = blocks;
    ++grids;
  }
  // 2. Leaves.
  if (found.leaves > launched.leaves) {
    const position first = launched.leaves;
    const auto blocks = static_cast<unsigned>(found.leaves - first);
    constexpr std::size_t shared = sizeof(typename block_sorter<Key, Value>::storage);
    static_assert(shared <= most_shared_bytes);
    const auto status = launch(multiway_leaves<Key, Value, Compare>, {blocks, threads, shared},
                               aside, context, first, on_slots);
    if (!status) return {status.code(), grids};
    launched.leaves = found.leaves;
    ++grids;
  }
  // 3. The level. Until scatter is launched it has changed nothing that cannot be done again; once
  //    it is, the next level's launches may be under way, and `launched` is theirs.
  const auto segments = static_cast<unsigned>(found.segments[level % 2] >> 32);
  const auto tiles = static_cast<unsigned>(found.segments[level % 2]);
  if (segments > 0) {
    const auto launch_one = [&](auto kernel, unsigned blocks, std::size_t shared) {
      const auto status =
          launch(kernel, {blocks, threads, shared}, in_order, context, level, on_slots);
      if (status) ++grids;
      return status.code();
    };
    static_assert(sizeof(sample_shared<Key, Value>) <= most_shared_bytes &&
                  sizeof(count_shared<Key, Value>) <= most_shared_bytes &&
                  sizeof(scatter_shared<Key, Value>) <= most_shared_bytes);
    cudaError_t error = launch_one(multiway_sample<Key, Value, Compare>, segments,
                                   sizeof(sample_shared<Key, Value>));
    if (error == cudaSuccess) {
      error =
          launch_one(multiway_count<Key, Value, Compare>, tiles, sizeof(count_shared<Key, Value>));
    }
    if (error == cudaSuccess) {
      error = launch_one(multiway_scatter<Key, Value, Compare>, tiles,
                         sizeof(scatter_shared<Key, Value>));
    }
    return {error, grids};
  }
  return {cudaSuccess, grids};
}

template <class Key, class Value, class Compare>
__device__ void launch_from_device(const multiway_context<Key, Value, Compare>& context,
                                   unsigned level, const char* name) {
#if RAMIFY_DEVICE_LAUNCH
  // Without slots, as on the flat route, the host launches.
  if (!context.slots.acquire(*context.status, multiway_level_grids)) return;
  const device_stream in_order;
  const level_launch done = launch_level(context, *context.found, *context.launched, level, true,
                                         in_order.get(), fire_and_forget());
  context.slots.release(multiway_level_grids - done.grids);
  context.status->count_children(done.grids, level);
  context.status->record_failure(done.error, name, level - 1);
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
    memory_.plans = memory.take<multiway_plan>(halves);
    memory_.splitters = memory.take<Key>(halves);
    memory_.counts = memory.take<position>(2 * halves);
    // A segment in a list is longer than a leaf, one in the copy list than half a leaf.
    for (auto& list : memory_.lists) list = take_list(memory, n / tuning::leaf_size + 1);
    memory_.copies = take_list(memory, halves);
    // On each level at most two leaves begin in a stretch of half a leaf, and one more may follow
    // each bucket that is longer.
    memory_.leaf_capacity = halves * (2 + 2 * depth_limit);
    memory_.leaves = memory.take<segment>(memory_.leaf_capacity);
    state_ = memory.take<state>(1);
  }

  /// Puts the run into the control's stream. Asynchronous on the device route; on the flat route it
  /// waits between levels. The memory must be there.
  /// \throws cuda_error, std::length_error
  void start(run_control& control, columns<Key, Value> data, columns<Key, Value> scratch,
             Compare compare) {
    memory_.found = &state_->found;
    memory_.launched = &state_->launched;
    memory_.lists[0].count_and_blocks = &state_->found.segments[0];
    memory_.lists[1].count_and_blocks = &state_->found.segments[1];
    memory_.copies.count_and_blocks = &state_->found.copies;
    context_.emplace(multiway_context<Key, Value, Compare>{
        memory_, {data, scratch}, control.status(), control.slots(), compare, depth_limit_});

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
    write(is_leaf ? memory_.leaves : memory_.lists[0].tasks, root);
    write(memory_.lists[0].first_block, 0u);
    write(state_, first);
    launch_from_host(control, first.found, launched);
    if (!control.on_device_route()) run_levels(control, launched);
  }

  /// Waits for the run. What kernels could not launch, the host launches here.
  /// \throws cuda_error, device_launch_error, std::length_error
  void finish(run_control& control) {
    if (control.on_device_route()) {
      multiway_launched launched = read(control).launched;
      context_->slots = {};  // from here on kernels launch nothing
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
    const level_launch done = launch_level(*context_, found, launched, found.level, false,
                                           control.stream(), control.stream());
    control.count_grids(done.grids, found.level);
    check(done.error, "launching a level");
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
  multiway_memory<Key> memory_{};
  std::optional<multiway_context<Key, Value, Compare>> context_;
  state* state_ = nullptr;
  std::uint64_t merge_sorted_ = 0;
};

}  // namespace ramify::inline RAMIFY_BUILD
