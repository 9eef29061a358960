// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// regions: an initial state that has uniform values in boxes, balls and half-spaces.

#include <cmath>
#include <ramify/amr/physics/ball_overlap.cuh>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A part of space with uniform primitive values.
template <class Real, int dim, int variables>
struct region {
  /// The shapes of a region.
  enum class kind { everywhere, box, ball, half_space };

  kind shape = kind::everywhere;  ///< its shape
  Real point[dim] = {};           ///< the lower corner; the center; a point of the plane
  Real extent[dim] = {};  ///< the upper corner; the radius, in extent[0]; the plane's normal
  state<Real, variables> values{};  ///< its state

  /// Returns whether a point is in the region: in a box, from its lower sides on; in a ball; or on
  /// the side of the plane from which the normal points away.
  [[nodiscard]] __host__ __device__ bool contains(const Real (&where)[dim]) const {
    if (shape == kind::ball) {
      return detail::amr::distance2_between(where, point) < extent[0] * extent[0];
    }
    if (shape == kind::half_space) return height(where) < 0;
    bool inside = true;
    for (int i = 0; shape == kind::box && i < dim; ++i) {
      inside = inside && where[i] >= point[i] && where[i] < extent[i];
    }
    return inside;
  }

  /// Returns whether the surface may cut a cell: false if the region contains all of the cell or
  /// none of it.
  [[nodiscard]] __host__ __device__ bool cuts(const initial_cell<Real, dim>& cell) const {
    if (shape == kind::ball) {
      const double share = detail::amr::overlap_of(cell, point, extent[0]).of_box;
      return share > 0 && share < 1;
    }
    if (shape == kind::half_space) {
      Real reach = 0;  // from the center to the corners, along the normal
      for (int i = 0; i < dim; ++i) reach += std::fabs(extent[i]) * cell.spacing[i] / 2;
      return std::fabs(height(cell.center)) < Real(0.9999) * reach;
    }
    bool overlaps = shape == kind::box;
    bool encloses = true;
    for (int i = 0; i < dim; ++i) {
      // A side this close to a face of the cell counts as in the face.
      const Real least = Real(1e-4) * cell.spacing[i];
      const Real below = cell.center[i] - cell.spacing[i] / 2;
      const Real above = cell.center[i] + cell.spacing[i] / 2;
      overlaps = overlaps && point[i] < above - least && extent[i] > below + least;
      encloses = encloses && point[i] <= below + least && extent[i] >= above - least;
    }
    return overlaps && !encloses;
  }

  /// Returns the length of the smallest feature along an axis; 0 if there is none.
  [[nodiscard]] __host__ __device__ Real width(int axis) const {
    if (shape == kind::ball) return 2 * extent[0];
    return shape == kind::box ? extent[axis] - point[axis] : Real(0);
  }

 private:
  /// Returns how far a point is beyond the plane, in lengths of the normal.
  [[nodiscard]] __host__ __device__ Real height(const Real (&where)[dim]) const {
    Real sum = 0;
    for (int i = 0; i < dim; ++i) sum += detail::amr::times(extent[i], where[i] - point[i]);
    return sum;
  }
};

/// The values of the last region that contains a point. The first region must be everywhere. Beyond
/// the domain the regions continue, so that they are also the Condition of with_boundary: a side
/// that is boundary::prescribed keeps the values of its regions, as an inflow or a nozzle.
template <class Real, int dim, int variables, int most = 12>
struct regions {
  using values = state<Real, variables>;             ///< conserved values of a cell
  using region_type = region<Real, dim, variables>;  ///< a part of the domain

  region_type parts[most];  ///< where several contain a point, the last one counts
  int count = 0;            ///< >= 1

  /// Returns the primitive values at a point.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    int found = 0;
    for (int i = 1; i < count; ++i) found = parts[i].contains(where) ? i : found;
    return parts[found].values;
  }

  /// Returns the averages over a cell, by points. A cell that a surface cuts is divided into 8
  /// parts along each axis, and more if a region is smaller: up to 64, in three dimensions 16.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    constexpr int at_most = dim == 3 ? 16 : 64;
    int pieces[dim];
    for (int& each : pieces) each = 1;
    for (int i = 1; i < count; ++i) {
      if (!parts[i].cuts(cell)) continue;
      for (int axis = 0; axis < dim; ++axis) {
        const Real width = parts[i].width(axis);
        const int wanted =
            width > 0 ? detail::amr::pieces_of(cell.spacing[axis], width / 4, at_most) : 8;
        const int enough = wanted > 8 ? wanted : 8;
        pieces[axis] = enough > pieces[axis] ? enough : pieces[axis];
      }
    }
    return average_by_points(*this, physics, cell, pieces);
  }

  /// Returns the conserved values of a ghost cell.
  template <class Physics>
  [[nodiscard]] __host__ __device__ values operator()(const Physics& physics,
                                                      const values& /*inside*/, int /*axis*/,
                                                      int /*side*/, const Real (&where)[dim],
                                                      Real /*time*/) const {
    return physics.to_conserved((*this)(where));
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
