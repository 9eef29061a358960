// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The averages of an initial state over cells.
///
/// A run evaluates an initial state at 3 Gauss points along each axis of a cell. These averages are
/// exact for polynomials up to the fifth degree. They can miss a feature that is smaller than a
/// cell, such as a blast, and then a run has another mass or energy than intended. An initial state
/// with such features has a member that computes the averages itself:
///
///     template <class Physics>
///     __device__ values average(const Physics& physics,
///                                        const initial_cell<Real, dim>& cell) const;
///
/// It returns the averages of the conserved values over a cell, and the run calls it instead of
/// operator() for each cell of each level while it builds the first mesh. `physics.to_conserved()`
/// converts primitive values. For cells without such a feature, the member can call
/// average_by_points(). problems.cuh has examples.

#include <cmath>
#include <ramify/amr/mesh.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A cell of the mesh that is built. Its corners are of type double also if Real is float: cells
/// that share a corner, of one level or of several, have the same bits there.
template <class Real, int dim>
struct initial_cell {
  Real center[dim];   ///< of the cell
  Real spacing[dim];  ///< lengths of the edges
  double lower[dim];  ///< the lower corner
  double upper[dim];  ///< the upper corner
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Returns cell `at` of a block. `View` has the functions center, spacing and edge of a run_view.
template <class View>
[[nodiscard]] __device__ initial_cell<typename View::real, View::dim> initial_cell_of(
    const View& view, const block_place<View::dim>& block, const int (&at)[View::dim]) {
  initial_cell<typename View::real, View::dim> cell;
  view.center(block, at, cell.center);
  for (int axis = 0; axis < View::dim; ++axis) {
    cell.spacing[axis] = view.spacing(block.level, axis);
    cell.lower[axis] = view.edge(block, axis, at[axis]);
    cell.upper[axis] = view.edge(block, axis, at[axis] + 1);
  }
  return cell;
}

/// Returns the average of the conserved values over a box, by 3 Gauss points along each axis.
template <class Initial, class Physics, class Real, int dim>
[[nodiscard]] __device__ typename Physics::values average_over_box(const Initial& initial,
                                                                   const Physics& physics,
                                                                   const Real (&center)[dim],
                                                                   const Real (&edges)[dim]) {
  using values = typename Physics::values;
  constexpr int corners = 1 << dim;
  // For each subset of the axes: the points that are off the center along these axes.
  return sum_over_corners<corners>([&](int axes) {
    Real share = 1;
    for (int axis = 0; axis < dim; ++axis) share *= (axes >> axis & 1 ? Real(5) : Real(8)) / 18;
    return share * sum_over_corners<corners>([&](int sides) {
             if ((sides & ~axes) != 0) return values{};
             Real where[dim];
             for (int axis = 0; axis < dim; ++axis) {
               const Real away = times(Real(0.3872983346207417), edges[axis]);
               where[axis] = (axes >> axis & 1) == 0    ? center[axis]
                             : (sides >> axis & 1) == 0 ? center[axis] - away
                                                        : center[axis] + away;
             }
             return physics.to_conserved(initial(where));
           });
  });
}

/// Returns the part of a cell that is below a plane orthogonal to `axis`: exactly 0 or 1 if the
/// plane does not cut the cell. A plane is in a face if the distance is that of rounding errors of
/// the positions.
template <class Real, int dim>
[[nodiscard]] __device__ Real part_below(const initial_cell<Real, dim>& cell, int axis,
                                         Real position) {
  const double edge = cell.upper[axis] - cell.lower[axis];
  const double part = (static_cast<double>(position) - cell.lower[axis]) / edge;
  constexpr double epsilon = sizeof(Real) > 4 ? 0x1p-52 : 0x1p-23;
  const double size = std::fmax(std::fabs(static_cast<double>(position)), edge);
  const double least = std::fmin(4 * epsilon * size / edge, 0.5);
  return part < least ? Real(0) : part > 1 - least ? Real(1) : static_cast<Real>(part);
}

/// Returns the number of parts, in [1, most], that have at most the length `wanted`.
template <class Real>
[[nodiscard]] __device__ int pieces_of(Real length, Real wanted, int most) {
  const Real count = std::ceil(length / wanted);
  return count < static_cast<Real>(most) ? (count > 1 ? static_cast<int>(count) : 1) : most;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the average of the conserved values over a cell. The cell is divided into `pieces` equal
/// parts along each axis, >= 1, and each part has 3 Gauss points along each axis.
/// \param initial  `initial(where)` returns the primitive values at a point
template <class Initial, class Physics, class Real, int dim>
[[nodiscard]] __device__ typename Physics::values average_by_points(
    const Initial& initial, const Physics& physics, const initial_cell<Real, dim>& cell,
    const int (&pieces)[dim]) {
  int count = 1;
  Real edges[dim];
  for (int axis = 0; axis < dim; ++axis) {
    count *= pieces[axis];
    edges[axis] = cell.spacing[axis] / static_cast<Real>(pieces[axis]);
  }
  const auto average_of_piece = [&](int piece) {
    Real center[dim];
    for (int axis = 0; axis < dim; ++axis) {
      const auto number = static_cast<Real>(piece % pieces[axis]);
      const auto offset = number - static_cast<Real>(pieces[axis] - 1) / 2;
      center[axis] = cell.center[axis] + detail::amr::times(offset, edges[axis]);
      piece /= pieces[axis];
    }
    return detail::amr::average_over_box(initial, physics, center, edges);
  };
  // Opposite pieces are added first, so that pieces along one axis keep mirror images equal.
  typename Physics::values sum{};
  for (int piece = 0; 2 * piece + 1 < count; ++piece) {
    sum += average_of_piece(piece) + average_of_piece(count - 1 - piece);
  }
  if (count == 1) return average_of_piece(0);
  if (count % 2 == 1) sum += average_of_piece(count / 2);
  return (Real(1) / static_cast<Real>(count)) * sum;
}

/// Returns the average of the conserved values over a cell, by 3 Gauss points along each axis.
template <class Initial, class Physics, class Real, int dim>
[[nodiscard]] __device__ typename Physics::values average_by_points(
    const Initial& initial, const Physics& physics, const initial_cell<Real, dim>& cell) {
  return detail::amr::average_over_box(initial, physics, cell.center, cell.spacing);
}

/// Returns `initial.average(physics, cell)` if the initial state has this member, else
/// average_by_points().
template <class Initial, class Physics, class Real, int dim>
[[nodiscard]] __device__ typename Physics::values average_of(const Initial& initial,
                                                             const Physics& physics,
                                                             const initial_cell<Real, dim>& cell) {
  if constexpr (requires { initial.average(physics, cell); }) {
    return initial.average(physics, cell);
  } else {
    return average_by_points(initial, physics, cell);
  }
}

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
