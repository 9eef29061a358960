// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernel that looks for nearest neighbours, a thread for each query.
///
/// Depth first, nearest child first; a node farther away than the worst neighbour so far is passed
/// over (Roussopoulos, Kelley and Vincent, 1995).

#include <cstdint>
#include <limits>
#include <ramify/spatial_tree/config.hpp>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// A point that may be among the nearest: ordered by distance, then by index, so that the k nearest
/// are the same ones whatever way they are found.
template <class Real>
struct neighbour {
  Real distance2 = std::numeric_limits<Real>::infinity();
  std::uint32_t id = no_neighbour;

  __device__ bool operator<(const neighbour& other) const {
    return distance2 < other.distance2 || (distance2 == other.distance2 && id < other.id);
  }
};

/// Where the neighbours of one query go: arrays of k.
template <class Real>
struct neighbour_row {
  std::uint32_t* ids;
  Real* distances2;
  unsigned k;

  [[nodiscard]] __device__ neighbour<Real> get(unsigned i) const { return {distances2[i], ids[i]}; }
  __device__ void set(unsigned i, const neighbour<Real>& n) const {
    distances2[i] = n.distance2;
    ids[i] = n.id;
  }
};

/// The k nearest so far, in order, for k <= capacity. Every index is known to the compiler, so that
/// they live in registers: of a shorter list, the first places hold what nothing comes before.
template <class Real, unsigned capacity>
class short_list {
 public:
  __device__ explicit short_list(const neighbour_row<Real>& row) : row_(row) {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      if (i + row.k < capacity) best_[i] = {Real{-1}, 0};
    }
  }
  [[nodiscard]] __device__ const neighbour<Real>& worst() const { return best_[capacity - 1]; }

  /// Takes the worst one's place with a better one, and moves it up to where it belongs.
  __device__ void replace_worst(const neighbour<Real>& better) {
    best_[capacity - 1] = better;
    RAMIFY_UNROLL
    for (unsigned i = capacity - 1; i > 0; --i) {
      const neighbour<Real> a = best_[i - 1];
      const neighbour<Real> b = best_[i];
      const bool swap = b < a;
      best_[i - 1] = swap ? b : a;
      best_[i] = swap ? a : b;
    }
  }
  __device__ void finish() const {
    RAMIFY_UNROLL
    for (unsigned i = 0; i < capacity; ++i) {
      if (i + row_.k >= capacity) row_.set(i + row_.k - capacity, best_[i]);
    }
  }

 private:
  neighbour_row<Real> row_;
  neighbour<Real> best_[capacity];
};

/// The k nearest so far for any k: a heap in the row itself, the worst one first.
template <class Real>
class long_list {
 public:
  __device__ explicit long_list(const neighbour_row<Real>& row) : row_(row) {
    for (unsigned i = 0; i < row.k; ++i) row.set(i, {});
  }
  [[nodiscard]] __device__ const neighbour<Real>& worst() const { return worst_; }

  __device__ void replace_worst(const neighbour<Real>& better) {
    sift_down(better, row_.k);
    worst_ = row_.get(0);
  }
  /// Heap sort: the worst of what is left goes to the end.
  __device__ void finish() const {
    for (unsigned count = row_.k; count-- > 1;) {
      const neighbour<Real> last = row_.get(count);
      row_.set(count, row_.get(0));
      sift_down(last, count);
    }
  }

 private:
  /// Puts `n` into the heap of `count`, whose first place is free.
  __device__ void sift_down(const neighbour<Real>& n, unsigned count) const {
    unsigned at = 0;
    for (;;) {
      // No product of k: it may be as large as an unsigned number gets.
      if (at >= count / 2) break;
      unsigned child = 2 * at + 1;
      neighbour<Real> larger = row_.get(child);
      if (child + 1 < count) {
        const neighbour<Real> right = row_.get(child + 1);
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

  neighbour_row<Real> row_;
  neighbour<Real> worst_;
};

/// Offers all points to `list` that may belong there, but for the one with the id `except`.
template <class Real, int dim, class List>
__device__ void find_nearest(const spatial_tree_view<Real, dim>& tree,
                             const point<Real, dim>& query, std::uint32_t except, List& list) {
  struct waiting_node {
    std::uint32_t node;
    Real distance2;
  };
  waiting_node waiting[spatial_shape<dim>::stack_size];
  unsigned count = 0;
  if (tree.node_count > 0) waiting[count++] = {0, 0};
  while (count > 0) {
    // 1. The nearest node of those that wait on this level. A point as far away as the worst one
    //    may have a smaller index; but copies of one point lie in the order of their indices, so
    //    that of a million of them the first few are enough.
    const waiting_node next = waiting[--count];
    if (next.distance2 > list.worst().distance2) continue;
    const auto& node = tree.nodes[next.node];
    if (next.distance2 == list.worst().distance2 && node.bounds.is_point() &&
        tree.ids[node.begin] > list.worst().id) {
      continue;
    }
    // 2. A leaf: its points.
    for (std::uint32_t i = node.begin; node.is_leaf() && i < node.end; ++i) {
      neighbour<Real> candidate{distance2(query, tree.points[i]), 0};
      if (candidate.distance2 > list.worst().distance2) continue;
      candidate.id = tree.ids[i];
      if (candidate.id != except && candidate < list.worst()) list.replace_worst(candidate);
    }
    // 3. An inner node: its children, sorted in, the nearest one last, and of several the first.
    const unsigned base = count;
    for (unsigned c = 0; c < node.children; ++c) {
      const std::uint32_t child = node.first_child + c;
      const Real d = tree.nodes[child].bounds.nearest2(query);
      if (d > list.worst().distance2) continue;
      unsigned at = count++;
      for (; at > base && waiting[at - 1].distance2 <= d; --at) waiting[at] = waiting[at - 1];
      waiting[at] = {child, d};
    }
  }
}

/// What is asked for: foreign points, or the tree's own, then with `queries` null.
template <class Real, int dim>
struct nearest_questions {
  const point<Real, dim>* queries;
  unsigned long long n;
  unsigned k;
  bool except_self;  ///< of the tree's own points
};

/// Rows of k ids and k squared distances. The tree's own points are taken in the tree's order, where
/// neighbouring threads walk nearly the same way, and their rows lie in the caller's.
template <class Real, int dim, class List>
__global__ void nearest_neighbours(spatial_tree_view<Real, dim> tree,
                                   nearest_questions<Real, dim> asked, std::uint32_t* ids,
                                   Real* distances2) {
  const auto i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= asked.n) return;
  const bool own = asked.queries == nullptr;
  const unsigned long long row = (own ? tree.ids[i] : i) * asked.k;
  const std::uint32_t except = own && asked.except_self ? tree.ids[i] : no_neighbour;
  List list({ids + row, distances2 + row, asked.k});
  find_nearest(tree, own ? tree.points[i] : asked.queries[i], except, list);
  list.finish();
}

}  // namespace ramify::inline RAMIFY_BUILD
