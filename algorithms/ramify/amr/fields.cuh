// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What is in the cells of the blocks, and what one sees when looking out of a block: the values of
/// its neighbours, of the next coarser level, or of the boundary.
///
/// Every node has values, inner nodes too: the averages of what lies below them. So a leaf that
/// borders on finer blocks finds a node of its own level there, and there are only three kinds of
/// neighbours: one of the same level, a coarser leaf, the end of the domain.

#include <ramify/amr/mesh.cuh>
#include <ramify/amr/reconstruct.cuh>
#include <ramify/amr/state.cuh>

namespace ramify::inline RAMIFY_BUILD {

/// The slope limiter that a run was told to use.
struct chosen_limiter {
  limiter kind = limiter::monotonized_central;
};

/// Half of the slopes of several values. One branch for all of them, which all threads take.
template <class Values>
[[nodiscard]] __host__ __device__ Values half_slopes(const chosen_limiter& chosen,
                                                     const Values& left, const Values& right) {
  switch (chosen.kind) {
    case limiter::minmod: return half_slopes(minmod{}, left, right);
    case limiter::van_leer: return half_slopes(van_leer{}, left, right);
    case limiter::monotonized_central: break;
  }
  return half_slopes(monotonized_central{}, left, right);
}

/// The cells of a block of n along each edge, x fastest.
template <int dim, int n>
struct block_cells {
  static_assert(n % 2 == 0 && n >= 4, "two ghost cells, and pairs that make a coarser cell");
  static constexpr int count = dim == 2 ? n * n : n * n * n;
  static constexpr int of_a_face = count / n;
  static constexpr int ghosts = 2;  ///< how far a block looks beyond its faces

  /// How far apart two cells are in memory that are neighbours along `axis`.
  __host__ __device__ static constexpr int stride(int axis) {
    return axis == 0 ? 1 : axis == 1 ? n : n * n;
  }
  __host__ __device__ static int number(const int (&at)[dim]) {
    int cell = 0;
    for (int axis = dim - 1; axis >= 0; --axis) cell = cell * n + at[axis];
    return cell;
  }
  __host__ __device__ static void position(int cell, int (&at)[dim]) {
    for (int axis = 0; axis < dim; ++axis) {
      at[axis] = cell % n;
      cell /= n;
    }
  }
  /// The `i`-th cell of a line of cells along `axis`. Lines are numbered as the cells of a face are.
  __host__ __device__ static constexpr int on_line(int axis, int line, int i) {
    const int s = stride(axis);
    return line % s + s * (i + n * (line / s));
  }
  /// The line along `axis` that a cell is on.
  __host__ __device__ static constexpr int line_of(int axis, int cell) {
    const int s = stride(axis);
    return cell % s + s * (cell / (s * n));
  }
  /// Which child of a node covers a cell of the node.
  __host__ __device__ static int child_over(const int (&at)[dim]) {
    int child = 0;
    // Without a conditional, of which GCC's sanitizer of shifts makes an index that is none.
    for (int axis = 0; axis < dim; ++axis) child |= at[axis] / (n / 2) << axis;
    return child;
  }
};

/// The values of all nodes: [node][variable][cell].
template <class Physics, int n>
struct block_values {
  using real = typename Physics::real;
  using values = typename Physics::values;
  using cells = block_cells<Physics::dimensions, n>;

  real* data = nullptr;

  __host__ __device__ static std::size_t offset(int node, int variable, int cell) {
    return (static_cast<std::size_t>(node) * Physics::variables + variable) * cells::count + cell;
  }
  [[nodiscard]] __device__ values load(int node, int cell) const {
    values u;
    for (int v = 0; v < Physics::variables; ++v) u[v] = data[offset(node, v, cell)];
    return u;
  }
  __device__ void store(int node, int cell, const values& u) const {
    for (int v = 0; v < Physics::variables; ++v) data[offset(node, v, cell)] = u[v];
  }
};

/// Looks from the cells of a node to those around it.
///
/// Values of the next coarser level are interpolated in time, between two sets, where levels take
/// steps of their own.
template <class Physics, int n>
struct surroundings {
  static constexpr int dim = Physics::dimensions;
  using real = typename Physics::real;
  using values = typename Physics::values;
  using cells = block_cells<dim, n>;

  mesh_tree<dim> tree;
  Physics physics;
  block_values<Physics, n> own;  ///< of the level of the node, and of all others without subcycling
  block_values<Physics, n> coarser_before;
  block_values<Physics, n> coarser_after;
  real elapsed = 0;  ///< 0: as coarser_before, 1: as coarser_after
  chosen_limiter limited;

  /// `depth` cells (1 or 2) beyond the face of a node. `at` is the last cell before the face.
  [[nodiscard]] __device__ values beyond(int node, const int (&at)[dim], int axis, int side,
                                         int depth) const {
    const int neighbor = tree.neighbor[node * tree.faces + face_of(axis, side)];
    if (neighbor >= 0) {
      const int opposite_end = side == 0 ? n - depth : depth - n;
      return own.load(neighbor, cells::number(at) + opposite_end * cells::stride(axis));
    }
    if (neighbor == no_neighbor) return behind_the_boundary(own, node, at, axis, side, depth);
    // Two fine cells deep is one coarse cell deep.
    const int coarse = coarse_neighbor(node, axis, side);
    const bool far = depth == 2;
    int there[dim];
    bool upper[dim];  // the half of the coarse cell that is looked at
    for (int a = 0; a < dim; ++a) {
      upper[a] = a == axis ? far != (side == 0) : at[a] % 2 == 1;
      there[a] = a == axis ? (side == 0 ? n - 1 : 0) : coarse_coordinate(node, at, a);
    }
    const values before = part_of_cell(coarser_before, coarse, there, upper);
    if (elapsed == real(0)) return before;
    const values after = part_of_cell(coarser_after, coarse, there, upper);
    return before * (real(1) - elapsed) + after * elapsed;
  }

  /// One cell along `axis`, inside the node or out of it.
  [[nodiscard]] __device__ values beside(int node, const int (&at)[dim], int axis, int side) const {
    int there[dim];
    copy(at, there);
    there[axis] += side == 0 ? -1 : 1;
    if (there[axis] >= 0 && there[axis] < n) return own.load(node, cells::number(there));
    there[axis] = at[axis];
    return beyond(node, there, axis, side, 1);
  }

  /// The average over the half, quarter or eighth of a cell that `upper` says, with limited slopes.
  /// The parts of a cell average to its value, so nothing is made or lost. A part that could not be a
  /// state, and the one opposite to it, get the cell's value.
  [[nodiscard]] __device__ values part_of_cell(const block_values<Physics, n>& from, int node,
                                               const int (&at)[dim],
                                               const bool (&upper)[dim]) const {
    const values here = from.load(node, cells::number(at));
    values change{};
    for (int axis = 0; axis < dim; ++axis) {
      const values left = here - adjacent(from, node, at, axis, 0);
      const values right = adjacent(from, node, at, axis, 1) - here;
      const values quarter = real(0.5) * half_slopes(limited, left, right);
      for (int v = 0; v < Physics::variables; ++v) {
        change[v] += upper[axis] ? quarter[v] : -quarter[v];
      }
    }
    // The opposite part decides too, so that the two still average to the cell.
    const values part = here + change;
    return physics.sound(part) && physics.sound(here - change) ? part : here;
  }

 private:
  __device__ static void copy(const int (&from)[dim], int (&to)[dim]) {
    for (int axis = 0; axis < dim; ++axis) to[axis] = from[axis];
  }

  /// The coarser leaf across a face: a neighbour of the parent, which is balanced.
  [[nodiscard]] __device__ int coarse_neighbor(int node, int axis, int side) const {
    return tree.neighbor[tree.parent[node] * tree.faces + face_of(axis, side)];
  }

  /// The coordinate, in a block of the next coarser level, of the cell that covers `at`.
  [[nodiscard]] __device__ int coarse_coordinate(int node, const int (&at)[dim], int axis) const {
    return static_cast<int>(tree.place[node].index[axis] & 1) * (n / 2) + at[axis] / 2;
  }

  [[nodiscard]] __device__ values behind_the_boundary(const block_values<Physics, n>& from,
                                                      int node, const int (&at)[dim], int axis,
                                                      int side, int depth) const {
    const bool mirror = (tree.mirrors >> face_of(axis, side) & 1) != 0;
    const int inward = mirror ? depth - 1 : 0;
    const int steps = (side == 0 ? inward : -inward) * cells::stride(axis);
    const values u = from.load(node, cells::number(at) + steps);
    return mirror ? physics.reflected(u, axis) : u;
  }

  /// One cell along `axis`, as it is: of a coarser level, the whole cell. For slopes.
  [[nodiscard]] __device__ values adjacent(const block_values<Physics, n>& from, int node,
                                           const int (&at)[dim], int axis, int side) const {
    int there[dim];
    copy(at, there);
    there[axis] += side == 0 ? -1 : 1;
    if (there[axis] >= 0 && there[axis] < n) return from.load(node, cells::number(there));
    const int neighbor = tree.neighbor[node * tree.faces + face_of(axis, side)];
    if (neighbor == no_neighbor) return behind_the_boundary(from, node, at, axis, side, 1);
    there[axis] = side == 0 ? n - 1 : 0;
    if (neighbor >= 0) return from.load(neighbor, cells::number(there));
    for (int a = 0; a < dim; ++a) {
      if (a != axis) there[a] = coarse_coordinate(node, at, a);
    }
    return from.load(coarse_neighbor(node, axis, side), cells::number(there));
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
