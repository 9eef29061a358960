// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Keeps the cells of a gas valid during a step: fluxes of first order where those of second order
/// take too much out of a cell, and floors for what is left. A physics has both if it has the
/// members fallback_flux() and at_floors(); with_positivity adds them.
///
/// A step adds the fluxes through all faces of a cell at once. It is the mean of steps that add one
/// flux each, with a larger ratio of the length of the step to the length of the cell. If the
/// values after each of these partial steps are valid, those after the step are. A partial step
/// reads the two cells at a face, nothing else. So both blocks at a face decide alike, and the flux
/// stays the same for both: it is conservative, and ranks need not communicate.
///
/// Source: X. Y. Hu, N. A. Adams, C.-W. Shu, J. Comput. Phys. 242 (2013) 169, there with a mixture
/// of the two fluxes. The weight of an axis in the mean is what the waves in the cell need for a
/// stable partial step, and an equal share of what all axes leave. So a flow in which nothing
/// changes passes the check if cfl is at most 0.5. A magnetic field can take more momentum through
/// one face than a partial step allows, also in a plasma at rest. So a plasma counts the flux minus
/// that of the cell itself, which cancels in the sum over the two faces along an axis.

#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/rk_stage.cuh>
#include <ramify/amr/run_view.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Face `number` of a line along `axis` of a block's cells, with the primitive values of the cells
/// on its two sides.
template <class View>
struct cell_face {
  const typename View::values& lower;
  const typename View::values& upper;
  int axis;
  int number;
  int level;                                      ///< of the block
  const typename View::real (&where)[View::dim];  ///< the center of the face
};

/// Returns how many times a flux per area changes a cell at a face in its partial step.
template <class View>
[[nodiscard]] __device__ typename View::real partial_step(
    const View& view, const cell_face<View>& face, const typename View::values& primitive,
    const stage_clock<typename View::real>& now) {
  using real = typename View::real;
  const real twice = 2 * now.dt;  // a cell has two faces along an axis
  real needed = 0;                // by the waves along the axis, of the weight 1
  real all_needed = 0;
  for (int axis = 0; axis < View::dim; ++axis) {
    const real speed = view.physics.max_wave_speed(primitive, axis, face.where, now.time);
    const real crossed = times(times(twice, speed), reciprocal(view.spacing(face.level, axis)));
    all_needed += crossed;
    needed = axis == face.axis ? crossed : needed;
  }
  const real weight = all_needed < 1 ? needed + times(1 - all_needed, real(1) / View::dim)
                                     : quotient(needed, all_needed);
  return weight > 0 ? quotient(twice, times(weight, view.spacing(face.level, face.axis))) : real(0);
}

/// Step 3. Replaces a flux by that of first order if it makes a cell at the face invalid, and marks
/// the cell.
template <class View>
__device__ void keep_valid(const View& view, storage_of<View>& shared, const line_of<View>& line,
                           const cell_face<View>& face, const stage_clock<typename View::real>& now,
                           typename View::values& flux) {
  bool is_valid = true;
  RAMIFY_NO_UNROLL
  for (int side = 0; side < 2; ++side) {
    const typename View::values& primitive = side == 0 ? face.lower : face.upper;
    typename View::values more = flux;
    if constexpr (has_magnetic_field<typename View::physics_type>)
      more = flux - view.physics.flux(primitive, primitive, face.axis, face.where, now.time);
    const auto change = partial_step(view, face, primitive, now) * more;
    const auto cell = view.physics.to_conserved(primitive);
    if (view.physics.is_valid(side == 0 ? cell - change : cell + change)) continue;
    is_valid = false;
    const int i = face.number - 1 + side;
    const bool is_own = 0 <= i && i < View::cells_along;
    // The threads of both faces of the cell along the axis may mark it.
    if (is_own) atomicOr(&shared.is_marked[line.own_place(i)], 1u);
  }
  if (is_valid) return;
  flux = view.physics.fallback_flux(face.lower, face.upper, face.axis, face.where, now.time);
}

/// Counts the cells of a thread that a stage of a step keeps valid.
template <class Physics>
struct kept_cells {
  unsigned by_fluxes = 0;
  unsigned by_floors = 0;

  /// Counts a cell if it is marked.
  template <class Storage>
  __device__ void count_marked([[maybe_unused]] const Storage& shared, [[maybe_unused]] int entry) {
    if constexpr (has_fallback_flux<Physics>) by_fluxes += shared.is_marked[entry];
  }

  /// Raises conserved values to the floors of the physics. Returns whether they were below.
  __device__ bool raise([[maybe_unused]] const Physics& physics,
                        [[maybe_unused]] typename Physics::values& u) {
    if constexpr (has_raising_floors<Physics>) {
      if (physics.is_above_floors(u)) return false;
      u = physics.at_floors(u);
      ++by_floors;
      return true;
    } else {
      return false;
    }
  }

  /// Adds the numbers to those of the run, if the cells are those of a leaf.
  template <class View>
  __device__ void add_to([[maybe_unused]] const View& view, [[maybe_unused]] int node) const {
    if constexpr (has_fallback_flux<Physics> || has_raising_floors<Physics>) {
      if (!view.tree.is_leaf(node)) return;
      kept_state& kept = view.state->kept;
      if (by_fluxes > 0) atomicAdd(&kept.by_fluxes, 1ull * by_fluxes);
      if (by_floors > 0) atomicAdd(&kept.by_floors, 1ull * by_floors);
    }
  }
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
