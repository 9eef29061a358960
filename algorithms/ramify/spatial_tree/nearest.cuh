// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernel that finds the k nearest neighbors, one thread per query.
///
/// Branch and bound, depth first (Roussopoulos, Kelley and Vincent, 1995): a thread visits the
/// nearest child first, and skips a node that is farther away than the worst candidate so far. For
/// up to 64 neighbors the distances to 32 to 96 points near the query give a bound before the first
/// node.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ramify/runtime/detail/launch_each.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/spatial_tree/candidates.cuh>
#include <ramify/spatial_tree/metric_choice.cuh>
#include <ramify/spatial_tree/node.cuh>
#include <type_traits>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The points that are compared with a query before the tree is visited: an aligned part of the
/// tree's order, and `more` points at each end of it. If the queries of a warp are points of the
/// tree, all its lanes have the same part. The points at the ends give a closer bound to a query
/// near the end of its part. If k is small, this saves less time than the points take. A window
/// with fewer than k points gives no bound.
template <unsigned capacity>
struct window {
  static constexpr std::uint32_t part = 32;
  /// At each end.
  static constexpr std::uint32_t more = capacity < 4    ? 0
                                        : capacity < 8  ? 8
                                        : capacity < 32 ? 16
                                                        : 32;
};

/// Descends from the root, from each node to its nearest child. Returns the position of the first
/// point of the leaf.
template <class Real, int dim, class Metric>
[[nodiscard]] __device__ std::uint32_t position_near(const spatial_tree_view<Real, dim>& tree,
                                                     const Metric& metric,
                                                     const point<Real, dim>& query) {
  std::uint32_t at = 0;
  while (!tree.nodes[at].is_leaf()) {
    const std::uint32_t first = tree.nodes[at].first_child;
    const unsigned children = tree.nodes[at].children;
    Real nearest = infinite<Real>;
    at = first;
    for (std::uint32_t child = first; child < first + children; ++child) {
      const auto node = tree.nodes[child];
      const Real d = metric.min_distance2(node.bounds, query);
      if (d < nearest) at = child;
      nearest = min(nearest, d);
    }
  }
  return tree.nodes[at].begin;
}

/// Returns an upper bound of the squared distance to the k-th nearest neighbor: that of the k-th
/// nearest point in the window around `position`, or infinity. Without a bound, most of the first
/// candidates would be replaced later.
template <unsigned capacity, class Real, int dim, class Metric, class Accepts>
[[nodiscard]] __device__ Real bound_of_window(const spatial_tree_view<Real, dim>& tree,
                                              const Metric& metric, const point<Real, dim>& query,
                                              std::uint32_t position, const Accepts& accepts,
                                              unsigned k) {
  constexpr std::uint32_t more = window<capacity>::more;
  distance_list<Real, capacity> nearest(k);
  const std::uint32_t part = position / window<capacity>::part * window<capacity>::part;
  const std::uint32_t begin = part - min(part, more);
  const std::uint32_t end = min(part + window<capacity>::part + more, tree.points_built());
  for (std::uint32_t i = begin; i < end; ++i) {
    if (accepts.at(i)) nearest.insert(metric.distance2(query, tree.points[i]));
  }
  return nearest.greatest();
}

/// The Accepts of searches for the nearest of all points, except the one at the position
/// `excluded`.
struct accepts_others {
  std::uint32_t excluded;

  [[nodiscard]] __device__ bool at(std::uint32_t position) const { return position != excluded; }
};

/// Offers `candidates` every accepted point that may be among the k nearest. `limit` is an upper
/// bound of the squared distance to the k-th nearest.
template <class Real, int dim, class Metric, class Accepts, class Candidates>
__device__ void find_nearest(const spatial_tree_view<Real, dim>& tree, const Metric& metric,
                             const point<Real, dim>& query, const Accepts& accepts, Real limit,
                             Candidates& candidates) {
  struct stacked_node {
    std::uint32_t node;
    Real distance2;
  };
  stacked_node stack[spatial_shape<dim>::stack_size];
  unsigned count = 0;
  if (tree.nodes_built() > 0) stack[count++] = {0, 0};
  while (count > 0) {
    // 1. Pop the nearest node of the deepest level. A point at the same distance as the worst
    //    candidate may have a smaller index, so such a node is not skipped. The exception is a node
    //    of equal points: they are in the order of their indices, so the first index decides. A
    //    million copies of a point then cost as much as a few.
    const stacked_node next = stack[--count];
    if (next.distance2 > limit) continue;
    const auto node = tree.nodes[next.node];
    if (next.distance2 == candidates.worst().distance2 && node.bounds.is_point() &&
        tree.ids[node.begin] > candidates.worst().id) {
      continue;
    }
    // 2. A leaf: offer its points.
    if (node.is_leaf()) {
      for (std::uint32_t i = node.begin; i < node.end; ++i) {
        neighbor<Real> candidate{metric.distance2(query, tree.points[i]), 0};
        if (candidate.distance2 > limit || !accepts.at(i)) continue;
        candidate.id = tree.ids[i];
        if (candidate < candidates.worst()) {
          candidates.replace_worst(candidate);
          limit = min(limit, candidates.worst().distance2);
        }
      }
      continue;
    }
    // 3. An inner node: push its children by insertion sort, the nearest on top. Of equally near
    //    children the first is on top.
    const unsigned base = count;
    for (unsigned c = 0; c < node.children; ++c) {
      const std::uint32_t child = node.first_child + c;
      const auto copy = tree.nodes[child];
      const Real d = metric.min_distance2(copy.bounds, query);
      if (d > limit) continue;
      unsigned at = count++;
      for (; at > base && stack[at - 1].distance2 <= d; --at) stack[at] = stack[at - 1];
      stack[at] = {child, d};
    }
  }
}

/// The queries of one call.
template <class Real, int dim>
struct query_batch {
  const point<Real, dim>* queries;
  const std::uint32_t* order;  ///< indices of the queries along the Morton curve; null: 0, 1, ...
  runtime::element_count n;

  /// The query of a thread.
  struct member {
    unsigned long long index;
    bool exists;  ///< if not, `index` is that of another query
  };
  // A block processes as many queries at a time as it has threads. It reads their number again each
  // time, because registers are scarce during the search.

  /// Returns whether there are queries for a block of this index.
  [[nodiscard]] __device__ bool has_block(unsigned block) const {
    return 1ull * block * blockDim.x < n.get();
  }
  /// Returns the query of this thread among those of such a block.
  [[nodiscard]] __device__ member of_block(unsigned block) const {
    const unsigned long long place = 1ull * block * blockDim.x + threadIdx.x;
    const unsigned long long count = n.get();
    const bool exists = place < count;
    const unsigned long long known = exists ? place : count - 1;
    return {order != nullptr ? order[known] : known, exists};
  }
};

/// The queries of a search for neighbors: those of the batch, or all points of the tree if
/// `queries` is null.
template <class Real, int dim>
struct nearest_queries : query_batch<Real, dim> {
  unsigned k;
  bool exclude_self;  ///< only for the tree's own points
  bool squared;       ///< whether distances that the kernel converts stay squared

  template <class Metric>
  struct query_of_thread {
    Metric metric;
    point<Real, dim> query;  ///< placed in the metric
    std::uint32_t position;  ///< of a point near the query, in the tree's order
    std::uint32_t excluded;  ///< position of a point that is not a neighbor
    unsigned long long row;  ///< index of the first element of the result
  };

  /// Returns the query of index i. The tree's own points are in the tree's order, and their rows in
  /// the caller's order. If `bounded`, finds a position near the query.
  template <bool bounded, class Metric>
  [[nodiscard]] __device__ query_of_thread<Metric> query_of(
      const spatial_tree_view<Real, dim>& tree, const Metric& of_call, unsigned long long i) const {
    if (this->queries == nullptr) {
      const auto self = static_cast<std::uint32_t>(i);
      const point<Real, dim> query = tree.points[i];
      const Metric metric = of_call.of_query(query, tree.bounds_built());
      return {metric, metric.place(query), self, exclude_self ? self : no_neighbor,
              std::uint64_t{tree.ids[i]} * k};
    }
    const Metric metric = of_call.of_query(this->queries[i], tree.bounds_built());
    const point<Real, dim> query = metric.place(this->queries[i]);
    const std::uint32_t near =
        bounded && tree.nodes_built() > 0 ? position_near(tree, metric, query) : 0;
    return {metric, query, near, no_neighbor, i * k};
  }
};

/// Writes rows of k ids and k squared distances. Each thread processes one query after another, and
/// only one with the scaled metric, which needs many registers.
template <class Real, int dim, class Metric, class Candidates>
__global__ void nearest_neighbors(spatial_tree_view<Real, dim> tree,
                                  nearest_queries<Real, dim> batch,
                                  query_metric<Real, Metric> of_call, std::uint32_t* ids,
                                  Real* distances2, trace_ticket trace) {
  const traced here(trace, __func__);
  if (!of_call.applies()) return;
  constexpr unsigned max_k = Candidates::max_k;
  for (unsigned block = blockIdx.x; batch.has_block(block); block += gridDim.x) {
    const auto own = batch.of_block(block);
    if (!own.exists) return;
    const auto mine = batch.template query_of<(max_k > 0)>(tree, of_call.metric, own.index);
    const accepts_others accepts{mine.excluded};
    Real limit = infinite<Real>;
    if constexpr (max_k > 0) {
      limit =
          bound_of_window<max_k>(tree, mine.metric, mine.query, mine.position, accepts, batch.k);
    }
    Candidates candidates({ids + mine.row, distances2 + mine.row, batch.k});
    find_nearest(tree, mine.metric, mine.query, accepts, limit, candidates);
    candidates.finish();
    if constexpr (!std::is_same_v<Metric, plain_metric>) {
      mine.metric.convert(distances2 + mine.row, batch.k, batch.squared);
      return;
    }
  }
}

/// Takes the roots of the squared distances that nearest_neighbors() has written in the plain
/// metric, in n rows of k.
template <class Real>
__global__ void take_roots(Real* distances2, runtime::element_count n, unsigned k,
                           query_metric<Real, plain_metric> of_call, trace_ticket trace) {
  const traced here(trace, __func__);
  if (!of_call.applies()) return;
  runtime::for_each_item(n.get() * k,
                         [&](unsigned long long i) { distances2[i] = std::sqrt(distances2[i]); });
}

/// The kernel of nearest-neighbor queries.
template <class Real, int dim, class Metric>
using nearest_kernel = void (*)(spatial_tree_view<Real, dim>, nearest_queries<Real, dim>,
                                query_metric<Real, Metric>, std::uint32_t*, Real*, trace_ticket);

/// The sizes of the lists of nearest(). The scaled metric has few, because few calls need it.
template <class Metric>
using sizes_of_nearest = std::conditional_t<std::is_same_v<Metric, plain_metric>,
                                            list_sizes<1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64>,
                                            list_sizes<1, 8, 16, 32, 64>>;

/// Returns the kernel for k candidates: in registers, or in the output rows.
template <class Real, int dim, class Metric>
nearest_kernel<Real, dim, Metric> kernel_of_nearest(std::size_t k) {
  using sizes = sizes_of_nearest<Metric>;
  if (k > sizes::largest) return nearest_neighbors<Real, dim, Metric, candidate_heap<Real>>;
  return sizes::with_least(k, []<class Size>(Size) -> nearest_kernel<Real, dim, Metric> {
    return nearest_neighbors<Real, dim, Metric, candidate_list<Real, Size::value>>;
  });
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
