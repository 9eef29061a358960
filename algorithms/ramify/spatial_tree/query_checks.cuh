// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The grids of a call before its search: the bounds of the queries, their codes, and the decision
/// about the metric. The memory that these and the search share.
///
///     find_bounds      bounds.cuh: the box around the queries, and the first that is not finite
///     encode_queries   the Morton codes, from the bounds in device memory
///     decide_metric    the metric of the search, if the host does not wait for the bounds

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/bounds.cuh>
#include <ramify/spatial_tree/code_sort.cuh>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/metric_choice.cuh>
#include <ramify/spatial_tree/morton.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// What the kernels of a call report. The host clears it before the first grid.
struct query_counts {
  unsigned long long code_ranges;     ///< the sum of the warps' ranges of codes
  unsigned long long truncated;       ///< rows that are not complete
  runtime::counted_elements queries;  ///< if only the device has their number
  metric_decision decision;
  unsigned arrived;  ///< in find_bounds()
};

/// What the host reads when a call, or its first grids, are complete.
template <class Real, int dim>
struct query_state {
  query_counts counts;
  point_bounds<Real, dim> found;  ///< the first of the elements that find_bounds() uses

  /// Returns the size of the state of n > 0 queries with all elements, in bytes.
  [[nodiscard]] static std::size_t bytes(std::size_t n) {
    return sizeof(query_state) + (bounds_blocks(n) - 1) * sizeof(point_bounds<Real, dim>);
  }
};

/// The sizes that determine the scratch memory of a call.
struct query_sizes {
  std::size_t n;             ///< queries
  bool is_ordered;           ///< whether the queries may be sorted along the Morton curve
  bool has_sort;             ///< whether the scratch memory of that sort is in the memory
  bool has_list_lengths;     ///< whether the call counts points before it lists them
  bool has_anchors = false;  ///< whether the queries are regions
  std::size_t row = 0;       ///< neighbors of each query that the memory holds

  /// Returns whether queries with these options may be sorted. Threads of the CPU executor do not
  /// need the order.
  [[nodiscard]] static bool may_sort(const spatial_query_options& options) {
    return options.sort && (RAMIFY_ON_CUDA || options.ball_method == query_method::packets);
  }
  /// Returns the sizes of a call whose memory is allocated before it begins.
  [[nodiscard]] static query_sizes of_call(std::size_t n, const spatial_query_options& options) {
    return {n, may_sort(options), true, false};
  }
  /// Returns the size of the query_memory, in bytes.
  template <class Real, int dim>
  [[nodiscard]] std::size_t bytes() const;
};

/// The scratch memory of a call.
template <class Real, int dim>
struct query_memory {
  query_state<Real, dim>* state;  ///< null without queries
  std::uint32_t* codes;
  std::uint32_t* order;
  memory_ref sort;              ///< empty: the sort allocates its memory
  std::uint32_t* list_lengths;  ///< of each list, and one more
  point<Real, dim>* anchors;    ///< a point near each region
  Real* distances2;             ///< a row for each query
  std::uint32_t* ids;           ///< likewise

  query_memory(memory_layout& memory, const query_sizes& s)
      : state(reinterpret_cast<query_state<Real, dim>*>(
            memory.take<std::byte>(s.n > 0 ? query_state<Real, dim>::bytes(s.n) : 0))),
        codes(memory.take<std::uint32_t>(s.is_ordered ? s.n : 0)),
        order(memory.take<std::uint32_t>(s.is_ordered ? s.n : 0)),
        list_lengths(memory.take<std::uint32_t>(s.has_list_lengths ? s.n + 1 : 0)),
        anchors(memory.take<point<Real, dim>>(s.has_anchors ? s.n : 0)),
        distances2(memory.take<Real>(s.n * s.row)),
        ids(memory.take<std::uint32_t>(s.n * s.row)) {
    if (s.is_ordered && s.has_sort && s.n > 0) {
      sort = memory.take_scratch(sort_queries_bytes(s.n));
    }
  }
};

template <class Real, int dim>
std::size_t query_sizes::bytes() const {
  return layout_bytes<query_memory<Real, dim>>(*this);
}

/// The code of no query.
inline constexpr std::uint32_t code_after_queries = 0xffffffffu;

/// The highest 32 bits of a query's Morton code, at most the last one before code_after_queries.
template <class Real, int dim>
[[nodiscard]] __device__ std::uint32_t code_of_query(const morton_encoder<dim>& encoder,
                                                     const point<Real, dim>& query) {
  const auto code =
      static_cast<std::uint32_t>(encoder.encode(query) >> (spatial_shape<dim>::bits * dim - 32));
  return min(code, code_after_queries - 1);
}

/// Threads of a block of encode_queries().
inline constexpr unsigned encoding_threads = 256;

/// Writes the code and the index of each query, and adds up the ranges of the codes in each warp.
/// Up to the upper bound of their number, codes follow that a sort leaves at the end. If some query
/// is not finite, it writes nothing.
template <class Real, int dim>
__global__ void encode_queries(const point<Real, dim>* queries, runtime::element_count count,
                               query_state<Real, dim>* state, std::uint32_t* codes,
                               std::uint32_t* order, trace_ticket trace) {
  const traced here(trace, __func__);
  const point_bounds<Real, dim> found = state->found;
  if (found.first_nonfinite != found.none) return;
  __shared__ unsigned long long of_block;
  if (threadIdx.x == 0) of_block = 0;
  __syncthreads();
  const morton_encoder<dim> encoder(found.bounds);
  const unsigned long long n = count.get();
  runtime::for_each_block_of_items(count.upper_bound, [&](unsigned long long i) {
    // 1. Encode. Threads beyond the last query have the code of the last one.
    const std::uint32_t code = n > 0 ? code_of_query(encoder, queries[i < n ? i : n - 1]) : 0;
    if (i < count.upper_bound) {
      codes[i] = i < n ? code : code_after_queries;
      order[i] = static_cast<std::uint32_t>(i);
    }
    // 2. The warp finds the range of its codes.
    std::uint32_t least = code;
    std::uint32_t greatest = code;
    for (int distance = 16; distance > 0; distance /= 2) {
      least = min(least, __shfl_xor_sync(full_warp_mask, least, distance));
      greatest = max(greatest, __shfl_xor_sync(full_warp_mask, greatest, distance));
    }
    // 3. Lane 0 adds it to the sum of the block.
    if (threadIdx.x % 32 == 0) atomicAdd(&of_block, 0ULL + greatest - least);
  });
  // 4. Thread 0 adds that to the sum of all.
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&state->counts.code_ranges, of_block);
}

/// Writes the metric of the search. Launched with one thread.
template <class Real, int dim>
__global__ void decide_metric(metric_choice<Real, dim> of_call, spatial_tree_view<Real, dim> tree,
                              query_state<Real, dim>* state, trace_ticket trace) {
  const traced here(trace, __func__);
  const point_bounds<Real, dim> found = state->found;
  state->counts.decision = found.first_nonfinite != found.none
                               ? metric_decision{metric_kind::none, 0}
                               : of_call.among(tree, [&](const auto& choice) {
                                   return choice.of_queries(found.bounds, found.least_nonzero);
                                 });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
