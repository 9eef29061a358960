// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// with_solid: a solid body in the domain, around which the flow must go. <ramify/amr.cuh> includes
/// this header.
///
///     using gas = with_inflow<with_solid<euler<double, 2>, solid_box<double, 2>>>;
///     gas physics;
///     physics.solid = {{0.6, 0}, {3, 0.2}};   // the step in a channel of 3 x 1
///
/// A cell is solid if its center is. The faces between a solid cell and another one are walls, as
/// boundary::reflecting is, with the values of the cell at the wall, which is of first order. The
/// surface follows the faces of the cells, so a curved or oblique one is a staircase. A step does
/// not change solid cells, a regrid may; their initial values should be those of the gas around.
/// totals() contain them.
///
/// Levels      Whether a cell is solid depends on its size. The mass and the energy of the flow
///             stay as they are if the surface consists of faces of the coarsest cells that it
///             touches: of level 0, or of a level to which with_boxes refines.

#include <ramify/amr/physics_members.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A physics with a solid body.
///
/// `Solid` is a functor, callable on host and device, `bool operator()(const real
/// (&where)[dimensions]) const`. It returns whether a point is in the solid.
template <class Physics, class Solid>
struct with_solid : Physics {
  using values = typename Physics::values;  ///< those of a cell

  Solid solid;  ///< where the solid is

  /// Returns whether a cell with this center is solid.
  [[nodiscard]] __host__ __device__ bool is_solid(detail::amr::point_of<Physics> where) const {
    return solid(where);
  }
};

/// A box whose faces are parallel to the axes, as a Solid or a part of one.
template <class Real, int dim>
struct solid_box {
  Real lower[dim];  ///< a corner
  Real upper[dim];  ///< the opposite corner, above `lower`

  /// Returns whether a point is in the box.
  [[nodiscard]] __host__ __device__ bool operator()(const Real (&where)[dim]) const {
    bool inside = true;
    for (int axis = 0; axis < dim; ++axis) {
      inside = inside && lower[axis] <= where[axis] && where[axis] < upper[axis];
    }
    return inside;
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
