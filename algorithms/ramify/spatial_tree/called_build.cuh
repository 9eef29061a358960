// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The scratch memory of a build that a kernel has called (calls.cuh).

#include <cstddef>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/spatial_tree/build.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// What the steps of a call share, in its scratch memory: as locals the programs would need most of
/// the stack that a thread has by default.
template <class Real, int dim>
struct called_build {
  using code_sort =
      typename quicksort::sort_call<morton_code, no_value, morton_code::less>::context;
  using context = build_context<Real, dim, code_elements>;

  code_sort sort;
  runtime::list_program<siblings, context> nodes;
  build_progress progress;
  point_bounds<Real, dim>* found;
  unsigned arrived;  ///< blocks of find_bounds()

  /// Returns whether one grid sorts the codes of n points.
  [[nodiscard]] __device__ bool sorts_at_once(std::size_t n) const {
    return n <= sort.sizes.long_leaf;
  }
};

/// The scratch memory of a call over n > 0 points. The nodes use memory of the sort after it.
template <class Real, int dim>
struct called_build_memory {
  using build = called_build<Real, dim>;
  using sort_memory = quicksort::sort_call_memory<typename build::code_sort>;

  __host__ __device__ called_build_memory(memory_layout& layout, std::size_t n,
                                          std::size_t max_nodes, unsigned block_points,
                                          const quicksort::sample_sort_sizes& of_device)
      : shared(take_shared(layout)),
        found(layout.take<point_bounds<Real, dim>>(bounds_blocks(n))),
        codes{layout.take<morton_code>(n)},
        for_sort(layout),
        heads(layout.take<runtime::list_heads>(1)) {
    for (unsigned i = 0; i < 2; ++i) {
      lists[i] = runtime::take_list<siblings>(layout, n / block_points + 1);
      if (heads == nullptr) continue;  // the memory is only measured
      lists[i].count_and_blocks = &heads->list[i].count_and_blocks;
      lists[i].ended = &heads->list[i].ended;
    }
    arrived = layout.take<unsigned>(max_nodes < 2 * n ? max_nodes : 2 * n);
    memory_layout after_sort = for_sort;
    static_cast<void>(sort_memory(after_sort, n, of_device));
    if (after_sort.size() > layout.size()) layout = after_sort;
  }

  /// Returns what the steps share, which is at the beginning.
  [[nodiscard]] __host__ __device__ static build* take_shared(memory_layout& layout) {
    layout.take<runtime::chain_call_state>(1);
    return layout.take<build>(1);
  }

  build* shared;
  point_bounds<Real, dim>* found;
  code_elements codes;
  memory_layout for_sort;  ///< where the memory of the sort begins
  runtime::list_heads* heads;
  task_list<siblings> lists[2];
  unsigned* arrived;
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
