// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort for CUDA code: device pointers, any comparator, a stream.
///
///     keys   <-- [8, 6, 7, 5, 3, 0, 9]                values <-- [0, 1, 2, 3, 4, 5, 6]
///     ramify::quicksort(keys, 7);                     ramify::quicksort_pairs(keys, values, 7);
///     keys   --> [0, 3, 5, 6, 7, 8, 9]                values --> [5, 4, 3, 1, 2, 0, 6]
///
/// Compiled by nvcc, it runs on the GPU: with grids that launch grids if -rdc=true is given, and
/// with flat launches otherwise. Compiled by a C++ compiler, it runs on the CPU executor. For host
/// memory, or for code that nvcc does not compile, use the facade <ramify/quicksort.hpp>.
///
/// Keys, values   n elements each, sorted in place, of trivially copyable and default-constructible
///                types. Device, managed or pinned memory. Keys and values must not overlap.
/// Order          Any strict weak order, as a device functor that is copied bit by bit. The default
///                orders NaN after all numbers. The sort is not stable. If the comparator is not a
///                strict weak order, the result is some permutation of the input.
/// Scratch        Memory for n elements. sample_sort also needs one byte per element and a few
///                percent, more with a large depth_limit; for 0.8 to 4.3 million u32 keys, and for
///                350 to 540 million, it needs one more byte per element and 1 MB. The memory comes
///                from Ramify's stream-ordered pool or from the caller. quicksort_scratch_bytes()
///                returns its size.
/// Stream         The sort is ordered with all other work in the stream. quicksort_async() returns
///                without waiting, except that the first automatic route on a GPU measures launches
///                (see choose_route()). get() waits for the stream. get() also launches work for
///                which a kernel found no launch slot or no place in the pool. On the flat route it
///                launches the levels of sample_sort beyond the expected ones, and all levels of
///                binary below the root, unless config.flat_loop requests a graph for them. The
///                sort is complete only after get().
/// Capture        A graph can capture quicksort_async() on both routes if scratch memory is passed
///                in. On the flat route a loop in the graph launches the levels that get() would
///                launch. The run must exist as long as the graph may be launched. get() may be
///                called after each launch.
/// Launches       sample_sort: at most 5 grids per level, and log256(n) levels plus a few. A small
///                root takes 1 to 4 grids, which the host launches on both routes. On a GPU it has
///                up to 160,000 keys (values) of at most 8 bytes, or 102,400 of at most 16.
///                binary: one grid for each segment of two leaves or more, or as config.launches
///                sets. Segments without a launch slot run in flat grids.
/// Errors         std::invalid_argument for a bad argument, before any memory is written;
///                unavailable if the device route is requested without -rdc=true, or a graph is
///                not available; cuda_error; device_launch_error. After the last two the content of
///                the keys is unspecified.
/// Complexity     O(n log n) comparisons for any input, because segments at the depth limit are
///                merge-sorted. Expected: n log2(n) comparisons and, for sample_sort, two reads and
///                one write of the keys a level. sample_sort reads keys that are in order, or in
///                the opposite order, once for counting, and leaves them or reverses them in place.
///                A small root takes up to 15 n log2(n) comparisons.
/// Stable sort    Sort pairs of a key and its index, by a comparator that compares the index last;
///                quicksort/README.md has an example.
/// Not for        Integers, and floats of 32 bits, in their natural order on a GPU:
///                cub::DeviceRadixSort is faster, except for a few 100,000 keys (10^8 u32 keys on
///                an H100: 0.69 of the time). For doubles it is slower at every size that was
///                measured (10^8: 1.4 times the time).

#include <ramify/runtime/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/binary_run.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/sample_sort_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/run_control.cuh>
#include <stdexcept>
#include <utility>
#include <variant>

namespace ramify::inline RAMIFY_BUILD {

/// A quicksort that quicksort_async() or quicksort_pairs_async() started. Movable; get() of a
/// moved-from run throws std::logic_error. The destructor neither waits for the sort nor checks it.
template <class Key, class Value, class Compare>
class [[nodiscard(
    "call get(): it waits for the sort, checks it and returns the report")]] quicksort_run {
  using order = detail::quicksort::sort_order<Key, Compare>;
  using arrays = detail::quicksort::key_value_arrays<Key, Value>;
  using sample_sort_run = detail::quicksort::sample_sort_run<Key, Value, order>;
  using binary_run = detail::quicksort::binary_run<Key, Value, order>;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning depends on the size of keys");

 public:
  /// Waits for the sort, completes it if necessary, and returns its report.
  ///
  /// Must be called only once. For a captured sort, it may be called once after each launch of the
  /// graph. The graph must have been launched into the same stream, or be complete.
  /// \throws cuda_error, device_launch_error; std::logic_error while the stream is being captured,
  ///         for a further call, and for a moved-from run
  quicksort_report get() {
    const auto call = result_.begin_get();
    const phase_range range("quicksort: get");
    quicksort_report report;
    if (run_ != nullptr) {
      const auto finish = [&](auto& strategy) { return strategy.finish(run_->control); };
      report.merge_sorted_segments = std::visit(finish, run_->parts.of_strategy);
      static_cast<run_report&>(report) = run_->end();
      if (!run_->captured) run_.reset();
    } else {
      static_cast<run_report&>(report) =
          report_of_this_build({route::flat, "fewer than two keys are sorted already"});
    }
    report.strategy = strategy_;
    report.keys = n_;
    return report;
  }

  /// Returns the device memory that a run needs, in bytes.
  static std::size_t scratch_bytes(std::size_t n, const quicksort_config& config) {
    return run::scratch_bytes(n, config);
  }

  /// Starts a run; see quicksort_pairs_async().
  quicksort_run(Key * keys, Value * values, std::size_t n, Compare compare, cudaStream_t stream,
                const quicksort_config& config, scratch_memory scratch)
      : strategy_(config.strategy), n_(n) {
    validate(config);
    const relaxed_capture_scope relaxed;  // driver queries do not affect a captured stream
    const arrays data{keys, values};
    check_arguments(data, n);
    detail::run_setup setup("quicksort", config, "quicksort_config.flat_loop", stream, scratch);
    result_ = detail::result_state(setup.algorithm, setup.captured);
    const bool samples = strategy_ == quicksort_strategy::sample_sort;
    // With binary, the flat route launches only the root's grid in advance.
    setup.prefer_host(samples ? "too few levels for a graph to pay"
                              : "the grids of the host have the size of their level");
    const bool is_small = samples && sample_sort_run::is_small(n);
    setup.choice = choice_of_route(setup, n, config, is_small);
    if (n < 2) return;
    setup.first_grid_clears = is_small && setup.choice.taken == route::flat;
    const phase_range range("quicksort: start");
    run_ = std::make_unique<run>(setup, n, config);
    const auto start = [&](auto& strategy) {
      strategy.start(run_->control, {data, run_->parts.elements}, order{compare}, config,
                     setup.loop);
    };
    std::visit(start, run_->parts.of_strategy);
  }

 private:
  /// The scratch memory, with the run of the strategy, which takes its own part.
  struct parts {
    using strategy_run = std::variant<sample_sort_run, binary_run>;

    parts(memory_layout& memory, std::size_t n, const quicksort_config& config)
        : elements{memory.take<Key>(n), memory.take<Value>(arrays::has_values ? n : 0)},
          of_strategy(config.strategy == quicksort_strategy::sample_sort
                          ? strategy_run(std::in_place_type<sample_sort_run>, memory, n, config)
                          : strategy_run(std::in_place_type<binary_run>, memory, n, config)) {}

    arrays elements;
    strategy_run of_strategy;
  };

  using run = detail::basic_run<parts>;

  /// Returns the requested route, or the cheaper one. For a small root it does not look up the
  /// launch costs, which would take a part of so short a run.
  static route_choice choice_of_route(const detail::run_setup& setup, std::size_t n,
                                      const quicksort_config& config, bool is_small) {
    if (is_small) {
      return choose_route(config.route, setup.limit, sample_sort_run::slots_needed,
                          route_choice{route::flat, "the host launches all grids of a small root"});
    }
    if (config.strategy == quicksort_strategy::sample_sort) {
      return choose_route(config.route, setup.limit, sample_sort_run::slots_needed,
                          sample_sort_run::plans(n), setup.stream);
    }
    return choose_route(config.route, setup.limit, binary_run::slots_needed,
                        binary_run::plans(n, config.streams), setup.stream);
  }

  static void check_arguments(const arrays& data, std::size_t n) {
    if (n >> 40 != 0) throw std::invalid_argument("quicksort: n must be less than 2^40");
    if (n == 0) return;
    check_device_access(data.keys, "quicksort: keys");
    if constexpr (arrays::has_values) {
      check_device_access(data.values, "quicksort: values");
      detail::quicksort::check_overlap(data.keys, data.values, n);
    }
  }

  quicksort_strategy strategy_;
  std::size_t n_;
  std::unique_ptr<run> run_;
  detail::result_state result_{"quicksort"};
};

/// Starts to sort n keys in place, in `stream`. \see quicksort_pairs_async()
template <class Key, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, no_value, Compare>,
               quicksort_run<Key, no_value, Compare>>
quicksort_async(Key* keys, std::size_t n, Compare compare = {}, cudaStream_t stream = nullptr,
                const quicksort_config& config = {}, scratch_memory scratch = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return {keys, nullptr, n, compare, stream, config, scratch};
  }
}

/// Starts to sort n keys in place, in `stream`, and moves each value with its key. The memory of
/// the keys, the values and the scratch must exist until get() has returned. A graph can capture
/// the call; the head of this file states when.
///
/// \param keys, values  arrays of n elements that the device can access; they must not overlap
/// \param compare  returns whether its first argument must come before its second
/// \param scratch  memory of quicksort_scratch_bytes(); empty: from Ramify's stream-ordered pool,
///                 which a captured sort cannot use
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Value, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, Value, Compare>,
               quicksort_run<Key, Value, Compare>>
quicksort_pairs_async(Key* keys, Value* values, std::size_t n, Compare compare = {},
                      cudaStream_t stream = nullptr, const quicksort_config& config = {},
                      scratch_memory scratch = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return {keys, values, n, compare, stream, config, scratch};
  }
}

/// Sorts n keys in place and waits for `stream`: quicksort_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <class Key, class Compare = ascending>
quicksort_report quicksort(Key* keys, std::size_t n, Compare compare = {},
                           cudaStream_t stream = nullptr, const quicksort_config& config = {},
                           scratch_memory scratch = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return quicksort_async(keys, n, compare, stream, config, scratch).get();
  }
}

/// Sorts n keys in place, moves each value with its key, and waits for `stream`:
/// quicksort_pairs_async() and get().
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs(Key* keys, Value* values, std::size_t n, Compare compare = {},
                                 cudaStream_t stream = nullptr, const quicksort_config& config = {},
                                 scratch_memory scratch = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return quicksort_pairs_async(keys, values, n, compare, stream, config, scratch).get();
  }
}

/// Returns the device memory that a sort of n elements needs, in bytes. Value is no_value for a
/// sort of keys without values. \throws std::invalid_argument, cuda_error
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t quicksort_scratch_bytes(std::size_t n,
                                                  const quicksort_config& config = {}) {
  validate(config);
  return quicksort_run<Key, Value, Compare>::scratch_bytes(n, config);
}

/// Returns launch limits under which a sort of n elements is expected to spill no segment. The
/// default limit suffices for sample_sort; binary may have one launch pending for each two leaves.
///
///     const ramify::launch_limits limits(ramify::quicksort_recommended_limits<float>(n, config));
template <class Key, class Value = no_value>
[[nodiscard]] launch_limit_values quicksort_recommended_limits(
    std::size_t n, const quicksort_config& config = {}) {
  constexpr std::size_t default_limit = 2048;
  constexpr std::size_t max_limit = 65'536;  // each pending launch takes device memory
  if (config.strategy == quicksort_strategy::sample_sort) {
    return {.pending_launches = default_limit};
  }
  const std::size_t leaves = n / detail::quicksort::quicksort_tuning<Key, Value>::leaf_size;
  return {.pending_launches = std::clamp(leaves, default_limit, max_limit)};
}

}  // namespace ramify::inline RAMIFY_BUILD
