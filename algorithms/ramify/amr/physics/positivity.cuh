// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// with_positivity: a gas whose density and pressure stay positive, also near a vacuum and at any
/// Mach number. <ramify/amr.cuh> includes this header.
///
///     using gas = with_positivity<euler<double, 2>>;
///     amr_run run(gas{}, gradient_criterion<gas>{}, initial, options);
///     run.advance_to(1);
///     run.report().fallback_cells;   // how often a cell got fluxes of first order
///     run.report().floored_cells;    // how often a cell was raised to the floors
///
/// Where the fluxes of a step would make a cell invalid (keep_valid.cuh), a flux of first order
/// replaces them: that of Rusanov, V. V. Rusanov, USSR Comput. Math. Math. Phys. 1 (1962) 304. It
/// keeps cells positive in each stage if amr_options::step.cfl is at most 1 / (2 dim + 2), and with
/// longer steps nearly always. For a plasma this holds only where the discrete divergence of the
/// field is 0 (K. Wu, SIAM J. Numer. Anal. 56 (2018) 2124). The totals stay as they are, up to
/// rounding. What is nevertheless below the floors of the gas is raised to them: after a longer
/// step, a flux correction, a source, or rounding where nearly all energy is kinetic. That changes
/// the totals.
///
/// Cost        A flow that needs neither has the bits of a gas without this addition. A step takes
///             longer, because each flux is checked for two cells.
/// Not for     An invalid cell of the initial state, and NaN, which end a run with amr_error.

#include <limits>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/rounding.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::inline RAMIFY_BUILD {

/// A gas with the optional members fallback_flux() and at_floors().
///
/// `Physics` is like euler, also with scalars: it has the constants density, pressure and energy,
/// the members density_floor and pressure_floor, and is_above_floors().
template <class Physics>
struct with_positivity : Physics {
  using real = typename Physics::real;      ///< the number type
  using values = typename Physics::values;  ///< those of a cell

  /// Returns Rusanov's flux between two cells of constant primitive values. The parameters are
  /// those of flux().
  [[nodiscard]] __host__ __device__ values fallback_flux(const values& left, const values& right,
                                                         int axis,
                                                         detail::amr::point_of<Physics> where,
                                                         real time) const {
    const real left_speed = this->max_wave_speed(left, axis, where, time);
    const real right_speed = this->max_wave_speed(right, axis, where, time);
    const real speed = left_speed > right_speed ? left_speed : right_speed;
    const values both =
        this->flux(left, left, axis, where, time) + this->flux(right, right, axis, where, time);
    const values jump = this->to_conserved(right) - this->to_conserved(left);
    return real(0.5) * (both - speed * jump);
  }

  /// Returns conserved values whose density and pressure are at least the floors. If the density is
  /// below its floor, the cell becomes a gas at rest with both floors, without scalars, and keeps a
  /// magnetic field. Otherwise only the energy changes. If the kinetic and the magnetic energy are
  /// so large that rounding would take the pressure away, the pressure becomes larger than its
  /// floor.
  [[nodiscard]] __host__ __device__ values at_floors(values conserved) const {
    using detail::amr::times;
    if (conserved[Physics::density] < this->density_floor) {
      values vacuum{};
      vacuum[Physics::density] = this->density_floor;
      vacuum[Physics::pressure] = this->pressure_floor;
      if constexpr (detail::amr::has_magnetic_field<Physics>) {
        for (int v = Physics::first_magnetic; v <= Physics::psi; ++v) vacuum[v] = conserved[v];
      }
      return this->to_conserved(vacuum);
    }
    values primitive = this->to_primitive(conserved);  // its pressure is at least the floor
    const real raised = this->to_conserved(primitive)[Physics::energy];
    primitive[Physics::pressure] = 0;
    const real kinetic = this->to_conserved(primitive)[Physics::energy];
    const real least = times(kinetic, above_rounding);
    conserved[Physics::energy] = raised > least ? raised : least;
    return conserved;
  }

 private:
  static constexpr real above_rounding = 1 + 16 * std::numeric_limits<real>::epsilon();
};

}  // namespace ramify::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
