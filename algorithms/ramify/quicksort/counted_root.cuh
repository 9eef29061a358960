// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The program of a sort of a number of elements that only the device has: a sample sort whose
/// first grid reads the size of its root.
///
/// The host launches the grids for the upper bound. The first grid reads the number n, and divides
/// the scratch memory for n elements. The later grids read the sizes and the arrays there;
/// their blocks without work end at once.
///
///     begin                     divides the memory; sorts the chunks of a small root
///     merge, once or more       merges them
///     sample, count, scatter    partition a root that is not small
///     ...                       the rounds of any sample sort
///
/// In shared memory and in the scratch memory there is space for a root of any size up to the upper
/// bound.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ramify/quicksort/sample_sort_sizes.cuh>
#include <ramify/runtime/detail/element_count.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

template <class Context>
__global__ void begin_counted_sort(Context context);

/// The program, and the parameter of all its kernels. On the host, and in the first grid, its root
/// and its sizes are those of the upper bound.
template <class Key, class Value, class Compare>
struct counted_context : sample_sort_context<Key, Value, Compare> {
  using typename sample_sort_context<Key, Value, Compare>::code;
  using typename sample_sort_context<Key, Value, Compare>::order;
  using typename sample_sort_context<Key, Value, Compare>::tuning;
  using typename sample_sort_context<Key, Value, Compare>::long_chunk_sorter;
  using memory = sample_sort_memory<code>;
  static constexpr bool is_counted = true;

  element_count count;
  counted_elements* counted;  ///< what the first grid has read, for the host
  memory* divided;            ///< the root, its sizes and its arrays
  void* arrays;               ///< the memory of the arrays

  /// Returns the root of n elements, its sizes, and its arrays in `layout`. `of_bound` are the
  /// sizes of the upper bound. If the base of `layout` is null, only measures the arrays.
  [[nodiscard]] __host__ __device__ static memory divide(memory_layout& layout,
                                                         sample_sort_state* state, position n,
                                                         const sample_sort_sizes& of_bound) {
    memory made{};
    made.root = {0, n};
    made.state = state;
    if (n <= tuning::small_root_size) {
      made.sizes = of_bound;
      made.sizes.small = plan_small_root<tuning>(n, false);
      made.claims = layout.take<unsigned>(
          order::known_strict_weak ? 0 : made.sizes.small.passes * place_claims::words(n));
      if (state != nullptr) link_lists(made);
      return made;
    }
    made.sizes = sizes_of_run<counted_context>(n, of_bound);
    made.sizes.small = {};
    made.depth_limit = depth_limit_of<tuning>(n, 0);
    take_arrays<tuning>(made, layout);
    return made;
  }

  /// Reads the number of elements, divides the memory, and clears the state. One thread calls it.
  __device__ void begin() const {
    const std::size_t raw = count.raw();
    const position n = count.get();
    *counted = {raw, n};
    memory_layout layout(arrays);
    *divided = divide(layout, this->state, n, this->sizes);
    memset(static_cast<void*>(this->state), 0, sizeof *this->state);
  }
  __device__ void read_root() { static_cast<memory&>(*this) = *divided; }

  /// Launches the grids that sort a small root. The upper bound may be greater.
  template <class Grids>
  void launch_begin(Grids& grids) const {
    constexpr unsigned tile = tuning::merge_tile;
    const position most = least(this->root.size(), tuning::small_root_size);
    const auto blocks_of = [&](unsigned size) {
      return static_cast<unsigned>((most + size - 1) / size);
    };
    grids(
        begin_counted_sort<counted_context>,
        {std::max(blocks_of(long_chunk_sorter::capacity), 1u), long_chunk_sorter::threads_of_team},
        *this);
    const unsigned passes = plan_small_root<tuning>(most, false).passes;
    for (unsigned pass = 0; pass < passes; ++pass) {
      grids(sample_sort_merge<counted_context>,
            this->sizes.shape(blocks_of(tile), tile * most_searchers<tuning>(most), 0), *this,
            pass);
    }
  }

  /// Launches a round. Only the host launches the first one.
  template <class Grids>
  __host__ __device__ void launch_round(const sample_sort_state& now, Grids& grids) const {
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
    if (now.level == 0) {
      launch_begin(grids);
      if (!this->root_is_small()) launch_root(*this, grids);
      return;
    }
#endif
    launch_due_grids(*this, now, grids);
  }
  template <class Grids>
  unsigned launch_ahead(Grids& grids) const {
    launch_begin(grids);
    return this->root_is_small() ? 0 : launch_levels_ahead(*this, grids);
  }
  template <class Grids>
  __host__ __device__ void launch_rest(Grids& grids) const {
    launch_rest_of(*this, grids);
  }
  /// Returns false: the host reads the number of elements.
  [[nodiscard]] bool has_no_state() const { return false; }
};

/// Begins a sort of a counted root, and sorts the chunks of a small one; each block sorts one.
template <class Context>
__global__ void __launch_bounds__(Context::long_chunk_sorter::threads_of_team)
    begin_counted_sort(Context context) {
  const traced here(context.trace, __func__);
  using sorter = typename Context::long_chunk_sorter;
  __shared__ typename sorter::storage shared;
  // There is nothing to wait for, but the call also allows the next grid to be scheduled.
  grid_dependency_synchronize();
  // 1. One thread writes what later grids read.
  if (blockIdx.x == 0 && threadIdx.x == 0) context.begin();
  // 2. All blocks sort the chunks of a small root.
  const position n = context.count.get();
  if (n > Context::tuning::small_root_size) return;
  memory_layout layout(context.arrays);
  static_cast<typename Context::memory&>(context) =
      Context::divide(layout, context.state, n, context.sizes);
  sort_chunk<sorter>(context, shared);
}

/// The scratch memory of a sort of up to n elements. It begins with what the host reads.
template <class Context>
struct counted_sort_memory {
  using tuning = typename Context::tuning;
  using memory = typename Context::memory;
  using elements_type = key_value_arrays<typename Context::key, typename Context::value>;

  /// \throws cuda_error
  counted_sort_memory(memory_layout& layout, position n)
      : counted(layout.take<counted_elements>(1)),
        state(layout.take<sample_sort_state>(1)),
        divided(layout.take<memory>(1)) {
    const sample_sort_sizes sizes = sizes_up_to(n);
    const auto bytes_for = [&](position size) {
      memory_layout measured(nullptr);
      static_cast<void>(Context::divide(measured, nullptr, size, sizes));
      return measured.size();
    };
    const std::size_t for_small = bytes_for(least(n, tuning::small_root_size));
    arrays = layout.take<std::byte>(
        is_small(n) ? for_small : std::max(for_small, scratch_for_any_root<tuning>(n, bytes_for)));
    elements.keys = layout.take<typename Context::key>(n);
    if (elements_type::has_values) elements.values = layout.take<typename Context::value>(n);
    memory_layout of_bound(arrays);
    sort = Context::divide(of_bound, state, n, sizes);
    sort.sizes.root_sample = sizes.root_sample;
    sort.sizes.root_sample_bytes = sizes.root_sample_bytes;
    sort.sizes.levels_ahead = sizes.levels_ahead;
  }

  /// Returns whether any root is small.
  [[nodiscard]] static bool is_small(position n) { return n <= tuning::small_root_size; }

  counted_elements* counted;
  sample_sort_state* state;
  memory* divided;
  std::byte* arrays;
  elements_type elements{};
  memory sort{};  ///< of a root with n elements

 private:
  /// Returns sizes that hold for all roots of up to n elements: those of the device, with the
  /// greatest sample of a root.
  [[nodiscard]] static sample_sort_sizes sizes_up_to(position n) {
    sample_sort_sizes sizes = device_sizes<Context>();
    if (is_small(n)) return sizes;
    const sample_sort_sizes of_device = sizes;
    sizes.root_sample = static_cast<unsigned>(most_of_any_root<tuning>(
        n, [&](position size) { return sizes_of_run<Context>(size, of_device).root_sample; }));
    sizes.root_sample_bytes = static_cast<unsigned>(
        root_part_memory<Context>::bytes(part_capacity<tuning>(sizes.root_sample)));
    sizes.levels_ahead = levels_ahead_of<Context>(n);
    return sizes;
  }
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
