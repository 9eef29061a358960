// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The host's side of the binary strategy.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ramify/quicksort/binary.cuh>
#include <ramify/runtime/recursion.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// One run of the binary strategy.
template <class Key, class Value, class Compare>
class binary_run {
  using tuning = quicksort_tuning<Key, Value>;
  using context = binary_context<Key, Value, Compare>;
  using tree = recursion<segment, context>;
  using slot = partition_state<typename Compare::code>;
  using shared_memory = binary_shared<typename Compare::code, Value>;

 public:
  /// Introsort's depth limit, 2 log2(n) (Musser, 1997).
  [[nodiscard]] static unsigned default_depth_limit(std::size_t n) {
    return 2 * static_cast<unsigned>(std::bit_width(n));
  }

  /// What a run takes in launches, below the root's grid, which the host launches on either route.
  [[nodiscard]] static route_plans plans(std::size_t n, child_streams streams) {
    // Flat: it reads the list and the status back for each level. Device: a thread launches two
    // children. Large sorts take as long on either, within 5 % from 2^24 keys on (H200).
    const double levels =
        n <= tuning::leaf_size ? 0 : std::ceil(std::log2(double(n) / double(tuning::leaf_size)));
    route_plan device = plan_of_levels(levels, streams);
    device.host_launches = 1;  // the drain
    device.device_launches = levels;
    return {{.host_launches = levels, .host_round_trips = 2 * levels}, device, route::device};
  }

  /// Takes this run's part of the scratch memory; with a null base, only measures it.
  binary_run(memory_layout& memory, std::size_t n, unsigned depth_limit,
             const launch_granularity& launches)
      : n_(n),
        depth_limit_(depth_limit),
        launches_(completed(launches)),
        slot_count_(n / tuning::leaf_size + 1) {
    slots_ = memory.take<slot>(slot_count_);
    merge_sorted_on_device_ = memory.take<unsigned long long>(1);
    // A spawned segment is longer than a leaf, so a level has no more of them than there are slots.
    tree_memory_ = memory.take<std::byte>(tree::scratch_bytes(slot_count_, launches_));
  }

  /// Puts the run into the control's stream. Asynchronous on the device route; on the flat route it
  /// waits between levels. The memory must be there.
  /// \throws cuda_error, std::length_error
  void start(run_control& control, key_value_arrays<Key, Value> data, key_value_arrays<Key, Value> scratch,
             Compare compare, child_streams streams) {
    const auto clear = [&](void* memory, std::size_t bytes) {
      check(cudaMemsetAsync(memory, 0, bytes, control.stream()), "clearing the segments' slots");
    };
    clear(slots_, slot_count_ * sizeof(slot));
    clear(merge_sorted_on_device_, sizeof(unsigned long long));
    static_assert(sizeof(shared_memory) <= default_shared_bytes);
    const context shared{{data, scratch}, slots_, merge_sorted_on_device_, compare, depth_limit_};
    tree_.emplace(tree_memory_, slot_count_, control, tuning::threads, sizeof(shared_memory),
                  control.on_device_route() ? streams : child_streams::fire_and_forget, shared,
                  launches_);
    const segment root{0, n_};
    tree_->start(root, n_ < launches_.threshold ? 1 : binary_blocks<Key, Value>(root));
  }

  /// Waits for the run. What kernels could not launch, the host launches here.
  /// \throws cuda_error, device_launch_error, std::length_error
  void finish(run_control& control) {
    tree_->finish();
    check(cudaMemcpyAsync(&merge_sorted_, merge_sorted_on_device_, sizeof merge_sorted_,
                          cudaMemcpyDeviceToHost, control.stream()),
          "reading the count of merge-sorted segments");
    check(cudaStreamSynchronize(control.stream()), "waiting for the run");
  }

  /// Segments that had reached the depth limit; after finish().
  [[nodiscard]] std::uint64_t merge_sorted() const { return merge_sorted_; }

 private:
  /// With a threshold of two leaves unless there is one: on an H200 2^22 u32 keys take 0.96 ms with
  /// it, and 1.06 ms if all that is longer than a leaf is spawned.
  static launch_granularity completed(launch_granularity launches) {
    if (launches.threshold == 0) launches.threshold = 2u * tuning::leaf_size;
    return launches;
  }

  std::size_t n_;
  unsigned depth_limit_;
  launch_granularity launches_;
  std::size_t slot_count_;
  slot* slots_;
  unsigned long long* merge_sorted_on_device_;
  std::byte* tree_memory_;
  std::optional<tree> tree_;
  unsigned long long merge_sorted_ = 0;
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
