// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// quicksort() for CUDA code: device pointers, any comparator, a stream.
///
///     keys   <-- [8, 6, 7, 5, 3, 0, 9]                values <-- [0, 1, 2, 3, 4, 5, 6]
///     ramify::quicksort(keys, 7);                     ramify::quicksort_pairs(keys, values, 7);
///     keys   --> [0, 3, 5, 6, 7, 8, 9]                values --> [5, 4, 3, 1, 2, 0, 6]
///
/// Compiled by nvcc it runs on the GPU, with grids that launch grids if -rdc=true is given and flat
/// otherwise; compiled by a C++ compiler it runs on the CPU executor. For host memory, or for code
/// that never sees nvcc, there is the facade <ramify/quicksort.hpp>.
///
/// Keys, values   n elements each, of any trivially copyable and default-constructible types, in
///                place. Device, managed or pinned memory; keys and values must not overlap.
/// Order          any strict weak order, as a device functor copied bit by bit. The default orders
///                NaN after all numbers. Not stable: values of equal keys come in any order. A
///                comparator that is no strict weak order gives some permutation of the input.
/// Scratch        n elements again and, for sample_sort, a byte an element and a few per cent (more with
///                a large depth_limit), and of u32 keys from 0.8 to 4.3 million another byte and 1 MB in
///                all; from Ramify's stream-ordered pool, or handed in.
///                quicksort_scratch_bytes() says how much.
/// Stream         work before and after in the stream is ordered with the sort. quicksort_async()
///                returns at once, but for binary on the flat route, which reads each level back, and
///                for the first automatic route on a GPU, which measures launches (choose_route()).
///                get() waits for the stream. What finds no launch slot, because runs beside this
///                one hold them, or none in the pool, and levels of sample_sort beyond those that even
///                splitting takes on the flat route, get() launches: only then is the sort complete.
/// Launches       sample_sort: at most 5 grids a level, log(n) levels of base 256 and a few. binary: a
///                grid for each segment of two leaves or more, or as config.launches says; those that
///                find no launch slot run in flat grids.
/// Errors         std::invalid_argument for a bad argument, before anything is touched; unavailable
///                if the device route is asked for without -rdc=true; cuda_error,
///                device_launch_error. After the latter two the keys are some mixture.
/// Complexity     O(n log n) comparisons for any input: what partitions badly for too long is merge
///                sorted. Expected: n log2(n) comparisons, and for sample_sort two reads and one write
///                of the keys a level. What is in order, or in the opposite order, sample_sort counts
///                once, and leaves there or turns round in place.
/// Not for        integer or floating-point keys in their natural order on a GPU, where
///                cub::DeviceRadixSort is faster; stable sorting; inputs of a few thousand keys.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ramify/quicksort/binary_run.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/sample_sort_run.cuh>
#include <ramify/quicksort/order.cuh>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

/// A quicksort under way. Movable; moved-from it may only be destroyed. Destroying it before get()
/// neither waits nor checks.
template <class Key, class Value, class Compare>
class [[nodiscard("call get(): it waits, checks and reports")]] quicksort_run {
  using order = detail::quicksort::sort_order<Key, Compare>;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning goes by the size of keys");

 public:
  /// Waits for the sort and tells what it did. Once.
  /// \throws cuda_error, device_launch_error
  quicksort_report get() {
    quicksort_report report;
    if (state_ != nullptr) {
      const auto finish = [&](auto& run) {
        run.finish(state_->control);
        report.merge_sorted_segments = run.merge_sorted();
      };
      if (state_->parts.sample_sort) finish(*state_->parts.sample_sort);
      if (state_->parts.binary) finish(*state_->parts.binary);
      state_->control.read_trace();
      static_cast<run_report&>(report) = state_->control.report();
      report.scratch_bytes = state_->scratch.size();
      state_.reset();
    } else {
      static_cast<run_report&>(report) = report_of_this_build();
      report.taken = route::flat;
      report.route_reason = "fewer than two keys are sorted already";
    }
    report.strategy = strategy_;
    report.keys = n_;
    return report;
  }

  /// Device memory that a run takes, in bytes.
  static std::size_t scratch_bytes(std::size_t n, const quicksort_config& config) {
    memory_layout sizing(nullptr);
    pieces measured(sizing, n, config);
    return sizing.size();
  }

  /// Starts a run; see quicksort_pairs_async().
  quicksort_run(detail::quicksort::key_value_arrays<Key, Value> data, std::size_t n, Compare compare, cudaStream_t stream,
                const quicksort_config& config, scratch_memory scratch)
      : strategy_(config.strategy), n_(n) {
    check_arguments(data, n, config, scratch);
    const std::size_t limit = *current_launch_limits().pending_launches;
    const bool sample_sort = config.strategy == quicksort_strategy::sample_sort;
    const unsigned slots_needed = sample_sort ? detail::quicksort::sample_sort_level_grids : 1;
    const route_choice choice =
        choose_route(config.route, limit, slots_needed,
                     sample_sort ? detail::quicksort::sample_sort_run<Key, Value, order>::plans(n)
                              : detail::quicksort::binary_run<Key, Value, order>::plans(n, config.streams),
                     stream);
    if (n < 2) return;
    state_ = std::make_unique<state>(n, config, scratch, choice, limit, stream);
    if (state_->parts.sample_sort) {
      state_->parts.sample_sort->start(state_->control, data, state_->parts.elements, order{compare});
    } else {
      state_->parts.binary->start(state_->control, data, state_->parts.elements, order{compare},
                                  config.streams);
    }
  }

 private:
  // The pieces of the scratch memory, laid out by constructing them.
  struct pieces {
    pieces(memory_layout& memory, std::size_t n, const quicksort_config& config) {
      control = memory.take<std::byte>(run_control::scratch_bytes);
      elements.keys = memory.take<Key>(n);
      if constexpr (detail::quicksort::key_value_arrays<Key, Value>::has_values) elements.values = memory.take<Value>(n);
      const auto depth_limit = [&](unsigned chosen) {
        return config.depth_limit == 0 ? chosen : config.depth_limit;
      };
      using sample_sort_type = detail::quicksort::sample_sort_run<Key, Value, order>;
      using binary_type = detail::quicksort::binary_run<Key, Value, order>;
      if (config.strategy == quicksort_strategy::sample_sort) {
        sample_sort.emplace(memory, n, depth_limit(sample_sort_type::default_depth_limit(n)));
      } else {
        binary.emplace(memory, n, depth_limit(binary_type::default_depth_limit(n)),
                       config.launches);
      }
    }

    void* control;
    detail::quicksort::key_value_arrays<Key, Value> elements;
    std::optional<detail::quicksort::sample_sort_run<Key, Value, order>> sample_sort;
    std::optional<detail::quicksort::binary_run<Key, Value, order>> binary;
  };

  struct state {
    state(std::size_t n, const quicksort_config& config, scratch_memory given,
          const route_choice& choice, std::size_t limit, cudaStream_t stream)
        : scratch(given, scratch_bytes(n, config), stream),
          memory(scratch.data()),
          parts(memory, n, config),
          control(parts.control, choice, limit, stream, config.trace) {}

    scratch_space scratch;
    memory_layout memory;
    pieces parts;
    run_control control;
  };

  static void check_arguments(const detail::quicksort::key_value_arrays<Key, Value>& data, std::size_t n,
                              const quicksort_config& config, const scratch_memory& scratch) {
    validate(config);
    if (n >> 40 != 0) throw std::invalid_argument("quicksort: n must be less than 2^40");
    if (n == 0) return;
    check_device_access(data.keys, "quicksort: keys");
    if constexpr (detail::quicksort::key_value_arrays<Key, Value>::has_values) {
      check_device_access(data.values, "quicksort: values");
      detail::quicksort::check_overlap(data.keys, data.values, n);
    }
    check_scratch(scratch, scratch_bytes(n, config), "quicksort");
  }

  quicksort_strategy strategy_;
  std::size_t n_;
  std::unique_ptr<state> state_;
};

/// Starts sorting n keys in place, in `stream`.
template <class Key, class Compare = ascending>
quicksort_run<Key, no_value, Compare> quicksort_async(Key* keys, std::size_t n,
                                                      Compare compare = {},
                                                      cudaStream_t stream = nullptr,
                                                      const quicksort_config& config = {},
                                                      scratch_memory scratch = {}) {
  return {detail::quicksort::key_value_arrays<Key, no_value>{keys, nullptr}, n, compare, stream, config, scratch};
}

/// Starts sorting n keys in place, in `stream`; each value goes where its key goes.
template <class Key, class Value, class Compare = ascending>
quicksort_run<Key, Value, Compare> quicksort_pairs_async(Key* keys, Value* values, std::size_t n,
                                                         Compare compare = {},
                                                         cudaStream_t stream = nullptr,
                                                         const quicksort_config& config = {},
                                                         scratch_memory scratch = {}) {
  return {detail::quicksort::key_value_arrays<Key, Value>{keys, values}, n, compare, stream, config, scratch};
}

/// Sorts n keys in place and waits for `stream`.
template <class Key, class Compare = ascending>
quicksort_report quicksort(Key* keys, std::size_t n, Compare compare = {},
                           cudaStream_t stream = nullptr, const quicksort_config& config = {},
                           scratch_memory scratch = {}) {
  return quicksort_async(keys, n, compare, stream, config, scratch).get();
}

/// Sorts n keys in place, each value with its key, and waits for `stream`.
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs(Key* keys, Value* values, std::size_t n, Compare compare = {},
                                 cudaStream_t stream = nullptr, const quicksort_config& config = {},
                                 scratch_memory scratch = {}) {
  return quicksort_pairs_async(keys, values, n, compare, stream, config, scratch).get();
}

/// Device memory that a sort of n elements takes, in bytes. Value is no_value for keys alone.
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t quicksort_scratch_bytes(std::size_t n,
                                                  const quicksort_config& config = {}) {
  validate(config);
  return quicksort_run<Key, Value, Compare>::scratch_bytes(n, config);
}

/// The limits under which a sort of n elements spills nothing, as far as can be foreseen: sample_sort
/// is content with the default, binary may have a launch pending for each two leaves.
///
///     const ramify::launch_limits limits(ramify::quicksort_recommended_limits<float>(n, config));
template <class Key, class Value = no_value>
[[nodiscard]] launch_limit_values quicksort_recommended_limits(
    std::size_t n, const quicksort_config& config = {}) {
  constexpr std::size_t usual = 2048;
  constexpr std::size_t most = 65'536;  // a slot takes device memory
  if (config.strategy == quicksort_strategy::sample_sort) return {.pending_launches = usual};
  const std::size_t leaves = n / detail::quicksort::quicksort_tuning<Key, Value>::leaf_size;
  return {.pending_launches = std::clamp(leaves, usual, most)};
}

}  // namespace ramify::inline RAMIFY_BUILD
