// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The scratch memory of sorts that kernels call, and of batches of such sorts (sort_batch.cuh).

#include <ramify/quicksort/sample_sort_sizes.cuh>
#include <ramify/runtime/detail/chain_call.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// The scratch memory of a sample_sort of n elements that is a part of a call. `depth_limit` is
/// that of quicksort_options.
template <class Context>
struct sort_call_memory {
  using arrays = key_value_arrays<typename Context::key, typename Context::value>;

  /// \param has_root  whether the elements are one root, or the segments of level 1
  __host__ __device__ sort_call_memory(memory_layout& layout, position n,
                                       const sample_sort_sizes& of_device, unsigned depth_limit = 0,
                                       bool has_root = true) {
    using tuning = typename Context::tuning;
    sort.root = {0, n};
    sort.depth_limit =
        has_root ? depth_limit_of<tuning>(n, depth_limit) : limit_of_segments(n, depth_limit);
    sort.sizes =
        has_root ? sizes_of_run<Context>(n, of_device) : sizes_of_segments<Context>(n, of_device);
    sort.state = layout.take<sample_sort_state>(1);
    take_arrays<tuning>(sort, layout);
    elements.keys = layout.take<typename Context::key>(n);
    if (arrays::has_values) elements.values = layout.take<typename Context::value>(n);
  }

  /// Returns the program of the sort of the elements of `data`.
  [[nodiscard]] __device__ Context program(const arrays& data, const typename Context::order& order,
                                           const call_ticket& ticket) const {
    Context made{{}, sort, {data, elements}, order, true};
    link_to_call(made, ticket);
    return made;
  }

  sample_sort_memory<typename Context::code> sort{};
  arrays elements{};

 private:
  /// Returns the depth limit of segments, which begin at depth 1.
  [[nodiscard]] __host__ __device__ static unsigned limit_of_segments(position n, unsigned option) {
    if (option != 0) return option < max_levels - 1 ? option + 1 : option;
    return depth_limit_of_segments<typename Context::tuning>(n);
  }
};

/// A call of a batch.
struct batch_row {
  unsigned record;  ///< of the call
  position begin;   ///< of its elements in the arrays of the batch
};

/// The calls that place_rows() has taken.
struct batch_extent {
  unsigned rows;
  position n;  ///< elements in all
};

/// Takes the rows of a batch: the first part of its memory after the extent.
[[nodiscard]] __host__ __device__ inline batch_row* take_rows(memory_layout& layout,
                                                              position count) {
  return layout.take<batch_row>(count);
}

/// The scratch memory of a batch of n elements. Each call has more elements than a long leaf.
template <class Context>
struct sort_batch_memory {
  using arrays = key_value_arrays<typename Context::key, typename Context::value>;

  __host__ __device__ sort_batch_memory(memory_layout& layout, position n,
                                        const sample_sort_sizes& of_device, unsigned depth_limit)
      : rows(take_rows(layout, n / of_device.long_leaf + 1)),
        sort(layout, n, of_device, depth_limit, false) {
    gathered.keys = layout.take<typename Context::key>(n);
    if (arrays::has_values) gathered.values = layout.take<typename Context::value>(n);
  }

  batch_row* rows;
  sort_call_memory<Context> sort;
  arrays gathered{};
};

/// The first parts of the scratch memory of a batch.
struct sort_batch {
  __device__ explicit sort_batch(const call_ticket& ticket)
      : calls(ticket.calls), layout(ticket.scratch()) {
    layout.take<chain_call_state>(1);
    extent = layout.take<batch_extent>(1);
  }
  /// Returns the rest.
  template <class Context, class Plan>
  [[nodiscard]] __device__ sort_batch_memory<Context> memory(const Plan& plan) const {
    memory_layout rest = layout;
    return {rest, extent->n, plan.sizes(), plan.depth_limit()};
  }
  [[nodiscard]] __device__ batch_row* rows() const {
    memory_layout rest = layout;
    return take_rows(rest, 1);  // the others follow
  }
  template <class Call>
  [[nodiscard]] __device__ const Call& call(unsigned i) const {
    return calls->records[rows()[i].record].template as<Call>();
  }

  call_state* calls;
  memory_layout layout;
  batch_extent* extent;
};

/// Returns the number of elements for which `bytes` bytes of scratch memory suffice, if a batch has
/// these or fewer.
template <class Context, class Plan>
[[nodiscard]] __device__ position batch_capacity(std::size_t bytes, const Plan& plan) {
  using arrays = typename sort_batch_memory<Context>::arrays;
  constexpr std::size_t of_values = arrays::has_values ? sizeof(typename Context::value) : 0;
  position n = bytes / (2 * (sizeof(typename Context::key) + of_values));
  for (; n != 0; n -= n / 16 + 1) {
    memory_layout layout(nullptr);
    layout.take<chain_call_state>(1);
    layout.take<batch_extent>(1);
    static_cast<void>(sort_batch_memory<Context>(layout, n, plan.sizes(), plan.depth_limit()));
    if (layout.size() + scratch_of_fewer(n) <= bytes) break;
  }
  return n;
}

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
