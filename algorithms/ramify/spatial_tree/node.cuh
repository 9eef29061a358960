// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A spatial tree as kernels see it: a quadtree or octree whose nodes have tight boxes, so that it is
/// a bounding-volume hierarchy of up to 4 or 8 children a node as well.

#include <cstdint>
#include <ramify/spatial_tree/geometry.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The points [begin, end) of the tree's order, and the box that they fill. An inner node has two
/// children or more: they follow one another, and their points, in this order, are the node's.
template <class Real, int dim>
struct spatial_node {
  box<Real, dim> bounds;
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t first_child;
  std::uint16_t children;  ///< 0: a leaf
  std::uint16_t level;     ///< the root's is 0

  [[nodiscard]] __host__ __device__ bool is_leaf() const { return children == 0; }
  [[nodiscard]] __host__ __device__ std::uint32_t size() const { return end - begin; }
};

/// The shape of all trees in `dim` dimensions.
template <int dim>
struct spatial_shape {
  /// Children of a node at most.
  static constexpr unsigned arity = 1u << dim;
  /// Bits of an axis in a point's place on the Z curve.
  static constexpr unsigned bits = dim == 2 ? 31 : 21;
  /// Points of a tree at most.
  static constexpr std::uint32_t most_points = (std::uint32_t{1} << 31) - 1;
  /// No node is deeper. A level uses up one bit of every axis; below, points with the same place are
  /// shared out by their number, which from 2^31 of them takes ceil(31 / dim) levels.
  static constexpr unsigned deepest = bits + (31 + dim - 1) / dim;
  /// Nodes that a depth-first walk must remember at most: on each level, all children but the one
  /// that it goes down to.
  static constexpr unsigned stack_size = deepest * (arity - 1) + 1;
};

/// A tree in device memory, to be handed to kernels. Node 0 is the root; an empty tree has no nodes.
template <class Real, int dim>
struct spatial_tree_view {
  const spatial_node<Real, dim>* nodes;
  const point<Real, dim>* points;  ///< in the tree's order: along the Z curve
  const std::uint32_t* ids;        ///< the caller's index of each of them
  const std::uint32_t* parents;    ///< of each node; of the root, 0
  std::uint32_t node_count;
  std::uint32_t point_count;
};

}  // namespace ramify::inline RAMIFY_BUILD
