// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Sorts of a number of elements that only the device has (device_count): the overloads of
/// <ramify/quicksort.cuh>. counted_root.cuh has their program.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/config.hpp>
#include <ramify/quicksort/counted_root.cuh>
#include <ramify/quicksort/order.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/device_count.hpp>
#include <ramify/runtime/phase_range.cuh>

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The run of a sort whose number of elements only the device has.
template <class Key, class Value, class Compare>
class counted_run final
    : public device_run<
          quicksort_report,
          counted_sort_memory<counted_context<Key, Value, sort_order<Key, Compare>>>> {
  using context = counted_context<Key, Value, sort_order<Key, Compare>>;
  using program = without_loop<context>;
  using base = device_run<quicksort_report, counted_sort_memory<context>>;
  using arrays = key_value_arrays<Key, Value>;
  static_assert(sizeof(typename context::code) == sizeof(Key),
                "tuning depends on the size of keys");

 public:
  /// Chooses the route, and starts the sort. Grids in the stream always complete it. The flat route
  /// is preferred, because a grid that ends at once takes less time than a launch by a kernel.
  [[nodiscard]] static async_run<quicksort_report> start(run_setup& setup, const arrays& data,
                                                         const element_count& n, Compare compare) {
    setup.prefer_host("too few levels for a graph to pay");
    setup.completes_without_loop = true;
    setup.choice = ramify::choose_route(
        setup.wanted, setup.limit, sample_sort_level_grids,
        route_choice{route::flat, "the host launches all grids that the upper bound requires"});
    const phase_range range("quicksort: start");
    return std::make_unique<counted_run>(setup, data, n, compare);
  }

  counted_run(const run_setup& setup, const arrays& data, const element_count& n, Compare compare)
      : base(setup, n.upper_bound), n_(n) {
    const auto& memory = this->parts;
    // In a graph, the leaf grid of the flat route finishes the sort: there is no loop.
    const bool on_device = this->control.on_device_route();
    const bool completes = this->control.needs_completion() || (setup.captured && !on_device);
    context made{};
    static_cast<typename context::memory&>(made) = memory.sort;
    made.buffers = {data, memory.elements};
    made.compare = {compare};
    made.completes = completes;
    made.count = n;
    made.counted = memory.counted;
    made.divided = memory.divided;
    made.arrays = memory.arrays;
    chain_.emplace(this->control, program{made}, setup.loop);
    if (on_device) chain_->launch_first_round({});
    chain_->start();
    this->complete_in_stream(chain_->completes_in_stream());
  }

 private:
  quicksort_report finish() override {
    chain_->finish();
    const auto read = this->control.seen(this->parts.counted);
    n_.check(this->algorithm(), read.raw);
    quicksort_report report;
    static_cast<run_report&>(report) = this->end();
    report.merge_sorted_segments = chain_->state().merge_sorted;
    report.keys = read.n;
    return report;
  }

  element_count n_;
  std::optional<launch_chain<program>> chain_;
};

/// Starts a sort of a number of elements that only the device has.
template <class Key, class Value, class Compare>
async_run<quicksort_report> start_counted_sort(Key* keys, Value* values, const device_count& n,
                                               Compare compare, const environment& env) {
  check_size(n.upper_bound);
  run_setup setup("quicksort", env);
  setup.check_count(n);
  check_arrays(keys, values, n.upper_bound);
  return counted_run<Key, Value, Compare>::start(setup, {keys, values}, n, compare);
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts to sort keys in place whose number only the device has. What quicksort_pairs_async()
/// states holds here, too.
///
/// The strategy is sample_sort. The host never reads the number, and no loop is in a graph that
/// captures the call: each launch of the graph sorts as many keys as the number then is. If it
/// exceeds its upper bound, no key changes, and get() throws std::length_error.
///
/// \param keys     an array of n.upper_bound elements that the device can access
/// \param compare  returns whether its first argument must come before its second
/// \param env      its memory: quicksort_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, no_value, Compare>,
               async_run<quicksort_report>>
quicksort_async(Key* keys, const device_count& n, Compare compare = {},
                const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return detail::quicksort::start_counted_sort<Key, no_value>(keys, nullptr, n, compare, env);
  }
}

/// Starts to sort keys in place whose number only the device has, and moves each value with its
/// key. See the overload for keys alone.
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Key, class Value, class Compare = ascending>
detail::run_if<detail::quicksort::argument_types<Key, Value, Compare>, async_run<quicksort_report>>
quicksort_pairs_async(Key* keys, Value* values, const device_count& n, Compare compare = {},
                      const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return detail::quicksort::start_counted_sort(keys, values, n, compare, env);
  }
}

/// Sorts keys in place whose number only the device has, and waits: quicksort_async() and get().
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Key, class Compare = ascending>
quicksort_report quicksort(Key* keys, const device_count& n, Compare compare = {},
                           const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    return quicksort_async(keys, n, compare, detail::waiting(env)).get();
  }
}

/// Sorts keys in place whose number only the device has, moves each value with its key, and waits:
/// quicksort_pairs_async() and get().
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <class Key, class Value, class Compare = ascending>
quicksort_report quicksort_pairs(Key* keys, Value* values, const device_count& n,
                                 Compare compare = {}, const environment& env = {}) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    return quicksort_pairs_async(keys, values, n, compare, detail::waiting(env)).get();
  }
}

/// Returns the device memory that a sort of a number of elements needs that only the device has, in
/// bytes. \throws cuda_error
template <class Key, class Value = no_value, class Compare = ascending>
[[nodiscard]] std::size_t quicksort_scratch_bytes(const device_count& n) {
  return detail::quicksort::counted_run<Key, Value, Compare>::scratch_bytes(n.upper_bound);
}

}  // namespace ramify::inline RAMIFY_BUILD
