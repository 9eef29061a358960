// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// called_tree: the memory of a tree that kernels build (calls.cuh). Public.

#include <cstddef>
#include <cstdint>
#include <ramify/spatial_tree/tree_arrays.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// Where a kernel builds a tree: memory of the caller on the device. Trivially copyable.
template <class Real, int dim>
struct called_tree {
  detail::spatial_tree::tree_arrays<Real, dim> arrays;  ///< for the runtime
  published_tree* built;                                ///< for the runtime
  std::uint32_t max_points;                             ///< maximum number of points
  std::uint32_t max_nodes;                              ///< maximum number of nodes

  /// \param memory  bytes(points, nodes) bytes of device memory, aligned to 256 bytes, which must
  ///                exist as long as the tree is used
  /// \param points  maximum number of points, less than 2^31
  /// \param nodes   maximum number of nodes, less than 2^32: 2 * points suffice for any points, and
  ///                reserved_nodes(points, options) for most
  __host__ __device__ called_tree(void* memory, std::size_t points, std::size_t nodes)
      : max_points(static_cast<std::uint32_t>(points)),
        max_nodes(static_cast<std::uint32_t>(nodes)) {
    memory_layout layout(memory);
    take(layout);
  }

  /// Returns the size of the memory of a tree, in bytes: a multiple of 256.
  [[nodiscard]] __host__ __device__ static std::size_t bytes(std::size_t points,
                                                             std::size_t nodes) {
    memory_layout layout(nullptr);
    called_tree(nullptr, points, nodes).take(layout);
    return layout.size();
  }

  /// Returns the tree for a continuation, and for work after call_arena::complete_async(): kernels,
  /// and the queries of the host that take spatial_tree_view_in(). Its numbers are upper bounds;
  /// nodes_built() and points_built() return the numbers.
  [[nodiscard]] __host__ __device__ spatial_tree_view<Real, dim> view() const {
    return arrays.view(max_points, max_nodes, built);
  }

 private:
  __host__ __device__ void take(memory_layout& layout) {
    built = layout.take<published_tree>(1);
    arrays.take_points(layout.take<std::byte>(arrays.take_points(nullptr, max_points)), max_points);
    arrays.take_nodes(layout.take<std::byte>(arrays.take_nodes(nullptr, max_nodes)), max_nodes);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
