// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The arrays of a tree that is built, and the fold that computes the boxes of its nodes.

#include <cstddef>
#include <cstdint>
#include <ramify/runtime/buffer.cuh>
#include <ramify/spatial_tree/node.cuh>

namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD {

/// The Fold for reduce_bottom_up() that computes the boxes of all nodes.
template <class Real, int dim>
struct box_fold {
  const point<Real, dim>* points;
  spatial_node<Real, dim>* nodes;

  __device__ box<Real, dim> of_point(std::uint32_t i) const {
    return box<Real, dim>::of(points[i]);
  }
  __device__ box<Real, dim> combine(const box<Real, dim>& a, const box<Real, dim>& b) const {
    return box<Real, dim>::enclosing(a, b);
  }
  __device__ box<Real, dim>& at(std::uint32_t node) const { return nodes[node].bounds; }
};

/// The arrays of a tree.
template <class Real, int dim>
struct tree_arrays {
  point<Real, dim>* points = nullptr;
  std::uint32_t* ids = nullptr;
  spatial_node<Real, dim>* nodes = nullptr;
  std::uint32_t* parents = nullptr;

  /// Returns the tree over n points. `built` is where kernels read the number of nodes, or null.
  [[nodiscard]] __host__ __device__ spatial_tree_view<Real, dim> view(
      std::uint32_t n, std::size_t node_count, const published_tree* built) const {
    return {nodes, points, ids, parents, static_cast<std::uint32_t>(node_count), n, built, {}, 0};
  }
  /// Returns the size of the points and their ids, in bytes.
  __host__ __device__ std::size_t take_points(void* base, std::size_t n) {
    memory_layout memory(base);
    points = memory.take<point<Real, dim>>(n);
    ids = memory.take<std::uint32_t>(n);
    return memory.size();
  }
  /// Returns the size of the nodes and their parents, in bytes.
  __host__ __device__ std::size_t take_nodes(void* base, std::size_t count) {
    memory_layout memory(base);
    nodes = memory.take<spatial_node<Real, dim>>(count);
    parents = memory.take<std::uint32_t>(count);
    return memory.size();
  }
};

}  // namespace ramify::detail::spatial_tree::inline RAMIFY_BUILD
