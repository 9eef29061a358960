// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The cells of a block, their positions, and the array with the values of all blocks.

#include <cstddef>
#include <ramify/amr/mesh.cuh>
#include <ramify/amr/rounding.cuh>
#include <ramify/runtime/cuda.hpp>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The cells of a block with n cells along each edge, x fastest.
template <int dim, int n>
struct block_cells {
  static_assert(
      n % 2 == 0 && n >= 4,
      "n must be even and at least 4: blocks have at least two ghost cells, and pairs of cells are "
      "coarsened");
  static constexpr int count = dim == 2 ? n * n : n * n * n;
  static constexpr int per_face = count / n;

  /// Returns the distance in memory between two cells that are neighbors along `axis`.
  __host__ __device__ static constexpr int stride(int axis) {
    return axis == 0 ? 1 : axis == 1 ? n : n * n;
  }
  /// Returns the number of the cell with the coordinates `at`.
  __host__ __device__ static int cell_number(const int (&at)[dim]) {
    int cell = 0;
    for (int axis = dim - 1; axis >= 0; --axis) cell = cell * n + at[axis];
    return cell;
  }
  /// Writes the coordinates of a cell to `at`.
  __host__ __device__ static void coordinates(int cell, int (&at)[dim]) {
    for (int axis = 0; axis < dim; ++axis) {
      at[axis] = cell % n;
      cell /= n;
    }
  }
  /// Writes the coordinates of the i-th of the cells that a child covers, relative to the first.
  __host__ __device__ static void coordinates_in_child(int i, int (&at)[dim]) {
    for (int axis = 0; axis < dim; ++axis) {
      at[axis] = i % (n / 2);
      i /= n / 2;
    }
  }
  /// Calls use(cell, at) with the number and the coordinates of each cell in this thread's share of
  /// a block of cells. The thread block has `threads` threads.
  template <class Use>
  __device__ static void for_each(int threads, Use use) {
    for (int cell = static_cast<int>(threadIdx.x); cell < count; cell += threads) {
      int at[dim];
      coordinates(cell, at);
      use(cell, at);
    }
  }
  /// Returns the number of the `i`-th cell of a line of cells along `axis`. Lines are numbered like
  /// the cells of the lower face, in which they begin.
  __host__ __device__ static constexpr int on_line(int axis, int line, int i) {
    const int s = stride(axis);
    return line % s + s * (i + n * (line / s));
  }
  /// Returns the number of the line along `axis` that contains the cell.
  __host__ __device__ static constexpr int line_of(int axis, int cell) {
    const int s = stride(axis);
    return cell % s + s * (cell / (s * n));
  }
  /// Returns the number of the child that covers the cell `at` of its parent.
  __host__ __device__ static int child_over(const int (&at)[dim]) {
    int child = 0;
    // A conditional expression here makes GCC's sanitizer of shifts compute a wrong index.
    for (int axis = 0; axis < dim; ++axis) child |= at[axis] / (n / 2) << axis;
    return child;
  }
};

/// The positions of cells. `n` is the number of cells along a block's edge.
template <class Real, int dim, int n>
struct cell_positions {
  Real lower[dim];
  Real root_spacing[dim];  ///< lengths of the edges of a cell of level 0

  [[nodiscard]] __device__ Real spacing(int level, int axis) const {
    return root_spacing[axis] * reciprocal(Real(1u << level));
  }
  /// Sets `where` to the center of a cell. `at` may be beyond the faces of the block.
  __device__ void center(const block_place<dim>& block, const int (&at)[dim],
                         Real (&where)[dim]) const {
    for (int axis = 0; axis < dim; ++axis) {
      const Real cell = Real(block.index[axis]) * Real(n) + Real(at[axis]) + Real(0.5);
      where[axis] = lower[axis] + times(cell, spacing(block.level, axis));
    }
  }
  /// Returns the position of face `number` of a block's cells along an axis, in [0, n]. Faces that
  /// coincide have the same bits, also if their blocks are of different levels.
  [[nodiscard]] __device__ double edge(const block_place<dim>& block, int axis, int number) const {
    const double face = double(block.index[axis]) * n + number;
    return double(lower[axis]) + times(face, double(spacing(block.level, axis)));
  }
};

/// Maps a node to the place of its values in an array. In a mesh that is in one process, this is
/// the number of the node.
struct slot_by_number {
  [[nodiscard]] __host__ __device__ static int slot_of(int node) { return node; }
};

/// Maps a node to the place of its values in an array. In a process that has a part of a mesh, a
/// table has an entry for each node.
struct slot_by_table {
  const int* slots = nullptr;  ///< -1: the process does not have the node's values
  [[nodiscard]] __host__ __device__ int slot_of(int node) const { return slots[node]; }
};

/// The values of all nodes: [slot][variable][cell].
template <class Physics, int n, class Slots = slot_by_number>
struct block_values : Slots {
  using real = typename Physics::real;
  using values = typename Physics::values;
  using cells = block_cells<Physics::dimensions, n>;

  real* data = nullptr;

  [[nodiscard]] __host__ __device__ std::size_t offset(int node, int variable, int cell) const {
    const auto row =
        static_cast<std::size_t>(this->slot_of(node)) * Physics::variables + std::size_t(variable);
    return row * cells::count + std::size_t(cell);
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

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
