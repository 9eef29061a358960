// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The tree of blocks in device memory: a forest of quadtrees or octrees over a grid of root blocks.
///
/// A node is a block of cells, and a leaf if it has no children. Nodes are numbered: first the root
/// blocks, x fastest, then families of 2^dim siblings in the order in which they were made. What
/// lies where is said by a node's place, never by its number.
///
/// The forest is balanced: if a node has children, every neighbour of it across a face (edge,
/// corner: as chosen) exists as a node of its own level, or is outside of the domain.

#include <ramify/amr/config.hpp>
#include <ramify/runtime/cuda.hpp>

namespace ramify::inline RAMIFY_BUILD {

/// Where a block lies: the index counts blocks of its level, 2^level for each root block.
template <int dim>
struct block_place {
  int level;  ///< -1: nobody's, a number without a node
  unsigned index[dim];
};

/// What stands for a neighbour that is not a node of the same level.
inline constexpr int coarser_neighbor = -1;  ///< a leaf of the next coarser level is there
inline constexpr int no_neighbor = -2;       ///< the domain ends there

inline constexpr int no_children = -1;

/// A face of a block: 2 * axis for the lower side, 2 * axis + 1 for the upper one.
__host__ __device__ constexpr int face_of(int axis, int side) { return 2 * axis + side; }
__host__ __device__ constexpr int opposite(int face) { return face ^ 1; }

template <int dim>
struct mesh_tree {
  static_assert(dim == 2 || dim == 3);
  static constexpr int siblings = 1 << dim;
  static constexpr int faces = 2 * dim;
  static constexpr int directions = dim == 2 ? 9 : 27;  ///< the one in the middle included

  unsigned roots[dim];
  boundary sides[dim][2];
  unsigned mirrors;  ///< sides that reflect: a bit for each face
  int max_level;
  int reach;  ///< blocks are balanced with those up to so many axes away: 1 faces, dim corners
  unsigned capacity;  ///< nodes that there is memory for

  block_place<dim>* place;
  int* parent;       ///< -1: a root
  int* first_child;  ///< no_children: a leaf
  int* neighbor;     ///< [node][face]: a node of the same level, or one of the words above

  [[nodiscard]] __host__ __device__ unsigned root_count() const {
    unsigned count = 1;
    for (int axis = 0; axis < dim; ++axis) count *= roots[axis];
    return count;
  }

  [[nodiscard]] __host__ __device__ bool is_leaf(int node) const {
    return first_child[node] == no_children;
  }

  /// The number of the first node of a family.
  [[nodiscard]] __host__ __device__ int first_of_family(unsigned family) const {
    return static_cast<int>(root_count() + family * siblings);
  }
  [[nodiscard]] __host__ __device__ unsigned family_of(int node) const {
    return (static_cast<unsigned>(node) - root_count()) / siblings;
  }

  /// The finest node that covers the place: of its level, or a leaf of a coarser one.
  [[nodiscard]] __host__ __device__ int find(const block_place<dim>& wanted) const {
    unsigned root = 0;
    for (int axis = dim - 1; axis >= 0; --axis) {
      root = root * roots[axis] + (wanted.index[axis] >> wanted.level);
    }
    int node = static_cast<int>(root);
    for (int level = wanted.level - 1; level >= 0 && !is_leaf(node); --level) {
      node = first_child[node] + child_toward(wanted, level);
    }
    return node;
  }

  /// Moves a place by one block along each axis, around the domain where that is periodic. False if
  /// it is then outside.
  [[nodiscard]] __host__ __device__ bool move(block_place<dim>& at, const int (&step)[dim]) const {
    for (int axis = 0; axis < dim; ++axis) {
      const unsigned blocks = roots[axis] << at.level;
      const bool leaves =
          step[axis] < 0 ? at.index[axis] == 0 : step[axis] > 0 && at.index[axis] == blocks - 1;
      if (!leaves) {
        at.index[axis] += static_cast<unsigned>(step[axis]);
      } else if (sides[axis][step[axis] > 0 ? 1 : 0] == boundary::periodic) {
        at.index[axis] = step[axis] < 0 ? blocks - 1 : 0;
      } else {
        return false;
      }
    }
    return true;
  }

  /// A direction by its number in [0, directions): one of -1, 0, 1 for each axis. How many axes it
  /// moves along; 0 is the middle.
  [[nodiscard]] __host__ __device__ static int direction(int number, int (&step)[dim]) {
    int axes = 0;
    for (int axis = 0; axis < dim; ++axis) {
      step[axis] = number % 3 - 1;
      number /= 3;
      axes += step[axis] != 0;
    }
    return axes;
  }

  /// A root block's place.
  [[nodiscard]] __host__ __device__ block_place<dim> place_of_root(unsigned root) const {
    block_place<dim> place{0, {}};
    for (int axis = 0; axis < dim; ++axis) {
      place.index[axis] = root % roots[axis];
      root /= roots[axis];
    }
    return place;
  }

  /// A child's place. `child` has a bit for each axis, x in the lowest one.
  [[nodiscard]] __host__ __device__ static block_place<dim> place_of_child(
      const block_place<dim>& at, int child) {
    block_place<dim> below{at.level + 1, {}};
    for (int axis = 0; axis < dim; ++axis) {
      below.index[axis] = 2 * at.index[axis] + static_cast<unsigned>(child >> axis & 1);
    }
    return below;
  }

 private:
  /// Which child of the node above it leads to `wanted`, where the child's index has `level` bits
  /// less.
  [[nodiscard]] __host__ __device__ static int child_toward(const block_place<dim>& wanted,
                                                            int level) {
    int child = 0;
    for (int axis = 0; axis < dim; ++axis) {
      child |= static_cast<int>(wanted.index[axis] >> level & 1) << axis;
    }
    return child;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
