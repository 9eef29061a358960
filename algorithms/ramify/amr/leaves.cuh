// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// mesh_leaves: the leaves of a run for kernels of the caller. <ramify/amr.cuh> includes this
/// header.

#include <ramify/amr/ghost.cuh>
#include <ramify/amr/physics/criteria.cuh>
#include <type_traits>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The leaves of a run in device memory, as an argument of kernels. leaves() of a run returns it.
///
///     template <class Leaves>
///     __global__ void add_mass(Leaves leaves, double* mass) {     // one block of threads per leaf
///       for (int cell = threadIdx.x; cell < leaves.cells; cell += blockDim.x) {
///         atomicAdd(mass, leaves.conserved(blockIdx.x, cell)[0] * leaves.volume(blockIdx.x));
///       }
///     }
///
/// Leaves have the numbers 0, 1, ..., count - 1 in Morton order, the order of a mesh_snapshot, and
/// their cells the numbers 0, 1, ..., cells - 1, x fastest. The members only read: to change
/// values, use after_step() of the physics. Any number of threads may call them.
///
/// It is valid until the run's next call of advance(), advance_async() or reserve(). The values are
/// those after the last complete step, in the order of the run's stream.
template <class Physics, int n, class Slots = detail::amr::slot_by_number>
class mesh_leaves {
  using reader = detail::amr::ghost_reader<Physics, n, Slots>;
  using block = detail::amr::block_cells<Physics::dimensions, n>;

 public:
  static constexpr int dim = Physics::dimensions;  ///< dimensions of the mesh
  static constexpr int cells_along = n;            ///< cells along each edge of a leaf
  static constexpr int cells = block::count;       ///< cells of a leaf
  using real = typename Physics::real;             ///< the number type
  using values = typename Physics::values;         ///< those of a cell

  mesh_leaves() = default;
  /// The leaves are the first `leaf_count` entries of `nodes`.
  mesh_leaves(const reader& values_of_nodes, const int* nodes, unsigned leaf_count)
      : count(leaf_count), reader_(values_of_nodes), nodes_(nodes) {}

  unsigned count = 0;  ///< number of leaves; of a distributed run, those of this rank

  /// Returns the physics of the run.
  [[nodiscard]] __host__ __device__ const Physics& physics() const { return reader_.physics; }
  /// Returns the level and the index of a leaf.
  [[nodiscard]] __device__ block_place<dim> place(unsigned leaf) const {
    return reader_.tree.place[nodes_[leaf]];
  }
  /// Sets `where` to the center of a cell.
  __device__ void center(unsigned leaf, int cell, real (&where)[dim]) const {
    int at[dim];
    block::coordinates(cell, at);
    reader_.positions.center(place(leaf), at, where);
  }
  /// Returns the length of the cells of a leaf along an axis.
  [[nodiscard]] __device__ real width(unsigned leaf, int axis) const {
    return reader_.positions.spacing(place(leaf).level, axis);
  }
  /// Returns the volume of a cell of a leaf, in two dimensions the area.
  [[nodiscard]] __device__ double volume(unsigned leaf) const {
    double product = 1;
    for (int axis = 0; axis < dim; ++axis) product *= double(width(leaf, axis));
    return product;
  }
  /// Returns the conserved values of a cell.
  [[nodiscard]] __device__ values conserved(unsigned leaf, int cell) const {
    return reader_.u.load(nodes_[leaf], cell);
  }
  /// Returns the primitive values of a cell.
  [[nodiscard]] __device__ values primitive(unsigned leaf, int cell) const {
    return reader_.physics.to_primitive(conserved(leaf, cell));
  }
  /// Returns the primitive values of a cell and of its neighbors along each axis, as a refinement
  /// criterion gets them: those beyond a side are ghost cells, and those in a coarser leaf are
  /// interpolated. Not for distributed runs, in which neighbors may be on other ranks.
  [[nodiscard]] __device__ cell_stencil<values, dim> stencil(unsigned leaf, int cell) const {
    static_assert(std::is_same_v<Slots, detail::amr::slot_by_number>,
                  "mesh_leaves: stencil() needs the whole mesh in one process");
    cell_stencil<values, dim> around;
    around.here = primitive(leaf, cell);
    int at[dim];
    block::coordinates(cell, at);
    for (int axis = 0; axis < dim; ++axis) {
      around.left[axis] = neighbor(leaf, at, axis, 0);
      around.right[axis] = neighbor(leaf, at, axis, 1);
    }
    return around;
  }

 private:
  [[nodiscard]] __device__ values neighbor(unsigned leaf, const int (&at)[dim], int axis,
                                           int side) const {
    const int node = nodes_[leaf];
    if (at[axis] == (side == 0 ? 0 : n - 1)) {
      return reader_.physics.to_primitive(reader_.ghost(node, at, axis, side, 1));
    }
    const int step = side == 0 ? -block::stride(axis) : block::stride(axis);
    return reader_.physics.to_primitive(reader_.u.load(node, block::cell_number(at) + step));
  }

  reader reader_;
  const int* nodes_ = nullptr;
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
