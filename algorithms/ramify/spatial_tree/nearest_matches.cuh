// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernel of query() with nearest_to(): finds the k nearest of the points that a filter
/// accepts, as nearest.cuh does for all points, and calls the callback for them.

#include <cstddef>
#include <cstdint>
#include <ramify/spatial_tree/candidates.cuh>
#include <ramify/spatial_tree/matches.cuh>
#include <ramify/spatial_tree/nearest.cuh>
#include <ramify/spatial_tree/query_call.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The Accepts of a query with a filter: see accepts_others.
template <class Real, int dim, class Filter>
struct accepts_filtered {
  const spatial_tree_view<Real, dim>& tree;
  const Filter& filter;
  std::uint32_t query;

  [[nodiscard]] __device__ bool at(std::uint32_t position) const {
    return filter(query, tree.ids[position]);
  }
};

/// The filter and the callback of a search for neighbors, and its rows of candidates, unless these
/// are in registers.
template <class Real, class Filter, class Callback>
struct neighbor_calls {
  Filter filter;
  Callback callback;
  std::uint32_t* ids;
  Real* distances2;
};

/// The sizes of the lists of query(). There are fewer than for nearest(), because each callback
/// compiles the kernels, and only on a GPU a longer list takes more time.
#if RAMIFY_ON_CUDA
using sizes_of_plain_matches = list_sizes<1, 4, 8, 10, 16, 24, 32>;
#else
using sizes_of_plain_matches = list_sizes<1, 8, 32>;
#endif
using sizes_of_scaled_matches = list_sizes<8>;

/// The greatest k for which no metric needs rows of candidates in memory.
inline constexpr std::size_t max_k_without_rows = sizes_of_scaled_matches::largest;

/// The maximum number of registers of a thread of visit_nearest(). With 72 for a list of 24 floats,
/// seven blocks instead of six fit on a multiprocessor, and with 96 for one of 32 five instead of
/// four.
template <class Real, class Candidates>
inline constexpr int registers_of_search = sizeof(Real) != 4         ? 255
                                           : Candidates::max_k == 24 ? 72
                                           : Candidates::max_k == 32 ? 96
                                                                     : 255;

/// Calls the callback for the k nearest accepted points of each query. One thread for a query.
template <class Real, int dim, class Metric, class Candidates, class Filter, class Callback>
__global__ void __maxnreg__((registers_of_search<Real, Candidates>))
    visit_nearest(spatial_tree_view<Real, dim> tree, nearest_queries<Real, dim> batch,
                  query_metric<Real, Metric> of_call,
                  neighbor_calls<Real, Filter, Callback> of_matches, trace_ticket trace) {
  const traced here(trace, __func__);
  if (!of_call.applies()) return;
  if (!batch.has_block(blockIdx.x)) return;
  const auto own = batch.of_block(blockIdx.x);
  if (!own.exists) return;
  // 1. Find the neighbors.
  constexpr unsigned max_k = Candidates::max_k;
  const auto mine = batch.template query_of<(max_k > 0)>(tree, of_call.metric, own.index);
  const auto query = static_cast<std::uint32_t>(own.index);
  const accepts_filtered<Real, dim, Filter> accepts{tree, of_matches.filter, query};
  Real limit = infinite<Real>;
  if constexpr (max_k > 0) {
    limit = bound_of_window<max_k>(tree, mine.metric, mine.query, mine.position, accepts, batch.k);
  }
  neighbor_row<Real> row{nullptr, nullptr, batch.k};
  if constexpr (max_k == 0) {
    row.ids = of_matches.ids + mine.row;
    row.distances2 = of_matches.distances2 + mine.row;
  }
  Candidates candidates(row);
  find_nearest(tree, mine.metric, mine.query, accepts, limit, candidates);
  // 2. Pass them to the callback, in the caller's unit.
  Real unit = 1;
  if constexpr (!std::is_same_v<Metric, plain_metric>) unit = mine.metric.unit();
  // The index is read again, because registers are scarce during the search.
  match_calls<Real, Callback> calls(of_matches.callback,
                                    static_cast<std::uint32_t>(batch.of_block(blockIdx.x).index));
  calls.begin();
  candidates.take_each([&](const neighbor<Real>& next) {
    if (next.id == no_neighbor) return false;
    calls.found(next.id, next.distance2 * unit * unit);
    return !calls.ends();
  });
  calls.end();
}

/// The search of a query_run for neighbors.
template <class Real, int dim, class Filter, class Callback>
struct neighbor_search {
  unsigned k;
  Filter filter;
  Callback callback;

  void operator()(query_call<Real, dim>& call) const {
    call.with_metric([&]<class Metric>(const query_metric<Real, Metric>& metric) {
      const neighbor_calls<Real, Filter, Callback> of_matches{filter, callback, call.memory().ids,
                                                              call.memory().distances2};
      call.run_neighbors(kernel_in<Metric>(), k, metric, of_matches);
    });
  }

 private:
  template <class Metric, class Candidates>
  static constexpr auto kernel = visit_nearest<Real, dim, Metric, Candidates, Filter, Callback>;

  /// Returns the kernel for k candidates: in registers, or in rows.
  template <class Metric>
  [[nodiscard]] auto kernel_in() const {
    using sizes = std::conditional_t<std::is_same_v<Metric, plain_metric>, sizes_of_plain_matches,
                                     sizes_of_scaled_matches>;
    if (k > sizes::largest) return kernel<Metric, candidate_heap<Real>>;
    return sizes::with_least(
        k, []<class Size>(Size) { return kernel<Metric, candidate_list<Real, Size::value>>; });
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
