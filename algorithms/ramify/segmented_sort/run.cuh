// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of a segmented sort.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/order.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/segmented_sort/config.hpp>
#include <ramify/segmented_sort/memory.cuh>

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// One run of a sample sort that begins with segments of the caller. Compare is a sort_order.
template <class Key, class Value, class Compare, class Segments>
class segmented_strategy {
  using first_program = segmented_program<Key, Value, Compare, Segments>;
  using program = without_loop<first_program>;
  using context = typename first_program::base;

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

  /// Takes the scratch memory of the run. If the base of `layout` is null, only measures it.
  /// \throws cuda_error
  segmented_strategy(memory_layout& layout, std::size_t n)
      : memory_(layout, n, quicksort::device_sizes<context>()) {}

  /// Enqueues the run in the control's stream. Asynchronous. \throws cuda_error
  void start(run_control& control, const run_setup& setup,
             const quicksort::key_value_arrays<Key, Value>& data, Compare compare,
             const Segments& segments) {
    // In a graph, the leaf grid of the flat route finishes the sort: there is no loop.
    const bool completes =
        control.needs_completion() || (setup.captured && !control.on_device_route());
    chain_.emplace(control,
                   program{memory_.program(data, compare, segments,
                                           sizes_of_first_round<first_program>(), completes)},
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
  /// Returns what the grids have found out about the segments, in device memory.
  [[nodiscard]] const segment_findings* findings() const { return memory_.findings; }

 private:
  segmented_sort_memory<first_program> memory_;
  std::optional<launch_chain<program>> chain_;
};

/// A segmented sort.
template <class Key, class Value, class Compare, class Segments>
class segmented_run final
    : public device_run<
          segmented_sort_report,
          segmented_strategy<Key, Value, quicksort::sort_order<Key, Compare>, Segments>> {
  using order = quicksort::sort_order<Key, Compare>;
  using strategy = segmented_strategy<Key, Value, order, Segments>;
  using base = device_run<segmented_sort_report, strategy>;
  using arrays = quicksort::key_value_arrays<Key, Value>;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning depends on the size of keys");

 public:
  /// Chooses the route, and starts the sort.
  [[nodiscard]] static async_run<segmented_sort_report> start(run_setup& setup, const arrays& data,
                                                              std::size_t n,
                                                              const Segments& segments,
                                                              Compare compare) {
    strategy::make_choices(setup);
    const phase_range range("segmented sort: start");
    return std::make_unique<segmented_run>(setup, data, n, segments, compare);
  }

  segmented_run(const run_setup& setup, const arrays& data, std::size_t n, const Segments& segments,
                Compare compare)
      : base(setup, n), n_(n), segments_(segments) {
    this->parts.start(this->control, setup, data, order{compare}, segments);
    this->complete_in_stream(this->parts.completes_in_stream());
  }

 private:
  segmented_sort_report finish() override {
    segmented_sort_report report;
    report.merge_sorted_segments = this->parts.finish();
    const segment_findings found = this->control.seen(this->parts.findings());
    check(found, this->algorithm(), n_, segments_);
    static_cast<run_report&>(report) = this->end();
    report.keys = n_;
    report.segments = found.counted;
    return report;
  }

  std::size_t n_;
  Segments segments_;
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD
