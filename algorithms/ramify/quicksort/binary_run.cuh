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
#include <ramify/runtime/recursion.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// One run of the strategy `binary`.
template <class Key, class Value, class Compare>
class binary_run {
  using tuning = quicksort_tuning<Key, Value>;
  using context = binary_context<Key, Value, Compare>;
  using tree = recursion<segment, context>;
  using state = partition_state<typename Compare::code>;
  using shared_memory = binary_shared<typename Compare::code, Value>;

 public:
  /// Returns introsort's depth limit, 2 log2(n) (Musser, 1997).
  [[nodiscard]] static unsigned default_depth_limit(std::size_t n) {
    return 2 * static_cast<unsigned>(std::bit_width(n));
  }

  /// Returns the launches of a run on each route, apart from the root's grid, which the host always
  /// launches.
  [[nodiscard]] static route_plans plans(std::size_t n, child_streams streams) {
    // Flat: the host reads the list and the status back for each level. Device: a thread launches
    // two children. From 2^24 keys on, both routes take the same time within 5 % (H200).
    const double levels =
        n <= tuning::leaf_size ? 0 : std::ceil(std::log2(double(n) / double(tuning::leaf_size)));
    route_plan device = plan_of_levels(levels, streams);
    device.host_launches = 1;  // the drain
    device.device_launches = levels;
    return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::device};
  }

  /// Takes this run's part of the scratch memory. If the base of `memory` is null, only measures
  /// it.
  binary_run(memory_layout& memory, std::size_t n, unsigned depth_limit,
             const launch_granularity& launches)
      : n_(n),
        depth_limit_(depth_limit),
        launches_(with_threshold(launches)),
        state_count_(n / tuning::leaf_size + 1) {
    states_ = memory.take<state>(state_count_);
    merge_sorted_on_device_ = memory.take<unsigned long long>(1);
    // A spawned segment is longer than a leaf, so a level has no more of them than there are
    // states.
    tree_memory_ = memory.take<std::byte>(tree::scratch_bytes(state_count_, launches_));
  }

  /// Enqueues the run in the control's stream. Asynchronous. The scratch memory must be allocated.
  /// `loop` is the loop of the levels below the root on the flat route. \throws unavailable,
  /// cuda_error
  void start(run_control& control, key_value_arrays<Key, Value> data,
             key_value_arrays<Key, Value> scratch, Compare compare, child_streams streams,
             const loop_choice& loop) {
    const auto clear = [&](void* memory, std::size_t bytes) {
      check(cudaMemsetAsync(memory, 0, bytes, control.stream()), "clearing the state of segments");
    };
    clear(states_, state_count_ * sizeof(state));
    clear(merge_sorted_on_device_, sizeof(unsigned long long));
    static_assert(sizeof(shared_memory) <= default_shared_bytes);
    const context shared{{data, scratch}, states_, merge_sorted_on_device_, compare, depth_limit_};
    tree_.emplace(tree_memory_, state_count_, control, tuning::threads, sizeof(shared_memory),
                  control.on_device_route() ? streams : child_streams::fire_and_forget, shared,
                  launches_, loop);
    const segment root{0, n_};
    tree_->start(root, n_ < launches_.threshold ? 1 : binary_blocks<Key, Value>(root));
  }

  /// Waits for the run. Launches, from the host, what kernels could not launch and, on the flat
  /// route without a graph, all levels below the root, each of which it reads back.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error while the stream
  ///         is being captured
  void finish(run_control& control) {
    tree_->finish();
    check(cudaMemcpyAsync(&merge_sorted_, merge_sorted_on_device_, sizeof merge_sorted_,
                          cudaMemcpyDeviceToHost, control.stream()),
          "reading the count of merge-sorted segments");
    check(cudaStreamSynchronize(control.stream()), "waiting for the run");
  }

  /// Returns the number of segments that reached the depth limit. Requires finish().
  [[nodiscard]] std::uint64_t merge_sorted() const { return merge_sorted_; }

 private:
  /// Returns `launches` with a threshold of two leaves in place of 0. On an H200, 2^22 u32 keys
  /// take 0.96 ms with it, and 1.06 ms if every segment longer than a leaf is spawned.
  static launch_granularity with_threshold(launch_granularity launches) {
    if (launches.threshold == 0) launches.threshold = 2u * tuning::leaf_size;
    return launches;
  }

  std::size_t n_;
  unsigned depth_limit_;
  launch_granularity launches_;
  std::size_t state_count_;
  state* states_;
  unsigned long long* merge_sorted_on_device_;
  std::byte* tree_memory_;
  std::optional<tree> tree_;
  unsigned long long merge_sorted_ = 0;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
