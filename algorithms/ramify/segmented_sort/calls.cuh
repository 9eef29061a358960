// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Segmented sorts that kernels call: segmented_sort_calls, which is their plan in a call_arena,
/// and the functions that a thread calls.
///
///     using sorts = ramify::segmented_sort_calls<float>;
///     ramify::call_arena arena(sorts(max_n));
///     ...
///     status = ramify::segmented_sort(keys, n, offsets, offsets + 1, segments,  // in a kernel
///                                     ramify::ascending{}, calls);
///
/// Segments     as on the host: begins and ends, or the number of segments as a device_count
/// Rounds       as in a run that the host starts: first the grids of round 0, then the levels of a
///              sample sort (chain_call.cuh). With few launch slots, drains launch the grids of
///              round 0 one by one, and then one grid that sorts the longer segments.
/// Faults       If the host's function would throw because of the segments, no key changes. The
///              call ends as others do, and call_report::faulty counts it.

#include <ramify/quicksort/argument_types.cuh>
#include <ramify/quicksort/order.cuh>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/runtime/kernel_calls.cuh>
#include <ramify/segmented_sort/memory.cuh>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

template <class Key, class Value = no_value, class Compare = ascending>
class segmented_sort_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD {

/// Launches the grids from number `first` up to number `end` of those that a function launches.
struct some_grids {
  runtime::round_launcher& grids;
  unsigned first;
  unsigned end;
  unsigned number = 0;

  template <class... Parameters, class... Arguments>
  __device__ void operator()(void (*kernel)(Parameters...), const launch_shape& shape,
                             const Arguments&... arguments) {
    if (number >= first && number < end) grids(kernel, shape, arguments...);
    ++number;
  }
};

/// A segmented sort that a kernel has called. chain_call.cuh describes its members. The step of the
/// call is the number of grids of round 0 that are launched.
template <class Key, class Value, class Compare>
struct segmented_call : runtime::chain_call<segmented_call<Key, Value, Compare>> {
  using plan = segmented_sort_calls<Key, Value, Compare>;
  using order = quicksort::sort_order<Key, Compare>;
  using program = segmented_program<Key, Value, order, offset_arrays>;
  using tuning = typename program::base::tuning;
  using ticket_type = runtime::call_ticket;
  static_assert(sizeof(typename order::code) == sizeof(Key), "tuning depends on the size of keys");

  quicksort::key_value_arrays<Key, Value> data;
  position n;
  offset_arrays segments;
  Compare compare;

  [[nodiscard]] __device__ bool fits(const plan& p) const {
    const element_count& count = segments.count;
    return n <= p.max_n() && count.upper_bound >> 40 == 0 &&
           (count.upper_bound != 0 || !count.on_device());
  }
  [[nodiscard]] __device__ __forceinline__ runtime::call_needs needs(const plan&) const {
    using runtime::call_needs;
    using runtime::drivers_of_call;
    if (segments.count.upper_bound == 0) return {0, 0, false, call_needs::no_batch};
    // The last round has only copies and leaves. One level more than expected may be necessary.
    constexpr unsigned of_level = quicksort::sample_sort_level_grids;
    const unsigned of_levels = (quicksort::levels_of_segment<tuning>(n) + 2) * of_level;
    return {drivers_of_call + first_round_grids + of_levels, drivers_of_call + of_level, true,
            call_needs::no_batch};
  }

  __device__ void write_state(const plan&, const ticket_type& ticket) const { clear_state(ticket); }
  [[nodiscard]] __device__ bool is_complete(const plan& p, const ticket_type& ticket) const {
    if (state_of(ticket).step != first_round_grids) return false;
    const program sort = linked(p, ticket);
    return sort.finished(*sort.state);
  }
  /// Returns whether the segments of a complete call are refused.
  [[nodiscard]] __device__ bool is_faulty(const plan& p, const ticket_type& ticket) const {
    const program sort = linked(p, ticket);
    return sort.refuses() || sort.findings->counted > segments.count.upper_bound;
  }

  __device__ void launch_due(const plan& p, const ticket_type& ticket, const char* kernel) const {
    const program sort = linked(p, ticket);
    unsigned& step = state_of(ticket).step;
    if (step == first_round_grids) return launch_round_of_call(sort.sample_sort(), kernel);
    // The last grid launches the next round, so the slots of all grids of this one are taken.
    const unsigned count = sort.slots.in_use == nullptr ? 1 : first_round_grids - step;
    if (sort.slots.in_use != nullptr) *sort.slots.in_use = count;
    runtime::round_launcher grids(*sort.progress, 0, false);
    some_grids due{grids, step, step + count};
    sort.launch_first_round(due);
    step += grids.launched();
    record_launches(sort, grids, 1, kernel);
  }

 private:
  [[nodiscard]] __device__ program linked(const plan& p, const ticket_type& ticket) const {
    memory_layout layout(ticket.scratch());
    layout.take<runtime::chain_call_state>(1);
    const segmented_sort_memory<program> memory(layout, n, p.sizes());
    program made = memory.program(data, order{compare}, segments, p.first_round(), true);
    link_to_call(made, ticket);
    return made;
  }
};

}  // namespace ramify::detail::segmented_sort::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of segmented_sort() and segmented_sort_pairs() by kernels,
/// with keys, values and comparators of these types. All types of offsets share it.
template <class Key, class Value, class Compare>
class segmented_sort_calls {
 public:
  /// The call, for the runtime.
  using call = detail::segmented_sort::segmented_call<Key, Value, Compare>;
  /// The name of the call in messages.
  static constexpr const char* name =
      std::is_same_v<Value, no_value> ? "segmented_sort" : "segmented_sort_pairs";
  static constexpr unsigned batches = 0;  ///< batches of calls, for the runtime

  /// Plans calls of up to `max_n` elements in any number of segments. Calls of more are refused.
  /// \throws std::invalid_argument if max_n is 2^40 or more
  explicit segmented_sort_calls(std::size_t max_n) : max_n_(max_n) {
    detail::check_field(max_n >> 40 == 0, "segmented_sort_calls: max_n", max_n, "less than 2^40");
  }

  /// Queries the current device for the sizes of kernels. The constructor of a call_arena calls it.
  /// \throws cuda_error
  void prepare() {
    sizes_ = detail::quicksort::device_sizes<typename program::base>();
    first_round_ = detail::segmented_sort::sizes_of_first_round<program>();
  }

  /// Returns the scratch memory of any call, in bytes, after prepare().
  [[nodiscard]] std::size_t scratch_bytes() const {
    memory_layout layout(nullptr);
    layout.take<detail::runtime::chain_call_state>(1);
    static_cast<void>(
        detail::segmented_sort::segmented_sort_memory<program>(layout, max_n_, sizes_));
    return layout.size() + detail::quicksort::scratch_of_fewer(max_n_);
  }

  /// Returns the maximum number of keys of a call.
  [[nodiscard]] __host__ __device__ std::size_t max_n() const { return max_n_; }
  /// Returns the sizes of kernels on the device, after prepare().
  [[nodiscard]] __host__ __device__ const detail::quicksort::sample_sort_sizes& sizes() const {
    return sizes_;
  }
  /// Returns the sizes of the first grids on the device, after prepare().
  [[nodiscard]] __host__ __device__ const detail::segmented_sort::first_round_sizes& first_round()
      const {
    return first_round_;
  }

 private:
  using program = typename call::program;

  std::size_t max_n_;
  detail::quicksort::sample_sort_sizes sizes_{};
  detail::segmented_sort::first_round_sizes first_round_{};
};

/// Sorts segments of n keys in place: segmented_sort() for a thread of a kernel. It returns without
/// waiting; when the call is complete, the continuation of `calls` runs.
///
/// \param keys          an array of n elements in device memory
/// \param begins, ends  arrays of `segments` offsets in device memory, or of the upper bound of a
///                      device_count. They must exist until the call is complete.
/// \param segments      the number of segments: an integer or a device_count
/// \param compare       returns whether its first argument must come before its second
/// \param calls         a kernel_environment. The plan segmented_sort_calls<Key, no_value, Compare>
///                      is among those of its arena.
template <class Key, detail::segmented_sort::offset_type Offset, class Compare, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
segmented_sort(Key* keys, std::size_t n, const Offset* begins, const Offset* ends,
               const detail::element_count& segments, Compare compare, const Calls& calls) {
  if constexpr (detail::quicksort::checked_types<Key, no_value, Compare>::are_valid) {
    using call = detail::segmented_sort::segmented_call<Key, no_value, Compare>;
    return detail::start_call(call{{}, {keys}, n, {begins, ends, segments}, compare}, calls);
  }
}

/// Sorts segments of n keys in place, and moves each value with its key: segmented_sort_pairs() for
/// a thread of a kernel. What segmented_sort() states holds here, too.
///
/// \param calls  a kernel_environment. The plan segmented_sort_calls<Key, Value, Compare> is among
///               those of its arena.
template <class Key, class Value, detail::segmented_sort::offset_type Offset, class Compare,
          class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
segmented_sort_pairs(Key* keys, Value* values, std::size_t n, const Offset* begins,
                     const Offset* ends, const detail::element_count& segments, Compare compare,
                     const Calls& calls) {
  if constexpr (detail::quicksort::checked_types<Key, Value, Compare>::are_valid) {
    using call = detail::segmented_sort::segmented_call<Key, Value, Compare>;
    return detail::start_call(call{{}, {keys, values}, n, {begins, ends, segments}, compare},
                              calls);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
