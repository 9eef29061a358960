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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/sample_sort.cuh>
#include <ramify/quicksort/sample_sort_sizes.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
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

  /// Returns whether the keys are counted: the host launches both grids, on both routes.
  [[nodiscard]] static bool counts(std::size_t n) {
    return countable_values<context> != 0 && n >= least_counted<context>;
  }

  /// Returns the launches of a run on each route. The root must not be small.
  [[nodiscard]] static route_plans plans(std::size_t n) {
    const double levels = expected_levels<tuning>(n);
    // Flat: three grids per level, then copies and leaves, all launched ahead. Device: each level
    // launches the next one, and the last level launches only leaves.
    return {{.host_launches = 3.0 * levels_ahead_of<context>(n) + 2},
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
    if (is_small(n) || counts(n)) {
      const char* const reason = is_small(n) ? "the host launches all grids of a small root"
                                             : "the host launches both grids of a counting sort";
      setup.choose_route(slots_needed, route_choice{route::flat, reason});
      setup.first_grid_clears = setup.choice.taken == route::flat;
    } else {
      setup.choose_route(slots_needed, plans(n));
    }
  }

  /// Takes this run's part of the scratch memory. If the base of `layout` is null, only measures
  /// it. \throws cuda_error
  sample_sort_run(memory_layout& layout, std::size_t n, const quicksort_options& options) {
    memory_.root = {0, n};
    memory_.sizes = sizes_for(n);
    memory_.state = layout.take<sample_sort_state>(1);
    if (is_small(n)) {
      memory_.claims = layout.take<unsigned>(
          order::known_strict_weak ? 0 : memory_.sizes.small.passes * place_claims::words(n));
      return;
    }
    // If fewer keys are partitioned, keys that are counted take the same arrays, so that memory for
    // n keys suffices for fewer.
    if (!counts(n) || !is_small(least_counted<context> - 1)) {
      memory_.depth_limit = depth_limit_of<tuning>(n, options.depth_limit);
      take_arrays<tuning>(memory_, layout);
    }
    if (counts(n)) memory_.counts = layout.take<position>(countable_values<context> + 1);
  }

  /// Enqueues the run in the control's stream. Asynchronous. The scratch memory must be allocated.
  /// `loop` launches the levels that the flat route does not launch ahead.
  /// \throws unavailable, cuda_error
  void start(run_control& control, const double_buffer<Key, Value>& buffers, Compare compare,
             const quicksort_options&, const loop_choice& loop) {
    small_root_plan& small = memory_.sizes.small;
    if (small.passes > 0) memory_.sizes.serialization = device_sizes<context>().serialization;
    if (memory_.sizes.value_window != 0) {
      clear_memory(memory_.counts, countable_values<context> + 1, control.stream(),
                   "clearing the counts of values");
    }
    // If a graph's loop launches more levels, the leaf grid need not finish the sort.
    const bool completes =
        control.needs_completion() && (control.on_device_route() || loop.wanted == flat_loop::host);
    chain_.emplace(control, program{context{{}, memory_, buffers, compare, completes}}, loop);
    if (control.on_device_route()) {
      // The host launches the first round, whose grids write the state. Kernels launch the others.
      sample_sort_state first{};
      if (!chain_->program().has_no_levels()) {
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
  /// Returns the sizes of a run of n elements on the current device.
  static sample_sort_sizes sizes_for(std::size_t n) {
    if (is_small(n)) {  // without queries of the driver, which take a part of so short a run
      sample_sort_sizes sizes{};
      sizes.small = plan_small_root<tuning>(n);
      return sizes;
    }
    sample_sort_sizes sizes = sizes_of_run<context>(n, device_sizes<context>());
    sizes.levels_ahead = levels_ahead_of<context>(n);
    if constexpr (countable_values<context> != 0) {
      if (counts(n)) {
        const counting_shape& shape = shape_of_counting<context>();
        sizes.value_window = shape.window;
        sizes.blocks = shape.blocks;
      }
    }
    return sizes;
  }

  sample_sort_memory<code> memory_{};
  std::optional<launch_chain<program>> chain_;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
