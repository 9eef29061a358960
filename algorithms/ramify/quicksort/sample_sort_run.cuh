// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy `sample_sort`.
///
/// On the device route the host launches the first level. On the flat route it launches, without
/// waiting, as many levels as even splitting takes, and on large inputs one more.
///
/// What is left then, because kernels found no launch slots or more levels are necessary, is sorted
/// in one of these ways:
///
///     completion in the stream   the leaf grid of the flat route, or a grid after the chain of the
///                                device route, merge-sorts the segments that are due
///     a requested graph, or a    a graph's loop launches more levels
///     captured flat route
///     completion by get()        the host reads the state, and launches more rounds

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/sample_sort.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/recursion.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/run_control.cuh>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// One run of the strategy `sample_sort`. `has_loop` is whether a graph's loop can launch levels.
template <class Key, class Value, class Compare, bool has_loop>
class sample_sort_run {
  using context = sample_sort_context<Key, Value, Compare>;
  using program = std::conditional_t<has_loop, context, without_loop<context>>;
  using tuning = typename context::tuning;
  using code = typename context::code;
  using order = typename context::order;

 public:
  /// The launch slots that the device route needs.
  static constexpr unsigned slots_needed = sample_sort_level_grids;

  /// Returns whether the root is small: the host launches all grids of the run, on both routes.
  [[nodiscard]] static bool is_small(std::size_t n) { return n <= tuning::small_root_size; }

  /// Returns the launches of a run on each route. The root must not be small.
  [[nodiscard]] static route_plans plans(std::size_t n) {
    const double levels = expected_levels(n);
    // Flat: three grids per level, then copies and leaves, all launched ahead. Device: each level
    // launches the next one, and the last level launches only leaves.
    return {{.host_launches = 3.0 * levels_ahead(n) + 2},
            {.host_launches = 3,
             .device_launches = (levels - 1) * (sample_sort_level_grids - 1),
             .named_levels = levels},
            route::flat};
  }

  /// Chooses the route of a run. For a small root it does not read the launch costs, because that
  /// would take a part of so short a run.
  static void make_choices(run_setup& setup, std::size_t n, const quicksort_options&) {
    setup.prefer_host("too few levels for a graph to pay");
    setup.completes_without_loop = true;
    if (is_small(n)) {
      setup.choose_route(slots_needed, route_choice{route::flat,
                                                    "the host launches all grids of a "
                                                    "small root"});
      setup.first_grid_clears = setup.choice.taken == route::flat;
    } else {
      setup.choose_route(slots_needed, plans(n));
    }
  }

  /// Takes this run's part of the scratch memory. If the base of `layout` is null, only measures
  /// it. The default depth limit is four levels more than even splitting takes.
  /// \throws cuda_error
  sample_sort_run(memory_layout& layout, std::size_t n, const quicksort_options& options) {
    memory_.root = {0, n};
    memory_.depth_limit = options.depth_limit == 0 ? expected_levels(n) + 4 : options.depth_limit;
    memory_.sizes = sizes_for(n);
    const sample_sort_sizes& sizes = memory_.sizes;
    memory_.state = layout.take<sample_sort_state>(1);
    if (is_small(n)) {
      memory_.claims = layout.take<unsigned>(
          order::known_strict_weak ? 0 : sizes.small.passes * place_claims::words(n));
      return;
    }
    const std::size_t leaves = n / tuning::leaf_size + 1;
    const std::size_t units = n / tuning::bucket_unit + 2;
    memory_.plans = layout.take<sample_sort_plan>(leaves);
    memory_.candidates = layout.take<code>(units);
    memory_.counts = layout.take<position>(units);
    const std::size_t later_offsets = (2 * n / sizes.root_piece + 2) * byte_ids;
    memory_.offsets = layout.take<position>(
        std::max(later_offsets, (n / sizes.root_piece + 1) * std::size_t{max_buckets(0, sizes)}));
    memory_.ids = layout.take<std::uint8_t>(n * (sizes.wide_ids() ? 2 : 1));
    memory_.leaves_taken = layout.take<unsigned>(max_levels + 1);
    // A segment in a level list is longer than a leaf, one in the copy list longer than half a
    // leaf.
    const std::size_t halves = n / (tuning::leaf_size / 2) + 1;
    memory_.even = take_list<segment>(layout, leaves);
    memory_.odd = take_list<segment>(layout, leaves);
    memory_.copies = take_list<segment>(layout, halves);
    if (memory_.state != nullptr) {
      memory_.even.count_and_blocks = &memory_.state->segments[0];
      memory_.odd.count_and_blocks = &memory_.state->segments[1];
      memory_.copies.count_and_blocks = &memory_.state->found.copies;
    }
    // On each level, at most two leaves begin in any half leaf, and one more may follow each longer
    // bucket.
    memory_.leaf_capacity = halves * (2 + 2 * memory_.depth_limit);
    memory_.leaves = layout.take<segment>(memory_.leaf_capacity);
    memory_.long_leaves = layout.take<segment>(leaves);
  }

  /// Enqueues the run in the control's stream. Asynchronous. The scratch memory must be allocated.
  /// `loop` launches the levels that the flat route does not launch ahead.
  /// \throws unavailable, cuda_error
  void start(run_control& control, const double_buffer<Key, Value>& buffers, Compare compare,
             const quicksort_options&, const loop_choice& loop) {
    small_root_plan& small = memory_.sizes.small;
    if (small.passes > 0) memory_.sizes.serialization = device_sizes().serialization;
    // If a graph's loop launches more levels, the leaf grid need not finish the sort.
    const bool completes =
        control.needs_completion() && (control.on_device_route() || loop.wanted == flat_loop::host);
    chain_.emplace(control, program{context{{}, memory_, buffers, compare, completes}}, loop);
    if (control.on_device_route()) {
      // The host launches the first round, whose grids write the state. Kernels launch the others.
      sample_sort_state first{};
      if (!chain_->program().root_is_small()) {
        first.segments[0] = 1ull << 32 | block_count(memory_.root, memory_.sizes);
      }
      chain_->launch_first_round(first);
    }
    chain_->start();
  }

  /// Waits for the run. Unless the sort is complete in the stream, launches from the host the grids
  /// that kernels could not launch, and the levels beyond those that were launched ahead. Returns
  /// the number of segments that were merge-sorted.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  std::uint64_t finish(run_control&) {
    chain_->finish();
    return chain_->state().merge_sorted;
  }

  /// Returns whether the grids of start() complete the sort.
  [[nodiscard]] bool completes_in_stream() const { return chain_->completes_in_stream(); }

 private:
  /// Returns the number of levels until all segments are leaves, if all splits are even.
  static unsigned expected_levels(std::size_t n) {
    if (is_small(n)) return 0;
    unsigned levels = 0;
    for (std::size_t size = n; size > tuning::leaf_size; ++levels) {
      size /= levels == 0 ? root_buckets(n) : target_buckets<tuning>(size);
    }
    return levels;
  }

  /// Returns the number of levels that the flat route launches ahead: on large inputs one more than
  /// expected. Repeated keys often need it, and otherwise its empty grids cost little.
  static unsigned levels_ahead(std::size_t n) {
    const unsigned expected = expected_levels(n);
    return expected < 2 ? expected : expected + 1;
  }

  /// Returns whether the buckets of the root are to be leaves.
  static bool root_has_leaves(std::size_t n) {
    return n / tuning::bucket_size < tuning::leaf_bucket_limit;
  }

  /// Returns the target number of buckets of the root without equality buckets: a power of two.
  static unsigned root_buckets(std::size_t n) {
    constexpr std::size_t limit = tuning::bucket_limit;
    if (root_has_leaves(n)) {
      return static_cast<unsigned>(std::min<std::size_t>(
          std::bit_ceil(n / tuning::small_bucket_size + 1), tuning::leaf_bucket_limit));
    }
    // Two levels of bucket_limit buckets suffice if their segments are shorter than most leaves.
    const bool needs_level = n / (limit * limit) > std::size_t{tuning::leaf_size} * 9 / 10;
    const bool saves_level = n / (limit * tuning::bucket_size) < tuning::wide_root_limit;
    return static_cast<unsigned>(needs_level && saves_level ? tuning::wide_root_limit
                                                            : tuning::bucket_limit);
  }

  /// Returns the sizes that depend only on the current device. They are computed once per context,
  /// because a few dozen such driver calls take as long as sorting a million keys, and because the
  /// kernels' limits of shared memory, which these calls raise, end with the context.
  static const sample_sort_sizes& device_sizes() {
    return runtime::once_per_context([] { return compute_device_sizes(); });
  }

  static sample_sort_sizes compute_device_sizes() {
    sample_sort_sizes sizes{};
    set_sample_sizes(sizes);
    set_tile_sizes(sizes);
    set_leaf_sizes(sizes);
    if (supports_programmatic_launch(sample_sort_count<context>)) {
      sizes.serialization = stream_serialization::programmatic;
    }
    sizes.blocks =
        resident_blocks(sample_sort_scatter<true, context>, tuning::tile_threads, sizes.tile_bytes);
    return sizes;
  }

  static void set_sample_sizes(sample_sort_sizes& sizes) {
    using merge_sort = sample_merge_sort<context>;
    sizes.sample_bytes = static_cast<unsigned>(set_max_dynamic_shared(
        sample_sort_sample<context>, merge_sort::bytes(merge_sort::capacity)));
    sizes.sample = static_cast<unsigned>((sizes.sample_bytes - merge_sort::bytes(0)) / sizeof(Key));
    using root_memory = root_part_memory<context>;
    sizes.root_part = std::min<unsigned>(
        part_capacity(tuning::root_oversampling * tuning::bucket_limit), merge_sort::capacity);
    const std::size_t for_root = set_max_dynamic_shared(sample_sort_sample_root<context>,
                                                        root_memory::bytes(sizes.root_part));
    while (root_memory::bytes(sizes.root_part) > for_root) --sizes.root_part;
    sizes.root_sample = (sizes.root_part / 4 - 1) * tuning::root_parts;
  }

  static void set_tile_sizes(sample_sort_sizes& sizes) {
    const auto bytes = [](unsigned tile) {
      return scatter_shared<context>::bytes(tile, sizeof(std::uint16_t));
    };
    sizes.tile = tuning::tile_threads * tuning::tile_items;
    const std::size_t for_tiles =
        set_max_dynamic_shared(sample_sort_scatter<true, context>, bytes(sizes.tile));
    // An even number aligns the bucket numbers after the tile.
    while (bytes(sizes.tile) > for_tiles) sizes.tile = (sizes.tile - 1) / 2 * 2;
    sizes.tile_bytes = bytes(sizes.tile);
  }

  static void set_leaf_sizes(sample_sort_sizes& sizes) {
    using storage = typename context::leaf_sorter::storage;
    static_assert(sizeof(storage) <= default_shared_bytes);
    const std::size_t for_leaves =
        set_max_dynamic_shared(sample_sort_leaves<context>, tuning::max_teams * sizeof(storage));
    sizes.teams = static_cast<unsigned>(for_leaves / sizeof(storage));
    sizes.leaf_bytes = static_cast<unsigned>(sizes.teams * sizeof(storage));
    sizes.long_leaf = run_within<typename context::long_leaf_sorter>(sizes.leaf_bytes);
  }

  /// Returns how many elements `Sorter` sorts in `bytes` bytes of shared memory: a whole number of
  /// threads with all their items. Longer segments are merged from such runs.
  template <class Sorter>
  static unsigned run_within(std::size_t bytes) {
    unsigned run = Sorter::capacity;
    while (Sorter::bytes(run) > bytes) run -= Sorter::items_of_thread;
    return run;
  }

  /// Returns the capacity of a part of a root's sample: four times its expected size.
  static unsigned part_capacity(unsigned sample) { return 4 * (sample / tuning::root_parts + 1); }

  /// Returns the sizes of a run of n elements on the current device.
  static sample_sort_sizes sizes_for(std::size_t n) {
    static_assert(count_shared<context>::bytes(max_ids) <= default_shared_bytes);
    if (is_small(n)) {  // without queries of the driver, which take a part of so short a run
      sample_sort_sizes sizes{};
      sizes.small = plan_small_root<tuning>(n);
      return sizes;
    }
    sample_sort_sizes sizes = device_sizes();
    sizes.levels_ahead = levels_ahead(n);
    sizes.root_buckets = root_buckets(n);
    sizes.root_buckets_if_repeated = root_has_leaves(n) ? max_buckets(0, sizes) : byte_ids;
    // The sample of a small input takes a larger part of the time, so it is smaller: one key in
    // 2048, but at least eight for each bucket.
    const std::size_t sample =
        std::min<std::size_t>(n / 2048, tuning::root_oversampling * sizes.root_buckets);
    sizes.root_sample =
        static_cast<unsigned>(std::min({std::max<std::size_t>(sample, 8 * sizes.root_buckets), n,
                                        std::size_t{sizes.root_sample}}));
    sizes.root_part = part_capacity(sizes.root_sample);
    sizes.root_sample_bytes =
        static_cast<unsigned>(root_part_memory<context>::bytes(sizes.root_part));
    // The root has one piece per co-resident block or, if these would be large, several.
    constexpr std::size_t large = 32 * std::size_t{tuning::min_piece};
    const std::size_t rounds = n / (sizes.blocks * large) + 1;
    // Waiting blocks occupy resources of running ones: with several rounds, it cost f64 2 %.
    if (rounds > 1) sizes.serialization = stream_serialization::full;
    const std::size_t pieces =
        std::max(rounds * sizes.blocks, std::size_t{2}) - 1;  // one block has no piece
    const std::size_t piece = std::max<std::size_t>(n / pieces + 1, tuning::min_piece);
    sizes.root_piece = static_cast<unsigned>(piece + piece % 2);
    // Later pieces may be a quarter longer, so that a segment of about this size is one piece. Both
    // sizes are even.
    sizes.piece = sizes.root_piece + sizes.root_piece / 8 * 2;
    return sizes;
  }

  sample_sort_memory<code> memory_{};
  std::optional<launch_chain<program>> chain_;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
