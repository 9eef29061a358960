// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy `sample_sort`.
///
/// On the device route the host launches the first level. On the flat route it launches, without
/// waiting, as many levels as even splitting takes, and on large inputs one more. get() waits and
/// checks whether more levels are needed. In a captured graph a loop launches them.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <ramify/quicksort/sample_sort.cuh>
#include <ramify/runtime/launch_chain.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/run_control.cuh>
#include <utility>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// One run of the strategy `sample_sort`.
template <class Key, class Value, class Compare>
class sample_sort_run {
  using tuning = sample_sort_tuning<Key, Value>;
  using code = typename Compare::code;
  using program = sample_sort_context<Key, Value, Compare>;
  using leaf_storage = typename sample_sort_leaf_sorter<code, Value>::storage;
  using scatter_storage = scatter_shared<Key, Value>;

 public:
  /// Returns the default depth limit: four levels more than even splitting takes.
  [[nodiscard]] static unsigned default_depth_limit(std::size_t n) {
    return expected_levels(n) + 4;
  }

  /// Returns the launches of a run on each route.
  [[nodiscard]] static route_plans plans(std::size_t n) {
    const double levels = expected_levels(n);
    if (levels == 0) return {{.host_launches = 2}, {.host_launches = 2}, route::flat};
    // Flat: three grids a level, then copies and leaves, all launched ahead. Device: each level
    // launches the next one, and the last level launches only leaves.
    return {{.host_launches = 3.0 * levels_ahead(n) + 2},
            {.host_launches = 3,
             .device_launches = (levels - 1) * (sample_sort_level_grids - 1),
             .named_levels = levels},
            route::flat};
  }

  /// Takes this run's part of the scratch memory. If the base of `memory` is null, only measures
  /// it.
  /// \throws cuda_error
  sample_sort_run(memory_layout& memory, std::size_t n, unsigned depth_limit)
      : n_(n), depth_limit_(depth_limit), sizes_(sizes_for(n)) {
    const std::size_t units = n / tuning::bucket_unit + 2;
    memory_.plans = memory.take<sample_sort_plan>(n / tuning::leaf_size + 1);
    memory_.candidates = memory.take<code>(units);
    memory_.counts = memory.take<position>(units);
    const std::size_t later_offsets = (2 * n / sizes_.root_piece + 2) * byte_ids;
    memory_.offsets = memory.take<position>(
        std::max(later_offsets, (n / sizes_.root_piece + 1) * std::size_t{max_buckets(0, sizes_)}));
    if (sizes_.wide_ids()) {
      memory_.ids = memory.take<std::uint16_t>(n);
    } else {
      memory_.ids = memory.take<std::uint8_t>(n);
    }
    memory_.leaves_taken = memory.take<unsigned>(max_levels + 1);
    // A segment in a level list is longer than a leaf, one in the copy list longer than half a
    // leaf.
    const std::size_t halves = n / (tuning::leaf_size / 2) + 1;
    memory_.even = take_list(memory, n / tuning::leaf_size + 1);
    memory_.odd = take_list(memory, n / tuning::leaf_size + 1);
    memory_.copies = take_list(memory, halves);
    // On each level, at most two leaves begin in any half leaf, and one more may follow each longer
    // bucket.
    memory_.leaf_capacity = halves * (2 + 2 * depth_limit);
    memory_.leaves = memory.take<segment>(memory_.leaf_capacity);
    memory_.long_leaves = memory.take<segment>(n / tuning::leaf_size + 1);
    memory_.state = memory.take<sample_sort_state>(1);
  }

  /// Enqueues the run in the control's stream. Asynchronous. The scratch memory must be allocated.
  /// `loop` is the loop of the levels that the flat route does not launch ahead.
  /// \throws unavailable, cuda_error
  void start(run_control& control, key_value_arrays<Key, Value> data,
             key_value_arrays<Key, Value> scratch, Compare compare, loop_choice loop) {
    memory_.even.count_and_blocks = &memory_.state->segments[0];
    memory_.odd.count_and_blocks = &memory_.state->segments[1];
    memory_.copies.count_and_blocks = &memory_.state->found.copies;
    chain_.emplace(
        control,
        program{{}, memory_, {data, scratch}, compare, segment{0, n_}, depth_limit_, sizes_},
        std::move(loop));
    const bool is_leaf = n_ <= tuning::leaf_size;
    if (is_leaf) {
      control.launched(launch(sample_sort_begin<Key, Value, Compare>, {1, tuning::team_threads},
                              control.stream(), chain_->program()),
                       "launching the first grid");
    }
    if (control.on_device_route()) {
      // The host launches the first step, whose grids write the state. Kernels launch the others.
      sample_sort_state first{};
      first.due.leaves = is_leaf ? 1 : 0;
      first.segments[0] = is_leaf ? 0 : 1ull << 32 | block_count(segment{0, n_}, sizes_);
      chain_->launch_first_step(first);
    }
    chain_->start();
  }

  /// Waits for the run. Launches, from the host, what kernels could not launch and the levels
  /// beyond those that were launched ahead.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  void finish(run_control&) { chain_->finish(); }

  /// Returns the number of segments that reached the depth limit. Requires finish().
  [[nodiscard]] std::uint64_t merge_sorted() const { return chain_->state().merge_sorted; }

 private:
  static task_list<segment> take_list(memory_layout& memory, std::size_t capacity) {
    task_list<segment> list;
    list.tasks = memory.take<segment>(capacity);
    list.first_block = memory.take<unsigned>(capacity);
    list.capacity = static_cast<unsigned>(capacity);
    return list;
  }

  /// Returns the number of levels until all segments are leaves, if all splits are even.
  static unsigned expected_levels(std::size_t n) {
    unsigned levels = 0;
    for (std::size_t size = n; size > tuning::leaf_size; ++levels) {
      size /= levels == 0 ? root_buckets(n) : target_buckets<Key, Value>(size);
    }
    return levels;
  }

  /// Returns the number of levels that the flat route launches ahead: on large inputs one more than
  /// expected. Repeated keys often need it, and otherwise its empty grids cost little.
  static unsigned levels_ahead(std::size_t n) {
    const unsigned expected = expected_levels(n);
    return expected < 2 ? expected : expected + 1;
  }

  /// Returns the target number of buckets of the root, equality buckets apart: a power of two.
  static unsigned root_buckets(std::size_t n) {
    const auto target = [n](int size) { return n / static_cast<unsigned>(size) + 1; };
    constexpr std::size_t max = tuning::leaf_bucket_limit;
    const bool makes_leaves = target(tuning::bucket_size) <= max;
    return static_cast<unsigned>(
        makes_leaves ? std::min(std::bit_ceil(target(tuning::small_bucket_size)), max)
                     : std::size_t{tuning::bucket_limit});
  }

  /// Returns the sizes that depend on the current device only. They are computed once a device,
  /// because a few dozen such driver calls take as long as sorting a million keys.
  static const sample_sort_sizes& device_sizes() {
    static std::mutex mutex;
    static std::map<int, sample_sort_sizes> cache;
    int device = 0;
    check(cudaGetDevice(&device), "querying the current device");
    const std::lock_guard lock(mutex);
    if (const auto cached = cache.find(device); cached != cache.end()) return cached->second;

    sample_sort_sizes sizes{};
    set_sample_sizes(sizes);
    set_tile_sizes(sizes);
    set_leaf_sizes(sizes);
    if (supports_programmatic_launch(sample_sort_count<Key, Value, Compare>)) {
      sizes.serialization = stream_serialization::programmatic;
    }
    sizes.blocks = resident_blocks(sample_sort_scatter<true, Key, Value, Compare>,
                                   tuning::tile_threads, sizes.tile_bytes);
    return cache[device] = sizes;
  }

  static void set_sample_sizes(sample_sort_sizes& sizes) {
    constexpr std::size_t max_sample = sample_merge_sort<code, Value>::capacity;
    constexpr std::size_t padding = sample_bytes<code, Value>(0);
    const std::size_t for_sample = set_max_dynamic_shared(sample_sort_sample<Key, Value, Compare>,
                                                          sample_bytes<code, Value>(max_sample));
    sizes.sample = static_cast<unsigned>((for_sample - padding) / sizeof(Key));
    sizes.sample_bytes = static_cast<unsigned>(for_sample);
    using root_memory = root_part_memory<code, Value>;
    sizes.root_part = std::min<unsigned>(
        part_capacity(tuning::root_oversampling * tuning::bucket_limit), max_sample);
    const std::size_t for_root = set_max_dynamic_shared(
        sample_sort_sample_root<Key, Value, Compare>, root_memory::bytes(sizes.root_part));
    while (root_memory::bytes(sizes.root_part) > for_root) --sizes.root_part;
    sizes.root_sample = (sizes.root_part / 4 - 1) * tuning::root_parts;
  }

  static void set_tile_sizes(sample_sort_sizes& sizes) {
    sizes.tile = tuning::tile_threads * tuning::tile_items;
    constexpr unsigned id_bytes = sizeof(std::uint16_t);
    const auto for_tiles =
        static_cast<unsigned>(set_max_dynamic_shared(sample_sort_scatter<true, Key, Value, Compare>,
                                                     scatter_storage::bytes(sizes.tile, id_bytes)));
    const unsigned fit =
        (for_tiles - scatter_storage::bytes(0, id_bytes)) / (tuning::staged_bytes + id_bytes);
    if (fit < sizes.tile) sizes.tile = fit / 2 * 2;  // aligns the bucket numbers after the tile
    sizes.tile_bytes = scatter_storage::bytes(sizes.tile, id_bytes);
  }

  static void set_leaf_sizes(sample_sort_sizes& sizes) {
    const std::size_t for_leaves = set_max_dynamic_shared(sample_sort_leaves<Key, Value, Compare>,
                                                          tuning::max_teams * sizeof(leaf_storage));
    sizes.teams = static_cast<unsigned>(for_leaves / sizeof(leaf_storage));
    sizes.leaf_bytes = static_cast<unsigned>(sizes.teams * sizeof(leaf_storage));
    using long_sort = typename sample_sort_long_leaf_sorter<code, Value>::leaf_sort;
    sizes.long_leaf = long_sort::capacity;
    // A whole number of threads with all their items: longer segments are merged from such runs.
    while (long_sort::bytes(sizes.long_leaf) > sizes.leaf_bytes) {
      sizes.long_leaf -= tuning::leaf_items;
    }
  }

  /// Returns the capacity of a part of a root's sample: four times its expected size.
  static unsigned part_capacity(unsigned sample) { return 4 * (sample / tuning::root_parts + 1); }

  /// Returns the sizes of a run of n elements on the current device.
  static sample_sort_sizes sizes_for(std::size_t n) {
    static_assert(sizeof(leaf_storage) <= default_shared_bytes &&
                  count_shared<code, Value>::bytes(max_ids) <= default_shared_bytes);
    sample_sort_sizes sizes = device_sizes();
    sizes.levels_ahead = levels_ahead(n);
    sizes.root_buckets = root_buckets(n);
    // The sample of a small input takes a larger part of the time, so it is smaller: one key in
    // 2048, but at least eight for each bucket.
    const std::size_t sample =
        std::min<std::size_t>(n / 2048, tuning::root_oversampling * sizes.root_buckets);
    sizes.root_sample =
        static_cast<unsigned>(std::min({std::max<std::size_t>(sample, 8 * sizes.root_buckets), n,
                                        std::size_t{sizes.root_sample}}));
    sizes.root_part = part_capacity(sizes.root_sample);
    sizes.root_sample_bytes =
        static_cast<unsigned>(root_part_memory<code, Value>::bytes(sizes.root_part));
    // The root has one piece a co-resident block or, if these would be large, several.
    constexpr std::size_t large = 32 * std::size_t{tuning::min_piece};
    const std::size_t rounds = n / (sizes.blocks * large) + 1;
    // Waiting blocks occupy resources of running ones: with several rounds, it cost f64 2 %.
    if (rounds > 1) sizes.serialization = stream_serialization::full;
    const std::size_t pieces =
        std::max(rounds * sizes.blocks, std::size_t{2}) - 1;  // one block has no piece
    const std::size_t piece = std::max<std::size_t>(n / pieces + 1, tuning::min_piece);
    sizes.root_piece = static_cast<unsigned>(piece + piece % 2);
    // Later pieces may be a quarter longer, so that a segment of about this size is one piece;
    // even.
    sizes.piece = sizes.root_piece + sizes.root_piece / 8 * 2;
    return sizes;
  }

  std::size_t n_;
  unsigned depth_limit_;
  sample_sort_sizes sizes_;
  sample_sort_memory<code> memory_{};
  std::optional<launch_chain<program>> chain_;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
