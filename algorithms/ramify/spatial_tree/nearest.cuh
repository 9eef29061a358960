// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernel that finds the k nearest neighbors, one thread per query.
///
/// Branch and bound, depth first (Roussopoulos, Kelley and Vincent, 1995): a thread visits the
/// nearest child first, and skips a node that is farther away than the worst candidate so far.

#include <cstdint>
#include <limits>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// A candidate for a query's neighbors. Candidates are ordered by distance, then by index, so the k
/// nearest do not depend on the order of the traversal.
template <class Real>
struct neighbor {
  Real distance2 = std::numeric_limits<Real>::infinity();
  std::uint32_t id = no_neighbor;

  __device__ bool operator<(const neighbor& other) const {
    return distance2 < other.distance2 || (distance2 == other.distance2 && id < other.id);
  }
};

/// The output of one query: arrays of k elements.
template <class Real>
struct neighbor_row {
  std::uint32_t* ids;
  Real* distances2;
  unsigned k;

  [[nodiscard]] __device__ neighbor<Real> get(unsigned i) const { return {distances2[i], ids[i]}; }
  __device__ void set(unsigned i, const neighbor<Real>& n) const {
    distances2[i] = n.distance2;
    ids[i] = n.id;
  }
};

/// The k best candidates in sorted order, for k <= capacity. All indices are compile-time
/// constants, so the array is in registers. If k < capacity, the first elements hold values that
/// no candidate precedes.
template <class Real, unsigned capacity>
class candidate_list {
 public:
  __device__ explicit candidate_list(const neighbor_row<Real>& row) : row_(row) {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      if (i + row.k < capacity) best_[i] = {Real{-1}, 0};
    }
  }
  [[nodiscard]] __device__ const neighbor<Real>& worst() const { return best_[capacity - 1]; }

  /// Replaces the worst candidate by one that precedes it, at its sorted position: the candidates
  /// after that position move back by one.
  __device__ void replace_worst(const neighbor<Real>& better) {
    bool precedes = true;  // whether `better` precedes element i
    RAMIFY_UNROLL
    for (unsigned i = capacity - 1; i > 0; --i) {
      const bool precedes_previous = better < best_[i - 1];
      const neighbor<Real> moved = precedes_previous ? best_[i - 1] : better;
      best_[i] = precedes ? moved : best_[i];
      precedes = precedes_previous;
    }
    best_[0] = precedes ? better : best_[0];
  }
  /// Writes the row.
  __device__ void finish() const {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      if (i + row_.k >= capacity) row_.set(i + row_.k - capacity, best_[i]);
    }
  }

 private:
  neighbor_row<Real> row_;
  neighbor<Real> best_[capacity];
};

/// Up to `capacity` candidates in local memory, in place of those of an output row.
template <class Real, unsigned capacity>
struct local_row {
  unsigned k;
  neighbor<Real> all[capacity];

  __device__ explicit local_row(const neighbor_row<Real>& row) : k(row.k) {}
  [[nodiscard]] __device__ const neighbor<Real>& get(unsigned i) const { return all[i]; }
  __device__ void set(unsigned i, const neighbor<Real>& n) { all[i] = n; }
};

/// The k best candidates for any k: a binary heap with the worst at its root. Row is where they are:
/// the output row, or a local_row.
template <class Real, class Row>
class candidate_heap {
 public:
  __device__ explicit candidate_heap(const neighbor_row<Real>& row) : output_(row), row_(row) {
    for (unsigned i = 0; i < row.k; ++i) row_.set(i, {});
  }
  [[nodiscard]] __device__ const neighbor<Real>& worst() const { return worst_; }

  /// Replaces the worst candidate.
  __device__ void replace_worst(const neighbor<Real>& better) {
    sift_down(better, row_.k);
    worst_ = row_.get(0);
  }
  /// Writes the sorted row (heap sort): moves the worst remaining candidate to the end, k times.
  __device__ void finish() {
    for (unsigned count = row_.k; count-- > 0;) {
      const neighbor<Real> last = row_.get(count);
      output_.set(count, row_.get(0));
      if (count > 0) sift_down(last, count);
    }
  }

 private:
  /// Inserts `n` into the heap of `count` elements, whose root is free.
  __device__ void sift_down(const neighbor<Real>& n, unsigned count) {
    unsigned at = 0;
    for (;;) {
      // Compare with count / 2: 2 * at + 1 may overflow for a large k.
      if (at >= count / 2) break;
      unsigned child = 2 * at + 1;
      neighbor<Real> larger = row_.get(child);
      if (child + 1 < count) {
        const neighbor<Real> right = row_.get(child + 1);
        if (larger < right) {
          larger = right;
          ++child;
        }
      }
      if (!(n < larger)) break;
      row_.set(at, larger);
      at = child;
    }
    row_.set(at, n);
  }

  neighbor_row<Real> output_;
  Row row_;
  neighbor<Real> worst_;
};

/// Offers `candidates` every point that may be among the k nearest, except the point with the id
/// `excluded`.
template <class Real, int dim, class Candidates>
__device__ void find_nearest(const spatial_tree_view<Real, dim>& tree,
                             const point<Real, dim>& query, std::uint32_t excluded,
                             Candidates& candidates) {
  struct stacked_node {
    std::uint32_t node;
    Real distance2;
  };
  stacked_node stack[spatial_shape<dim>::stack_size];
  unsigned count = 0;
  if (tree.node_count > 0) stack[count++] = {0, 0};
  while (count > 0) {
    // 1. Pop the nearest node of the deepest level. A point at the same distance as the worst
    //    candidate may have a smaller index, so such a node is not skipped. The exception is a node
    //    of equal points: they are in the order of their indices, so the first index decides. A
    //    million copies of a point then cost as much as a few.
    const stacked_node next = stack[--count];
    if (next.distance2 > candidates.worst().distance2) continue;
    const auto& node = tree.nodes[next.node];
    if (next.distance2 == candidates.worst().distance2 && node.bounds.is_point() &&
        tree.ids[node.begin] > candidates.worst().id) {
      continue;
    }
    // 2. A leaf: offer its points.
    for (std::uint32_t i = node.begin; node.is_leaf() && i < node.end; ++i) {
      neighbor<Real> candidate{distance2(query, tree.points[i]), 0};
      if (candidate.distance2 > candidates.worst().distance2) continue;
      candidate.id = tree.ids[i];
      if (candidate.id != excluded && candidate < candidates.worst()) {
        candidates.replace_worst(candidate);
      }
    }
    // 3. An inner node: push its children by insertion sort, the nearest on top. Of equally near
    //    children the first is on top.
    const unsigned base = count;
    for (unsigned c = 0; c < node.children; ++c) {
      const std::uint32_t child = node.first_child + c;
      const Real d = tree.nodes[child].bounds.min_distance2(query);
      if (d > candidates.worst().distance2) continue;
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
  const std::uint32_t* order;  ///< the indices of the queries along the curve; null: as they are
  unsigned long long n;

  /// Returns the index of a thread's query. Threads beyond the last query get the last one.
  [[nodiscard]] __device__ unsigned long long index_of(unsigned long long thread) const {
    const unsigned long long at = thread < n ? thread : n - 1;
    return order != nullptr ? order[at] : at;
  }
};

/// The queries of a search for neighbors: those of the batch, or all points of the tree if
/// `queries` is null.
template <class Real, int dim>
struct nearest_queries : query_batch<Real, dim> {
  unsigned k;
  bool exclude_self;  ///< only for the tree's own points

  struct query_of_thread {
    point<Real, dim> query;
    std::uint32_t excluded;  ///< the id of a point that is not a neighbor
    unsigned long long row;  ///< index of the first element of the result
  };

  /// Returns query number i. The tree's own points are in the tree's order, and their rows in the
  /// caller's order.
  [[nodiscard]] __device__ query_of_thread query_of(const spatial_tree_view<Real, dim>& tree,
                                                    unsigned long long i) const {
    if (this->queries == nullptr) {
      const std::uint32_t id = tree.ids[i];
      return {tree.points[i], exclude_self ? id : no_neighbor, std::uint64_t{id} * k};
    }
    const unsigned long long at = this->index_of(i);
    return {this->queries[at], no_neighbor, at * k};
  }
};

/// Writes rows of k ids and k squared distances. Each thread processes one query.
template <class Real, int dim, class Candidates>
__global__ void nearest_neighbors(spatial_tree_view<Real, dim> tree,
                                  nearest_queries<Real, dim> batch, std::uint32_t* ids,
                                  Real* distances2) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= batch.n) return;
  const auto row_query = batch.query_of(tree, i);
  Candidates candidates({ids + row_query.row, distances2 + row_query.row, batch.k});
  find_nearest(tree, row_query.query, row_query.excluded, candidates);
  candidates.finish();
}

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
