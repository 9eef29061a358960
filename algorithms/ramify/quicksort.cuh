// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quicksort for CUDA code: device pointers, any type, any comparator.
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
///                n is a number, or a device_count, which the host never reads.
/// Order          Any strict weak order, as a device functor that is copied bit by bit. The default
///                orders NaN after all numbers. The sort is not stable. If the comparator is not a
///                strict weak order, the result is some permutation of the input.
/// Scratch        Memory for n elements. sample_sort also needs one byte per element and a few
///                percent, more with a large depth_limit; for 0.8 to 4.3 million u32 keys, and for
///                350 to 540 million, it needs one more byte per element and 1 MB. For a
///                device_count up to 17/16 bytes per element and 64 KiB more are needed. The
///                memory comes from Ramify's stream-ordered pool or from the caller.
///                quicksort_scratch_bytes() returns its size.
/// Stream         The sort is ordered with all other work in the stream. quicksort_async() returns
///                without waiting, except that the first automatic route on a GPU measures launches
///                (see choose_route()). Work that enters the stream after the call sees the sorted
///                keys. sample_sort merge-sorts segments that its levels have left, for want of
///                launch slots or because more levels are necessary than expected: on the flat
///                route in its leaf grid, on the device route in a grid that usually ends at once.
///                For binary, a loop in a graph launches what is left; where there can be none
///                (environment::completion), the call waits. get() waits for the stream and
///                reports. With completion::by_get, and in quicksort(), get() launches work for
///                which a kernel found no launch slot or no place in the pool. On the flat route it
///                launches the levels of sample_sort beyond the expected ones, and all levels of
///                binary below the root, unless environment::flat_loop requests a graph for them:
///                its grids have the same size in all levels.
/// Capture        A graph can capture quicksort_async() on both routes if memory is handed in. Each
///                launch of the graph completes the sort. On the flat route, unless the root is
///                small, a loop in the graph launches the levels that are not expected; for binary
///                also on the device route, except with completion::by_get. A graph with such a
///                WHILE node cannot be a child graph. The run must exist as long as the graph may
///                be launched. get() may be called after each launch.
/// Launches       sample_sort: at most 5 grids per level, and log256(n) levels plus a few. On the
///                device route one grid more completes an asynchronous sort. A small root takes 1
///                to 4 grids, which the host launches on both routes. On a GPU it has up to 204,800
///                keys (values) of at most 8 bytes, or 102,400 of at most 16. More integers of 8
///                bits, and from 2^25 on of 16 bits, take 2 grids in the orders ascending and
///                descending, if there are no values and the host has n: they are counted. For a
///                device_count there are one grid more, and the grids of a small root.
///                binary: one grid for each segment of two leaves or more, or as options.launches
///                sets. Segments without a launch slot run in flat grids.
/// Errors         std::invalid_argument for a bad argument, before any memory is written;
///                unavailable if the device route is requested without -rdc=true, or a graph is
///                not available; cuda_error; device_launch_error. After the last two the content of
///                the keys is unspecified.
/// Complexity     O(n log n) comparisons for any input, because segments at the depth limit are
///                merge-sorted. Expected: n log2(n) comparisons and, for sample_sort, two reads and
///                one write of the keys a level. sample_sort reads keys that are in order, or in
///                the opposite order, once for counting, and leaves them or reverses them in place.
///                A small root takes up to 15 n log2(n) comparisons. Integers that are counted are
///                written once, and read once or twice.
/// Stable sort    Sort pairs of a key and its index, by a comparator that compares the index last;
///                quicksort/README.md has an example.
/// In kernels     A thread of a kernel calls quicksort(keys, n, compare, calls) or
///                quicksort_pairs() with a kernel_environment instead of an environment; the plan
///                of such calls has the options. The call does not wait. A continuation runs after
///                it; see quicksort/calls.cuh and <ramify/runtime/call_arena.cuh>.
/// Compile time   A call without options compiles the default strategy alone, and one without an
///                environment no loop in graphs. A call with options compiles both strategies. If
///                the program links ramify::compiled_sorts, sorts of 4-byte and 8-byte numbers in
///                the orders ascending and descending, alone or with such numbers as values,
///                compile no kernels if n is a number. Doubles in descending order, sorts of a
///                device_count, and calls from kernels compile their own: see
///                quicksort/compiled_sorts.cuh.
/// Not for        Integers, and floats of 32 bits, in their natural order on a GPU:
///                cub::DeviceRadixSort is faster, except for a few 100,000 keys (10^8 u32 keys on
///                an H100: 0.69 of the time), and for integers that are counted, from 2^20 on of 8
///                bits, and from 2^26 on of 16 bits (2^28 on an H200: a quarter and a third of its
///                time). For doubles it is slower at every size that was
///                measured (10^8: 1.4 times the time).

#include <ramify/runtime/detail/requirements.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/binary_run.cuh>
#include <ramify/quicksort/calls.cuh>
#include <ramify/quicksort/compiled_sorts.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/counted_sort.cuh>
#include <ramify/quicksort/order.cuh>
#include <ramify/quicksort/sample_sort_run.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <stdexcept>
#include <type_traits>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The scratch memory of a sort: that of the strategy, which takes its own part and begins with the
/// state that the host reads, and memory for the elements.
template <class Key, class Value, class Strategy>
struct sort_memory {
  using arrays = key_value_arrays<Key, Value>;

  sort_memory(memory_layout& memory, std::size_t n, const quicksort_options& options)
      : strategy(memory, n, options),
        elements{memory.take<Key>(n), memory.take<Value>(arrays::has_values ? n : 0)} {}

  Strategy strategy;
  arrays elements;
};

/// A sort of at least two elements by a strategy: `Strategy` is a sample_sort_run or a binary_run.
template <class Key, class Value, class Compare, class Strategy>
class sort_run final : public device_run<quicksort_report, sort_memory<Key, Value, Strategy>> {
  using order = sort_order<Key, Compare>;
  using base = device_run<quicksort_report, sort_memory<Key, Value, Strategy>>;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning depends on the size of keys");

 public:
  /// Chooses the route, and starts the sort.
  [[nodiscard]] static async_run<quicksort_report> start(run_setup& setup,
                                                         const key_value_arrays<Key, Value>& data,
                                                         std::size_t n, Compare compare,
                                                         const quicksort_options& options) {
    Strategy::make_choices(setup, n, options);
    const phase_range range("quicksort: start");
    return std::make_unique<sort_run>(setup, data, n, compare, options);
  }

  sort_run(const run_setup& setup, const key_value_arrays<Key, Value>& data, std::size_t n,
           Compare compare, const quicksort_options& options)
      : base(setup, n, options), n_(n), strategy_(options.strategy) {
    this->parts.strategy.start(this->control, {data, this->parts.elements}, order{compare}, options,
                               setup.loop);
    this->complete_in_stream(this->parts.strategy.completes_in_stream());
  }

 private:
  quicksort_report finish() override {
    quicksort_report report;
    report.merge_sorted_segments = this->parts.strategy.finish(this->control);
    static_cast<run_report&>(report) = this->end();
    report.strategy = strategy_;
    report.keys = n_;
    return report;
  }

  std::size_t n_;
  quicksort_strategy strategy_;
};

/// Calls `call` with the type of the sort_run that the options select, by a null pointer to it.
template <class Key, class Value, class Compare, class Options, class Call>
auto with_strategy(const Options& options, const Call& call) {
  using order = sort_order<Key, Compare>;
  if constexpr (!is_default<Options>) {
    if (options.strategy == quicksort_strategy::binary) {
      using strategy = binary_run<Key, Value, order>;
      return call(static_cast<sort_run<Key, Value, Compare, strategy>*>(nullptr));
    }
  }
  using strategy = sample_sort_run<Key, Value, order, may_need_loop<Options>>;
  return call(static_cast<sort_run<Key, Value, Compare, strategy>*>(nullptr));
}

/// Starts a sort; see quicksort_pairs_async().
template <class Key, class Value, class Compare, class Options>
async_run<quicksort_report> start_sort(Key* keys, Value* values, std::size_t n, Compare compare,
                                       const Options& options, const environment& env) {
  if constexpr (compiled_sort<Key, Value, Compare>::exists) {
    return compiled_sort<Key, Value, Compare>::start(keys, values, n, options, env);
  } else {
    validate_in_place(options);
    check_size(n);
    run_setup setup("quicksort", env);
    check_arrays(keys, values, n);
    if (n < 2) {
      quicksort_report report;
      report.strategy = options.strategy;
      report.keys = n;
      return run_without_work(setup, report, "fewer than two keys are sorted already");
    }
    return with_strategy<Key, Value, Compare>(options, [&]<class Run>(const Run*) {
      return Run::start(setup, {keys, values}, n, compare, options);
    });
  }
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts to sort n keys in place. What quicksort_pairs_async() states holds here, too.
///
/// \param keys     an array of n elements that the device can access
/// \param compare  returns whether its first argument must come before its second
/// \param env      its memory: quicksort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Compare = ascending, class Options = quicksort_options>
detail::run_if<detail::quicksort::argument_types<Key, no_value, Compare>,
               async_run<quicksort_report>>
quicksort_async(Key* keys, std::size_t n, Compare compare,
                const std::type_identity_t<Options>& options, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::quicksort::start_sort<Key, no_value>(keys, nullptr, n, compare, options, env);
  }
}
/// Overload with the default options.
template <class Key, class Compare = ascending>
auto quicksort_async(Key* keys, std::size_t n, Compare compare, const environment& env) {
  return quicksort_async<Key, Compare, detail::default_of<quicksort_options>>(keys, n, compare, {},
                                                                              env);
}
/// Overload with the default options and environment.
template <class Key, class Compare = ascending>
auto quicksort_async(Key* keys, std::size_t n, Compare compare = {}) {
  return quicksort_async<Key, Compare, detail::default_call_of<quicksort_options>>(keys, n, compare,
                                                                                   {});
}

/// Starts to sort n keys in place, and moves each value with its key. The memory of the keys and
/// the values must exist until get() has returned. A graph can capture the call; the head of this
/// file states when.
///
/// \param keys, values  arrays of n elements that the device can access; they must not overlap
/// \param compare  returns whether its first argument must come before its second
/// \param env      its memory: quicksort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Value, class Compare = ascending, class Options = quicksort_options>
detail::run_if<detail::quicksort::argument_types<Key, Value, Compare>, async_run<quicksort_report>>
quicksort_pairs_async(Key* keys, Value* values, std::size_t n, Compare compare,
                      const std::type_identity_t<Options>& options, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::quicksort::start_sort(keys, values, n, compare, options, env);
  }
}
/// Overload with the default options.
template <class Key, class Value, class Compare = ascending>
auto quicksort_pairs_async(Key* keys, Value* values, std::size_t n, Compare compare,
                           const environment& env) {
  return quicksort_pairs_async<Key, Value, Compare, detail::default_of<quicksort_options>>(
      keys, values, n, compare, {}, env);
}
/// Overload with the default options and environment.
template <class Key, class Value, class Compare = ascending>
auto quicksort_pairs_async(Key* keys, Value* values, std::size_t n, Compare compare = {}) {
  return quicksort_pairs_async<Key, Value, Compare, detail::default_call_of<quicksort_options>>(
      keys, values, n, compare, {});
}

/// Sorts n keys in place and waits for the sort: quicksort_async() and get().
/// \param env  its memory: quicksort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <class Key, class Compare = ascending, class Options = quicksort_options>
quicksort_report quicksort(Key* keys, std::size_t n, Compare compare,
                           const std::type_identity_t<Options>& options,
                           const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return quicksort_async<Key, Compare, Options>(keys, n, compare, options, detail::waiting(env))
        .get();
  }
}
/// Overload with the default options.
template <class Key, class Compare = ascending>
quicksort_report quicksort(Key* keys, std::size_t n, Compare compare, const environment& env) {
  return quicksort<Key, Compare, detail::default_of<quicksort_options>>(keys, n, compare, {}, env);
}
/// Overload with the default options and environment.
template <class Key, class Compare = ascending>
quicksort_report quicksort(Key* keys, std::size_t n, Compare compare = {}) {
  return quicksort<Key, Compare, detail::default_call_of<quicksort_options>>(keys, n, compare, {});
}

/// Sorts n keys in place, moves each value with its key, and waits for the sort:
/// quicksort_pairs_async() and get().
/// \param env  its memory: quicksort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <class Key, class Value, class Compare = ascending, class Options = quicksort_options>
quicksort_report quicksort_pairs(Key* keys, Value* values, std::size_t n, Compare compare,
                                 const std::type_identity_t<Options>& options,
                                 const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return quicksort_pairs_async<Key, Value, Compare, Options>(keys, values, n, compare, options,
                                                               detail::waiting(env))
        .get();
  }
}
/// Overload with the default options.
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs(Key* keys, Value* values, std::size_t n, Compare compare,
                                 const environment& env) {
  return quicksort_pairs<Key, Value, Compare, detail::default_of<quicksort_options>>(
      keys, values, n, compare, {}, env);
}
/// Overload with the default options and environment.
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs(Key* keys, Value* values, std::size_t n, Compare compare = {}) {
  return quicksort_pairs<Key, Value, Compare, detail::default_call_of<quicksort_options>>(
      keys, values, n, compare, {});
}

/// Returns the device memory that a sort of n elements needs, in bytes. Value is no_value for a
/// sort of keys without values. \throws std::invalid_argument, cuda_error
template <class Key, class Value = no_value, class Compare = ascending,
          class Options = quicksort_options>
[[nodiscard]] std::size_t quicksort_scratch_bytes(std::size_t n,
                                                  const std::type_identity_t<Options>& options) {
  validate(options);
  using compiled = detail::quicksort::compiled_sort<Key, Value, Compare>;
  if constexpr (compiled::exists) {
    return compiled::scratch_bytes(n, options);
  } else {
    return detail::quicksort::with_strategy<Key, Value, Compare>(
        options, [&]<class Run>(const Run*) { return Run::scratch_bytes(n, options); });
  }
}
/// Overload for the default options.
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t quicksort_scratch_bytes(std::size_t n) {
  return quicksort_scratch_bytes<Key, Value, Compare, detail::default_call_of<quicksort_options>>(
      n, {});
}

/// Returns launch limits under which a sort of n elements is expected to spill no segment. The
/// default limit suffices for sample_sort; binary may have one launch pending for each two leaves.
///
///     const ramify::launch_limits limits(ramify::quicksort_recommended_limits<float>(n, options));
template <class Key, class Value = no_value>
[[nodiscard]] launch_limit_values quicksort_recommended_limits(
    std::size_t n, const quicksort_options& options = {}) {
  constexpr std::size_t default_limit = 2048;
  constexpr std::size_t max_limit = 65'536;  // each pending launch takes device memory
  if (options.strategy == quicksort_strategy::sample_sort) {
    return {.pending_launches = default_limit};
  }
  const std::size_t leaves = n / detail::quicksort::quicksort_tuning<Key, Value>::leaf_size;
  return {.pending_launches = std::clamp(leaves, default_limit, max_limit)};
}

}  // namespace ramify::inline RAMIFY_BUILD
