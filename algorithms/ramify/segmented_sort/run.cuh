// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a segmented sort.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/sample_sort_sizes.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/segmented_sort/config.hpp>
#include <ramify/segmented_sort/tile_grids.cuh>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// One run of a sample sort that begins with segments of the caller. Compare is a sort_order.
template <class Key, class Value, class Compare, class Segments>
class segmented_strategy {
  using first_program = segmented_program<Key, Value, Compare, Segments>;
  using program = without_loop<first_program>;
  using context = typename first_program::base;
  using tuning = typename context::tuning;
  using sizes_of_tiles = typename first_program::sizes_of_tiles;

 public:
  /// Chooses the route. Grids in the stream always complete the sort. The device route is
  /// preferred: on the flat route the host launches all levels that one segment may need, and their
  /// empty grids take longer than the launches of kernels.
  static void make_choices(run_setup& setup) {
    setup.prefer_host("too few levels for a graph to pay");
    setup.completes_without_loop = true;
    setup.choice = ramify::choose_route(
        setup.wanted, setup.limit, quicksort::sample_sort_level_grids,
        route_choice{route::device, "kernels launch only the levels that the lengths require"});
  }

  /// Takes this run's part of the scratch memory. If the base of `layout` is null, only measures
  /// it. \throws cuda_error
  segmented_strategy(memory_layout& layout, std::size_t n) {
    memory_.root = {0, n};
    memory_.sizes = quicksort::sizes_of_run<context>(n, quicksort::device_sizes<context>());
    set_sizes_of_levels(memory_.sizes, n);
    memory_.depth_limit = levels_of(n) + 5;
    memory_.state = layout.take<quicksort::sample_sort_state>(1);
    quicksort::take_arrays<tuning>(memory_, layout);
    // Each tile has a segment that is longer than a small one.
    tile_capacity_ = static_cast<unsigned>(n / (sizes_of_tiles::small_size + 1) + 1);
    tiles_ = layout.take<unsigned long long>(tile_capacity_);
  }

  /// Enqueues the run in the control's stream. Asynchronous. \throws cuda_error
  void start(run_control& control, const run_setup& setup,
             const quicksort::double_buffer<Key, Value>& buffers, Compare compare,
             const Segments& segments, segment_findings* findings) {
    // In a graph, the leaf grid of the flat route finishes the sort: there is no loop.
    const bool completes =
        control.needs_completion() || (setup.captured && !control.on_device_route());
    const context shared{{}, memory_, buffers, compare, completes};
    chain_.emplace(control,
                   program{first_program{shared, segments, findings, tiles_, tile_capacity_,
                                         sizes_of_first_round()}},
                   setup.loop);
    if (control.on_device_route()) chain_->launch_first_round({});
    chain_->start();
  }

  /// Waits for the run, and launches what kernels could not launch, unless the sort is complete in
  /// the stream. Returns the number of segments that were merge-sorted.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  std::uint64_t finish() {
    chain_->finish();
    return chain_->state().merge_sorted;
  }

  /// Returns whether the grids of start() complete the sort.
  [[nodiscard]] bool completes_in_stream() const { return chain_->completes_in_stream(); }

 private:
  /// Returns the number of levels until all parts of one segment of n elements are leaves, if all
  /// splits are even.
  static unsigned levels_of(std::size_t n) {
    unsigned levels = 0;
    for (std::size_t size = n; size > tuning::leaf_size; ++levels) {
      size /= quicksort::target_buckets<tuning>(size);
    }
    return levels;
  }

  /// Sets the sizes for levels without a root. Pieces are shorter than those of a root, so that
  /// segments of any length keep all blocks busy.
  static void set_sizes_of_levels(quicksort::sample_sort_sizes& sizes, std::size_t n) {
    const unsigned levels = levels_of(n);
    sizes.levels_ahead = levels < 2 ? levels : levels + 1;
    sizes.root_buckets = tuning::bucket_limit;
    constexpr std::size_t least = 8 * std::size_t{tuning::min_piece};
    const std::size_t piece =
        std::min<std::size_t>(sizes.piece, std::max(n / (4 * sizes.blocks), least));
    sizes.root_piece = sizes.piece = static_cast<unsigned>(piece + piece % 2);
  }

  /// Returns the sizes of the grids of round 0, which are computed once per context.
  static const first_round_sizes& sizes_of_first_round() {
    return runtime::once_per_context([] {
      using small_storage = typename first_program::small_sort::storage;
      using middle_storage = typename first_program::middle_sort::storage;
      first_round_sizes sizes{};
      sizes.small_teams = static_cast<unsigned>(std::clamp<std::size_t>(
          quicksort::default_shared_bytes / sizeof(small_storage), 1, sizes_of_tiles::small_teams));
      sizes.small_bytes = static_cast<unsigned>(sizes.small_teams * sizeof(small_storage));
      sizes.middle_bytes = static_cast<unsigned>(
          set_max_dynamic_shared(sort_middle_segments<first_program>, sizeof(middle_storage)));
      sizes.read_blocks =
          resident_blocks(read_segments<first_program>, sizes_of_tiles::read_threads, 0);
      sizes.small_blocks =
          resident_blocks(sort_small_segments<first_program>,
                          sizes.small_teams * sizes_of_tiles::warp, sizes.small_bytes);
      sizes.middle_blocks = resident_blocks(sort_middle_segments<first_program>,
                                            sizes_of_tiles::middle_threads, sizes.middle_bytes);
      return sizes;
    });
  }

  quicksort::sample_sort_memory<typename context::code> memory_{};
  std::optional<launch_chain<program>> chain_;
  unsigned long long* tiles_;
  unsigned tile_capacity_;
};

/// The scratch memory of a run. It begins with what the host reads.
template <class Key, class Value, class Strategy>
struct segmented_memory {
  using arrays = quicksort::key_value_arrays<Key, Value>;

  segmented_memory(memory_layout& memory, std::size_t n)
      : findings(memory.take<segment_findings>(1)),
        strategy(memory, n),
        elements{memory.take<Key>(n), memory.take<Value>(arrays::has_values ? n : 0)} {}

  segment_findings* findings;
  Strategy strategy;
  arrays elements;
};

/// A segmented sort, or a sort of a number of elements that only the device has. Report is
/// segmented_sort_report or quicksort_report.
template <class Key, class Value, class Compare, class Segments, class Report>
class segmented_run final
    : public device_run<
          Report,
          segmented_memory<
              Key, Value,
              segmented_strategy<Key, Value, quicksort::sort_order<Key, Compare>, Segments>>> {
  using order = quicksort::sort_order<Key, Compare>;
  using strategy = segmented_strategy<Key, Value, order, Segments>;
  using base = device_run<Report, segmented_memory<Key, Value, strategy>>;
  using arrays = quicksort::key_value_arrays<Key, Value>;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning depends on the size of keys");

 public:
  /// Chooses the route, and starts the sort.
  [[nodiscard]] static async_run<Report> start(run_setup& setup, const arrays& data, std::size_t n,
                                               const Segments& segments, Compare compare) {
    strategy::make_choices(setup);
    const phase_range range("segmented sort: start");
    return std::make_unique<segmented_run>(setup, data, n, segments, compare);
  }

  segmented_run(const run_setup& setup, const arrays& data, std::size_t n, const Segments& segments,
                Compare compare)
      : base(setup, n), n_(n), segments_(segments) {
    this->parts.strategy.start(this->control, setup, {data, this->parts.elements}, order{compare},
                               segments, this->parts.findings);
    this->complete_in_stream(this->parts.strategy.completes_in_stream());
  }

 private:
  Report finish() override {
    Report report;
    report.merge_sorted_segments = this->parts.strategy.finish();
    const segment_findings found = this->control.seen(this->parts.findings);
    check(found, this->algorithm(), n_, segments_);
    static_cast<run_report&>(report) = this->end();
    set_sizes(report, found);
    return report;
  }

  void set_sizes(segmented_sort_report& report, const segment_findings& found) const {
    report.keys = n_;
    report.segments = found.counted;
  }
  void set_sizes(quicksort_report& report, const segment_findings& found) const {
    report.keys = found.elements;
  }

  std::size_t n_;
  Segments segments_;
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
