// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Ghost cells: the values around a block, from its neighbors, from the next coarser level, or from
/// the boundary condition, which may be that of the physics. No other file treats coarse-fine faces
/// of the mesh or boundaries when it reads values. Ghost cells are computed when they are read, and
/// not stored in global memory.
///
/// Each node has values; those of an inner node are the averages of its children. Therefore a leaf
/// next to finer blocks has a neighbor of its own level, their parent. So a face has one of three
/// neighbors: a node of the same level, a coarser leaf, or the boundary of the domain.

#include <ramify/amr/block_cells.cuh>
#include <ramify/amr/mesh.cuh>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/reconstruct.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Reads ghost cells. Values of the next coarser level are interpolated in space, and with
/// subcycling also in time, between the values before and after the coarser level's step.
template <class Physics, int n, class Slots = slot_by_number>
struct ghost_reader {
  static constexpr int dim = Physics::dimensions;
  using real = typename Physics::real;
  using values = typename Physics::values;
  using cells = block_cells<dim, n>;

  mesh_tree<dim> tree;
  Physics physics;
  block_values<Physics, n, Slots>
      u;  ///< values of the node's level; without subcycling of all levels
  block_values<Physics, n, Slots> coarse_old;
  block_values<Physics, n, Slots> coarse_new;
  real elapsed = 0;  ///< share of the coarser level's step; 0: coarse_old, 1: coarse_new
  limiter limited;
  cell_positions<real, dim, n> positions{};
  real time = 0;         ///< of `u`
  real coarse_step = 0;  ///< length of the coarser level's step, at whose ends its values are

  /// Returns the ghost cell `depth` cells (1 or 2, for parabolas up to 3) beyond a face. `at` is
  /// the last cell before the face.
  [[nodiscard]] __device__ values ghost(int node, const int (&at)[dim], int axis, int side,
                                        int depth) const {
    const int neighbor = tree.neighbor[node * tree.faces + face_of(axis, side)];
    if (neighbor >= 0) {
      const int opposite_end = side == 0 ? n - depth : depth - n;
      return u.load(neighbor, cells::cell_number(at) + opposite_end * cells::stride(axis));
    }
    if (neighbor == no_neighbor) return boundary_value(u, node, at, axis, side, depth, time);
    // The first two ghost cells are in the first coarse cell beyond the face, a third one in the
    // next.
    const int coarse = coarse_neighbor(node, axis, side);
    const bool far = depth == 2;
    const int skipped = ghost_layers<Physics> > 2 && depth > 2 ? 1 : 0;
    int there[dim];
    bool upper[dim];  // which half of the coarse cell the ghost cell is in
    for (int a = 0; a < dim; ++a) {
      upper[a] = a == axis ? far != (side == 0) : at[a] % 2 == 1;
      there[a] =
          a == axis ? (side == 0 ? n - 1 - skipped : skipped) : coarse_coordinate(node, at, a);
    }
    const real begin = time - times(elapsed, coarse_step);
    const values before = interpolate(coarse_old, coarse, there, upper, begin);
    if (elapsed == real(0)) return before;
    const values after = interpolate(coarse_new, coarse, there, upper, begin + coarse_step);
    return before * (real(1) - elapsed) + after * elapsed;
  }

  /// Returns the average over one of the 2^dim parts of a cell, with limited slopes. `upper` gives
  /// the half in which the part is along each axis, and `when` the time of the values. The parts of
  /// a cell average to its value, so interpolation is conservative. If a part or its opposite would
  /// be invalid, both get the value of the cell.
  [[nodiscard]] __device__ values interpolate(const block_values<Physics, n, Slots>& from, int node,
                                              const int (&at)[dim], const bool (&upper)[dim],
                                              real when) const {
    const values here = from.load(node, cells::cell_number(at));
    values change{};
    for (int axis = 0; axis < dim; ++axis) {
      const values left = here - whole_neighbor(from, node, at, axis, 0, when);
      const values right = whole_neighbor(from, node, at, axis, 1, when) - here;
      const values quarter = real(0.5) * half_slopes(limited, left, right);
      for (int v = 0; v < Physics::variables; ++v) {
        change[v] += upper[axis] ? quarter[v] : -quarter[v];
      }
    }
    // The opposite part is checked, too, so that the two still average to the cell.
    const values part = here + change;
    return physics.is_valid(part) && physics.is_valid(here - change) ? part : here;
  }

 private:
  __device__ static void copy(const int (&from)[dim], int (&to)[dim]) {
    for (int axis = 0; axis < dim; ++axis) to[axis] = from[axis];
  }

  /// Returns the coarser leaf across a face. It is a neighbor of the parent, because the mesh is
  /// balanced.
  [[nodiscard]] __device__ int coarse_neighbor(int node, int axis, int side) const {
    return tree.neighbor[tree.parent[node] * tree.faces + face_of(axis, side)];
  }

  /// Returns the coordinate, in a block of the next coarser level, of the cell that contains `at`.
  [[nodiscard]] __device__ int coarse_coordinate(int node, const int (&at)[dim], int axis) const {
    return static_cast<int>(tree.place[node].index[axis] & 1) * (n / 2) + at[axis] / 2;
  }

  [[nodiscard]] __device__ values boundary_value(const block_values<Physics, n, Slots>& from,
                                                 int node, const int (&at)[dim], int axis, int side,
                                                 int depth, [[maybe_unused]] real when) const {
    const bool mirror = (tree.reflecting >> face_of(axis, side) & 1) != 0;
    if constexpr (has_ghost_state<Physics>) {
      if (tree.sides[axis][side] == boundary::prescribed) {
        return prescribed_value(from, node, at, axis, side, depth, when);
      }
    }
    const int inward = mirror ? depth - 1 : 0;
    const int steps = (side == 0 ? inward : -inward) * cells::stride(axis);
    const values value = from.load(node, cells::cell_number(at) + steps);
    return mirror ? physics.reflected(value, axis) : value;
  }

  /// Returns what the physics prescribes `depth` cells beyond the face, from the mirror image.
  [[nodiscard]] __device__ values prescribed_value(const block_values<Physics, n, Slots>& from,
                                                   int node, const int (&at)[dim], int axis,
                                                   int side, int depth, real when) const {
    const int outward = side == 0 ? -1 : 1;
    int there[dim];
    copy(at, there);
    there[axis] += outward * depth;
    real where[dim];
    positions.center(tree.place[node], there, where);
    there[axis] = at[axis] - outward * (depth - 1);
    const values inside = from.load(node, cells::cell_number(there));
    return physics.ghost_state(inside, axis, side, where, when);
  }

  /// Returns the neighbor of a cell along `axis`, for slopes: a coarser cell is not interpolated.
  [[nodiscard]] __device__ values whole_neighbor(const block_values<Physics, n, Slots>& from,
                                                 int node, const int (&at)[dim], int axis, int side,
                                                 real when) const {
    int there[dim];
    copy(at, there);
    there[axis] += side == 0 ? -1 : 1;
    if (there[axis] >= 0 && there[axis] < n) return from.load(node, cells::cell_number(there));
    const int neighbor = tree.neighbor[node * tree.faces + face_of(axis, side)];
    if (neighbor == no_neighbor) return boundary_value(from, node, at, axis, side, 1, when);
    there[axis] = side == 0 ? n - 1 : 0;
    if (neighbor >= 0) return from.load(neighbor, cells::cell_number(there));
    for (int a = 0; a < dim; ++a) {
      if (a != axis) there[a] = coarse_coordinate(node, at, a);
    }
    return from.load(coarse_neighbor(node, axis, side), cells::cell_number(there));
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
