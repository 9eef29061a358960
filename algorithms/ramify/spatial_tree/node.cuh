// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tree in device memory, as kernels read it. Public: users and other families may include this
/// header.
///
/// The tree is a quadtree or octree whose nodes have tight boxes, so it is also a bounding-volume
/// hierarchy with up to 4 or 8 children per node.

#include <cstdint>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The points [begin, end) of the tree's order, and their bounding box. An inner node has two or
/// more children. They are consecutive nodes, and their points, in this order, are the node's
/// points. A kernel that copies a node reads it in units of 16 bytes.
template <class Real, int dim>
struct alignas(16) spatial_node {
  box<Real, dim> bounds;      ///< of the points
  std::uint32_t begin;        ///< first point
  std::uint32_t end;          ///< one after the last point
  std::uint32_t first_child;  ///< index of a node
  std::uint16_t children;     ///< number of children; a leaf has 0
  std::uint16_t level;        ///< the root has level 0

  /// Returns whether the node has no children.
  [[nodiscard]] __host__ __device__ bool is_leaf() const { return children == 0; }
  /// Returns the number of points.
  [[nodiscard]] __host__ __device__ std::uint32_t size() const { return end - begin; }
};

/// Constants of all trees in `dim` dimensions.
template <int dim>
struct spatial_shape {
  /// Maximum number of children of a node.
  static constexpr unsigned arity = 1u << dim;
  /// Bits per axis of a Morton code.
  static constexpr unsigned bits = dim == 2 ? 31 : 21;
  /// Maximum number of points of a tree.
  static constexpr std::uint32_t max_points = (std::uint32_t{1} << 31) - 1;
  /// Maximum level of a node. A level consumes at least one bit of each axis. Below, points with
  /// equal codes are split by number, which takes at most ceil(31 / dim) levels for 2^31 points.
  static constexpr unsigned max_level = bits + (31 + dim - 1) / dim;
  /// Maximum number of nodes on the stack of a depth-first traversal: on each level, all children
  /// except the one that is visited.
  static constexpr unsigned stack_size = max_level * (arity - 1) + 1;
};

/// What a build leaves for kernels that follow it before the host has read it.
struct published_tree {
  std::uint32_t is_complete;  ///< 0: get() of the build completes it, or throws
  std::uint32_t nodes;        ///< of the complete tree, else 0
  std::uint32_t points;       ///< of the complete tree, else 0
  double lower[3];            ///< corners of the box around all points
  double upper[3];            ///< the upper corner
  double least_nonzero;       ///< the least magnitude of a coordinate, of those that are not 0

  /// Returns the box around all points. Real and dim must be those of the tree.
  template <class Real, int dim>
  [[nodiscard]] __host__ __device__ box<Real, dim> bounds() const {
    box<Real, dim> around;
    for (int axis = 0; axis < dim; ++axis) {
      around.lower.x[axis] = static_cast<Real>(lower[axis]);
      around.upper.x[axis] = static_cast<Real>(upper[axis]);
    }
    return around;
  }
};

/// A tree in device memory, as a kernel argument. Node 0 is the root; an empty tree has no nodes.
///
/// A kernel may be launched before the host has read the numbers of nodes and of points. Then
/// `node_count` and `point_count` are upper bounds, and `built` points to the numbers: see
/// spatial_tree_view_in().
template <class Real, int dim>
struct spatial_tree_view {
  const spatial_node<Real, dim>* nodes;   ///< all nodes; 0 is the root
  const point<Real, dim>* points;         ///< in the tree's order: sorted by Morton code
  const std::uint32_t* ids;               ///< the caller's index of each point
  const std::uint32_t* parents;           ///< the parent of each node; 0 for the root
  std::uint32_t node_count;               ///< number of nodes
  std::uint32_t point_count;              ///< number of points
  const published_tree* built = nullptr;  ///< null: the host has read all numbers
  /// The box around all points, for the host and its queries. It and the next member are not set
  /// before the host has read the number of nodes, and for an empty tree.
  box<Real, dim> bounds{};
  Real least_nonzero = 0;  ///< the least magnitude of a coordinate, of those that are not 0

  /// Returns the number of nodes, in a kernel that is ordered after the build. Returns 0 if get()
  /// of the build will throw, or, with completion::by_get, if get() must complete the build.
  [[nodiscard]] __device__ std::uint32_t nodes_built() const {
    return built == nullptr ? node_count : built->nodes;
  }
  /// Returns the number of points, in such a kernel.
  [[nodiscard]] __device__ std::uint32_t points_built() const {
    return built == nullptr ? point_count : built->points;
  }
  /// Returns the box around all points, in such a kernel.
  [[nodiscard]] __device__ box<Real, dim> bounds_built() const {
    return built == nullptr ? bounds : built->template bounds<Real, dim>();
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
