// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host side of the strategy `binary`.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort/binary.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/runtime/recursion.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// One run of the strategy `binary`.
template <class Key, class Value, class Compare>
class binary_run {
  using context = binary_context<Key, Value, Compare>;
  using tuning = typename context::tuning;
  using tree = recursion<segment, context>;
  using state = partition_state<typename context::code>;
  using shared_memory = binary_shared<context>;

 public:
  /// The launch slots that the device route needs.
  static constexpr unsigned slots_needed = 1;

  /// Returns the launches of a run on each route, apart from the root's grid, which the host always
  /// launches.
  [[nodiscard]] static route_plans plans(std::size_t n, child_streams streams) {
    // Flat: the host reads the list and the status back for each level. Device: a thread launches
    // two children. With 2^20 keys it takes 0.67 of the flat route's time, from 2^24 keys on
    // 1.06 to 1.17 (H200).
    const double levels =
        n <= tuning::leaf_size ? 0 : std::ceil(std::log2(double(n) / double(tuning::leaf_size)));
    route_plan device = plan_of_levels(levels, streams);
    device.host_launches = 1;  // the drain
    device.device_launches = levels;
    return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::device};
  }

  /// Chooses the route of a run. The flat route launches only the root's grid in advance.
  static void make_choices(run_setup& setup, std::size_t n, const quicksort_options& options) {
    setup.prefer_host("the grids of the host have the size of their level");
    setup.choose_route(slots_needed, plans(n, options.streams));
  }

  /// Takes this run's part of the scratch memory. If the base of `memory` is null, only measures
  /// it. The default depth limit is that of introsort, 2 log2(n) (Musser, 1997).
  binary_run(memory_layout& memory, std::size_t n, const quicksort_options& options)
      : n_(n),
        depth_limit_(options.depth_limit == 0 ? 2 * static_cast<unsigned>(std::bit_width(n))
                                              : options.depth_limit),
        launches_(with_threshold(options.launches)) {
    states_ = memory.take<state>(state_count());
    merge_sorted_ = memory.take<unsigned long long>(1);
    // A spawned segment is longer than a leaf, so a level has no more of them than there are
    // states.
    tree_memory_ = memory.take<std::byte>(tree::scratch_bytes(state_count(), launches_));
  }

  /// Enqueues the run in the control's stream. Asynchronous. The scratch memory must be allocated.
  /// `loop` is the loop of the levels below the root on the flat route. \throws unavailable,
  /// cuda_error
  void start(run_control& control, const double_buffer<Key, Value>& buffers, Compare compare,
             const quicksort_options& options, const loop_choice& loop) {
    clear_memory(states_, state_count(), control.stream(), "clearing the state of segments");
    clear_memory(merge_sorted_, 1, control.stream(), "clearing the count of segments");
    const context shared{buffers, states_, merge_sorted_, compare, depth_limit_};
    tree_.emplace(tree_memory_, state_count(), control, tuning::threads, sizeof(shared_memory),
                  options.streams, shared, launches_, loop);
    const segment root{0, n_};
    tree_->start(root, n_ < launches_.threshold ? 1 : context::blocks_of(root));
  }

  /// Waits for the run. Launches, from the host, what kernels could not launch and, on the flat
  /// route without a graph, all levels below the root, each of which it reads back. Returns the
  /// number of segments that reached the depth limit.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  std::uint64_t finish(run_control& control) {
    tree_->finish();
    return read_back(merge_sorted_, control.stream(), "reading the count of merge-sorted segments");
  }

  /// Returns whether the grids of start() complete the sort.
  [[nodiscard]] bool completes_in_stream() const { return tree_->completes_in_stream(); }

 private:
  [[nodiscard]] std::size_t state_count() const { return n_ / tuning::leaf_size + 1; }

  /// Returns `launches` with a threshold of two leaves in place of 0. On an H200, 2^22 u32 keys
  /// take 0.96 ms with it, and 1.06 ms if every segment longer than a leaf is spawned.
  static launch_granularity with_threshold(launch_granularity launches) {
    if (launches.threshold == 0) launches.threshold = 2u * tuning::leaf_size;
    return launches;
  }

  std::size_t n_;
  unsigned depth_limit_;
  launch_granularity launches_;
  state* states_;
  unsigned long long* merge_sorted_;
  std::byte* tree_memory_;
  std::optional<tree> tree_;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
