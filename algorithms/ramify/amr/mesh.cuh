// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tree of blocks in device memory: a forest of quadtrees or octrees over a grid of root
/// blocks.
///
/// A node is a block of cells; a leaf is a node without children. Nodes are numbered: first the
/// root blocks, x fastest, then families of 2^dim siblings in the order in which they were created.
/// The number of a node does not give its position; its place does.
///
/// The forest is balanced: for each node with children, every neighbor across a face is a node of
/// the same level, or outside of the domain. This holds for neighbors across edges and corners,
/// too, if the options require it.
///
/// Sources: C. Burstedde, L. C. Wilcox, O. Ghattas, SIAM J. Sci. Comput. 33 (2011) 1103 (forests of
/// octrees and their balance).

#include <cstdint>
#include <ramify/amr/config.hpp>
#include <ramify/runtime/cuda.hpp>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The place of a block: the index counts blocks of its level, 2^level for each root block.
template <int dim>
struct block_place {
  int level;            ///< -1: the node number is not in use
  unsigned index[dim];  ///< along each axis
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The entries of mesh_tree::neighbor that are not the number of a node of the same level.
inline constexpr int coarser_neighbor = -1;  ///< a leaf of the next coarser level is there
inline constexpr int no_neighbor = -2;       ///< the domain ends there

inline constexpr int no_children = -1;

/// Returns the number of a face of a block: 2 * axis for the lower side, 2 * axis + 1 for the
/// upper one.
__host__ __device__ constexpr int face_of(int axis, int side) { return 2 * axis + side; }
__host__ __device__ constexpr int opposite(int face) { return face ^ 1; }

/// The faces of a node at coarse-fine interfaces, one bit per face.
struct alignas(2) interface_faces {
  std::uint8_t to_coarse = 0;  ///< the neighbor is a coarser leaf
  std::uint8_t to_fine = 0;    ///< the node is a leaf, and the neighbor has children
};

/// The arrays of the forest, and functions that read them.
template <int dim>
struct mesh_tree {
  static_assert(dim == 2 || dim == 3);
  static constexpr int siblings = 1 << dim;
  static constexpr int faces = 2 * dim;
  static constexpr int directions = dim == 2 ? 9 : 27;  ///< (0, 0, 0) included

  unsigned roots[dim];
  boundary sides[dim][2];
  unsigned reflecting;  ///< one bit per face of the domain: 1 if it reflects
  int max_level;
  /// The largest codimension across which blocks are balanced: 1 for faces only, 2 for edges, too,
  /// and dim for corners, too.
  int balance_codimension;
  unsigned capacity;  ///< nodes that the arrays have memory for

  block_place<dim>* place;
  int* parent;       ///< -1: a root
  int* first_child;  ///< no_children: a leaf
  int* neighbor;     ///< [node][face]: a node of the same level, or one of the constants above
  interface_faces* at_interface;  ///< [node]; out of date while a regrid changes the mesh

  [[nodiscard]] __host__ __device__ unsigned root_count() const {
    unsigned count = 1;
    for (int axis = 0; axis < dim; ++axis) count *= roots[axis];
    return count;
  }

  [[nodiscard]] __host__ __device__ bool is_leaf(int node) const {
    return first_child[node] == no_children;
  }

  /// Finds the entry of a node in at_interface.
  [[nodiscard]] __host__ __device__ interface_faces interface_faces_of(int node) const {
    unsigned to_coarse = 0;
    unsigned to_fine = 0;
    const bool leaf = is_leaf(node);
    for (int face = 0; face < faces; ++face) {
      const int there = neighbor[node * faces + face];
      if (there == coarser_neighbor) to_coarse |= 1u << face;
      if (leaf && there >= 0 && !is_leaf(there)) to_fine |= 1u << face;
    }
    return {static_cast<std::uint8_t>(to_coarse), static_cast<std::uint8_t>(to_fine)};
  }

  /// Returns the number of the first node of a family.
  [[nodiscard]] __host__ __device__ int first_of_family(unsigned family) const {
    return static_cast<int>(root_count() + family * siblings);
  }
  [[nodiscard]] __host__ __device__ unsigned family_of(int node) const {
    return (static_cast<unsigned>(node) - root_count()) / siblings;
  }

  /// Returns the finest node that contains the place: the node of its level, or a coarser leaf.
  [[nodiscard]] __host__ __device__ int find(const block_place<dim>& wanted) const {
    unsigned root = 0;
    for (int axis = dim - 1; axis >= 0; --axis) {
      root = root * roots[axis] + (wanted.index[axis] >> wanted.level);
    }
    int node = static_cast<int>(root);
    for (int level = wanted.level - 1; level >= 0 && !is_leaf(node); --level) {
      int child = 0;
      for (int axis = 0; axis < dim; ++axis) {
        child |= static_cast<int>(wanted.index[axis] >> level & 1) << axis;
      }
      node = first_child[node] + child;
    }
    return node;
  }

  /// Moves a place by at most one block along each axis, with periodic wraparound.
  /// Returns false if the new place would be outside of the domain.
  [[nodiscard]] __host__ __device__ bool move(block_place<dim>& at, const int (&step)[dim]) const {
    for (int axis = 0; axis < dim; ++axis) {
      const unsigned blocks = roots[axis] << at.level;
      const bool leaves_domain =
          step[axis] < 0 ? at.index[axis] == 0 : step[axis] > 0 && at.index[axis] == blocks - 1;
      if (!leaves_domain) {
        at.index[axis] += static_cast<unsigned>(step[axis]);
      } else if (sides[axis][step[axis] > 0 ? 1 : 0] == boundary::periodic) {
        at.index[axis] = step[axis] < 0 ? blocks - 1 : 0;
      } else {
        return false;
      }
    }
    return true;
  }

  /// Sets `step` to direction `number` of [0, directions): -1, 0 or 1 for each axis. Returns the
  /// number of axes with a step: the codimension of the face, edge or corner that the block shares
  /// with its neighbor.
  [[nodiscard]] __host__ __device__ static int direction(int number, int (&step)[dim]) {
    int axes = 0;
    for (int axis = 0; axis < dim; ++axis) {
      step[axis] = number % 3 - 1;
      number /= 3;
      axes += step[axis] != 0;
    }
    return axes;
  }

  /// Returns the finest node that contains the neighbor of a node in direction `number`. Returns -1
  /// if the mesh is not balanced in this direction, or if the domain ends there.
  [[nodiscard]] __host__ __device__ int balanced_neighbor(int node, int number) const {
    int step[dim];
    const int axes = direction(number, step);
    if (axes == 0 || axes > balance_codimension) return -1;
    block_place<dim> there = place[node];
    return move(there, step) ? find(there) : -1;
  }

  /// Returns the place of a root block.
  [[nodiscard]] __host__ __device__ block_place<dim> place_of_root(unsigned root) const {
    block_place<dim> result{0, {}};
    for (int axis = 0; axis < dim; ++axis) {
      result.index[axis] = root % roots[axis];
      root /= roots[axis];
    }
    return result;
  }

  /// Returns the place of a child. `child` has a bit for each axis, x in the lowest one.
  [[nodiscard]] __host__ __device__ static block_place<dim> place_of_child(
      const block_place<dim>& at, int child) {
    block_place<dim> below{at.level + 1, {}};
    for (int axis = 0; axis < dim; ++axis) {
      below.index[axis] = 2 * at.index[axis] + static_cast<unsigned>(child >> axis & 1);
    }
    return below;
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
