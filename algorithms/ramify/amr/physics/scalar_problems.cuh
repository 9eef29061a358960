// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The initial states of standard problems of a concentration. problems.cuh describes the functors.

#include <cmath>
#include <numbers>
#include <ramify/amr/physics/ball_overlap.cuh>
#include <ramify/amr/physics/cell_average.cuh>
#include <ramify/amr/state.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// The value is exp(-r^2 / (2 width^2)), smooth everywhere. Domain: the unit square (cube),
/// periodic. With the default width and the center of the domain as its center, the values at the
/// boundary are negligible. With a uniform_velocity of whole numbers it returns to its initial
/// state at time 1.
template <class Real, int dim>
struct gaussian {
  using values = state<Real, 1>;  ///< the values of a cell

  Real center[dim];         ///< of the hump
  Real width = Real(0.05);  ///< standard deviation, > 0
  Real height = 1;          ///< above the background
  Real background = 0;      ///< value far from the center

  /// Returns the value at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real r2 = detail::amr::distance2_between(where, center);
    return {background + detail::amr::times(height, std::exp(-r2 / (2 * width * width)))};
  }

  /// Returns the average over a cell: exact for cells larger than `width`.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    bool is_resolved = true;
    double hill = 1;
    const double unit = std::numbers::sqrt2 * double(width);
    for (int i = 0; i < dim; ++i) {
      is_resolved = is_resolved && !(cell.spacing[i] > width);
      const double from = (cell.lower[i] - double(center[i])) / unit;
      const double to = (cell.upper[i] - double(center[i])) / unit;
      // The integral of exp(-x^2) is erf(x) sqrt(pi) / 2.
      hill *= (std::erf(to) - std::erf(from)) / (std::numbers::inv_sqrtpi * 2 * (to - from));
    }
    if (is_resolved) return average_by_points(*this, physics, cell);
    return physics.to_conserved({background + detail::amr::times(height, static_cast<Real>(hill))});
  }
};

/// The value is (1 + cos(pi r / radius)) / 2 inside the radius, and 0 outside. Its slope is
/// continuous. R. J. LeVeque, SIAM J. Numer. Anal. 33 (1996) 627, uses half the height. With
/// reversing_vortex the customary center is (0.5, 0.75), in 3D (0.35, 0.35, 0.35), and the radius
/// 0.15.
template <class Real, int dim>
struct cosine_hump {
  using values = state<Real, 1>;  ///< the values of a cell

  Real center[dim];          ///< of the hump
  Real radius = Real(0.15);  ///< > 0

  /// Returns the value at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real r = std::sqrt(detail::amr::distance2_between(where, center)) / radius;
    if (!(r < 1)) return {Real(0)};
    return {Real(0.5) * (1 + std::cos(std::numbers::pi_v<Real> * r))};
  }

  /// Returns the average over a cell. In cells larger than half the radius, the part around the
  /// hump is divided into 8 pieces along each axis.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    initial_cell<Real, dim> around = cell;
    int pieces[dim];
    Real share = 1;
    bool is_resolved = true;
    for (int i = 0; i < dim; ++i) {
      is_resolved = is_resolved && !(cell.spacing[i] > radius / 2);
      const double from = std::fmax(cell.lower[i], double(center[i]) - double(radius));
      const double to = std::fmin(cell.upper[i], double(center[i]) + double(radius));
      if (!(to > from)) return average_by_points(*this, physics, cell);
      around.center[i] = static_cast<Real>(0.5 * (from + to));
      around.spacing[i] = static_cast<Real>(to - from);
      share *= static_cast<Real>((to - from) / (cell.upper[i] - cell.lower[i]));
      pieces[i] = 8;
    }
    if (is_resolved) return average_by_points(*this, physics, cell);
    return share * average_by_points(*this, physics, around, pieces) +
           (1 - share) * physics.to_conserved({Real(0)});
  }
};

/// The value is 1 in a ball and 0 outside. With reversing_vortex it has the center and radius of
/// cosine_hump; in 2D the vortex stretches it to a filament (W. J. Rider, D. B. Kothe, J. Comput.
/// Phys. 141 (1998) 112), in 3D to a sheet (Enright et al., advection.cuh).
template <class Real, int dim>
struct solid_ball {
  using values = state<Real, 1>;  ///< the values of a cell

  Real center[dim];          ///< of the ball
  Real radius = Real(0.15);  ///< > 0

  /// Returns the value at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    return {detail::amr::distance2_between(where, center) < radius * radius ? Real(1) : Real(0)};
  }

  /// Returns the average over a cell, exact up to rounding.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    const double share = detail::amr::overlap_of(cell, center, radius).of_box;
    if (share == 0 || share == 1) return average_by_points(*this, physics, cell);
    return physics.to_conserved({static_cast<Real>(share)});
  }
};

/// The value is 1 in a disc with a slot from below, and 0 outside. S. T. Zalesak, J. Comput. Phys.
/// 31 (1979) 335, scaled to the unit square: radius 0.15 around (0.5, 0.75), a slot 0.05 wide that
/// ends 0.1 above the center. In 3D it is a cylinder along z.
template <class Real, int dim>
struct slotted_disc {
  static_assert(dim == 2 || dim == 3);
  using values = state<Real, 1>;  ///< the values of a cell

  Real center[2] = {Real(0.5), Real(0.75)};  ///< of the disc
  Real radius = Real(0.15);                  ///< > 0
  Real slot_width = Real(0.05);              ///< along x
  Real slot_top = Real(0.1);                 ///< above the center

  /// Returns the value at the beginning.
  [[nodiscard]] __host__ __device__ values operator()(const Real (&where)[dim]) const {
    const Real here[2] = {where[0], where[1]};
    const bool in_disc = detail::amr::distance2_between(here, center) < radius * radius;
    const bool in_slot =
        std::fabs(where[0] - center[0]) < slot_width / 2 && where[1] - center[1] < slot_top;
    return {in_disc && !in_slot ? Real(1) : Real(0)};
  }

  /// Returns the average over a cell, exact up to rounding.
  template <class Physics>
  [[nodiscard]] __device__ values average(const Physics& physics,
                                          const initial_cell<Real, dim>& cell) const {
    const double middle[2] = {double(center[0]), double(center[1])};
    const double half = double(slot_width) / 2;
    const double lower[2] = {cell.lower[0], cell.lower[1]};
    const double upper[2] = {cell.upper[0], cell.upper[1]};
    double share = detail::amr::overlap_with_ball(lower, upper, middle, double(radius)).of_box;
    // The part of the cell in the slot.
    const double from[2] = {std::fmax(lower[0], middle[0] - half), lower[1]};
    const double to[2] = {std::fmin(upper[0], middle[0] + half),
                          std::fmin(upper[1], middle[1] + double(slot_top))};
    if (to[0] > from[0] && to[1] > from[1]) {
      const double part =
          (to[0] - from[0]) / (upper[0] - lower[0]) * ((to[1] - from[1]) / (upper[1] - lower[1]));
      share -= part * detail::amr::overlap_with_ball(from, to, middle, double(radius)).of_box;
    }
    if (!(share > 0 && share < 1)) return average_by_points(*this, physics, cell);
    return physics.to_conserved({static_cast<Real>(share)});
  }
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
