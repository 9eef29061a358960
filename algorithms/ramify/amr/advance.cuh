// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// advance_blocks: one stage of a time step, block by block.
///
/// Two stages make a step of second order in time that preserves the bounds of an Euler step
/// (SSP-RK2; Shu & Osher, J. Comput. Phys. 77 (1988) 439):
///
///     u_stage = u_new + dt L(u_new)
///     u_new   = (u_new + u_stage + dt L(u_stage)) / 2
///
/// L is Godunov's method with linear reconstruction (van Leer 1979), or with parabolas if the
/// physics has them (with_ppm), along all axes at once, plus the source of the physics. The flux
/// through a face during the step is dt/2 times the sum of the fluxes of both stages.
///
/// An implicit source acts after each line above, for dt after the first one. After the second one
/// it acts for dt/2, because u_stage contains the other half.
///
/// A stage of a block, in the numbering of the code:
///   1  load the block's cells as primitive values
///   for each axis:
///   2  load two ghost cells at each end of each line, for parabolas three
///   3  reconstruct, and compute the fluxes through a run of faces; replace those that would make
///      a cell invalid, if the physics has a fallback_flux() (keep_valid.cuh), and those at the
///      surface of a solid, if it has is_solid() (solid_faces.cuh)
///   4  exchange fluxes at the ends of runs; add fluxes to the registers at coarse-fine faces
///   5  add the sources, if the physics has any; raise values to floors, if it has at_floors();
///      store the new values
///   6  if the block has coarser neighbors: average down to its parent, which they read

#include <ramify/amr/advance_cells.cuh>
#include <ramify/amr/solid_faces.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Advances the blocks of cells of `nodes` by a stage, each by a block of threads.
///
/// It reads the values of the previous stage in the blocks and around them, and writes those of the
/// next one; so no block waits for another. A block has tuning::threads threads, and needs
/// sizeof(advance_storage) bytes of dynamic shared memory. Step 3 has no function of its own: with
/// one, the kernel takes 3 % longer on an H200, because it keeps fewer values in registers. With
/// __syncthreads() instead of the barrier of a team, which is the whole block, it takes 3 % longer
/// in double and 10 % in float on an H100.
template <class View>
__global__ void __launch_bounds__(tuning_of<View>::bounds, 1)
    advance_blocks(View view, const int* nodes, rk_stage stage) {
  const traced here(view.trace, __func__);
  constexpr int dim = View::dim;
  using real = typename View::real;
  using values = typename View::values;
  using tuning = tuning_of<View>;

  const block_team<tuning::threads, 1> team;
  storage_of<View>& shared = dynamic_shared<storage_of<View>>();
  const auto rank = static_cast<int>(team.rank);
  // The second stage begins with the blocks that the first one wrote last: they are in the cache.
  const int node = nodes[stage.index == 0 ? blockIdx.x : gridDim.x - 1 - blockIdx.x];
  const auto place = view.tree.place[node];
  const interface_faces faces = view.tree.at_interface[node];
  // The previous grid of the step does not change the mesh, so the reads above do not wait for it.
  grid_dependency_synchronize();
  const time_state& clock = view.state->clock;
  if (clock.dt == 0) return;  // no step is left to take
  const stage_clock<real> now(clock, stage);
  set_step_speed(view, place.level, now);
  ghosts_of<View> ghosts = view.ghosts(stage.index == 0 ? view.u_new : view.u_stage, now.time);
  if (view.step.subcycle) {
    ghosts.coarse_old = view.u_old;
    ghosts.coarse_new = view.u_new;
    ghosts.elapsed = static_cast<real>(stage.elapsed);
    ghosts.coarse_step = 2 * now.dt;
  }

  load_cells(view, ghosts, shared, node, rank);
  RAMIFY_NO_UNROLL
  for (int axis = 0; axis < dim; ++axis) {
    if (axis % tuning::axes_with_ghosts == 0) {
      load_ghosts(view, ghosts, shared, node, axis, rank);
    }
    team.sync();

    // Step 3. Compute the fluxes through the faces [begin, end) of a line from limited profiles on
    // their two sides, and add their differences to the cells between them. Face i is between the
    // cells i - 1 and i. A thread whose run is not on the line has no faces.
    const int run = rank / tuning::lines;
    const line_of<View> line(axis, rank % tuning::lines);
    const int begin = run * tuning::run;
    const int end =
        begin + tuning::run < View::cells_along + 1 ? begin + tuning::run : View::cells_along + 1;
    const real spacing = view.spacing(place.level, axis);
    const real ratio = times(now.dt, reciprocal(spacing));
    values flux{};  // through the last face so far
    if (run < tuning::runs) {
      int at[dim];
      View::cells::coordinates(line.first, at);
      real center[dim];
      view.center(place, at, center);
      values cell = get_primitive<View>(shared, line.place(begin - 1));
      values above = get_primitive<View>(shared, line.place(begin));
      values left = edges_on_line(view, shared, line, begin - 1,
                                  get_primitive<View>(shared, line.place(begin - 2)), cell, above,
                                  ghosts.limited)
                        .upper;
      RAMIFY_UNROLL
      for (int k = 0; k < tuning::run; ++k) {
        const int face = begin + k;
        if (face >= end) break;
        const values below = cell;
        cell = above;
        above = get_primitive<View>(shared, line.place(face + 1));
        const auto edges =
            edges_on_line(view, shared, line, face, below, cell, above, ghosts.limited);
        real where[dim];
        for (int a = 0; a < dim; ++a) {
          where[a] = a == axis ? center[a] + times(real(face) - real(0.5), spacing) : center[a];
        }
        values next = view.physics.flux(left, edges.lower, axis, where, now.time);
        if constexpr (has_fallback_flux<typename View::physics_type>)
          keep_valid(view, shared, line, {below, cell, axis, face, place.level, where}, now, next);
        if constexpr (has_solid<typename View::physics_type>)
          block_by_solid(view, place, at, {below, cell, axis, face, place.level, where}, now, next);
        left = edges.upper;
        if (k == 0) {
          set_first_flux<View>(shared, run, line.number, next);
        } else {
          add_change<View>(shared, line, ratio, axis, face - 1, flux - next);
        }
        flux = next;
      }
    }
    team.sync();

    // Step 4. Complete the cell between the last face of this run and the first face of the next
    // one, and add the fluxes at the ends of the line to the registers.
    if (run < tuning::runs) {
      const auto add_to_register = [&](int side, const values& of_end) {
        if (!view.step.reflux) return;
        const unsigned bit = 1u << face_of(axis, side);
        const bool is_fine_side = (faces.to_coarse & bit) != 0;
        if (!is_fine_side && (faces.to_fine & bit) == 0) return;
        const bool restart = is_fine_side ? stage.first : stage.index == 0;
        for (int v = 0; v < View::physics_type::variables; ++v) {
          real& sum = view.flux_register_of(node, face_of(axis, side), v)[line.number];
          const real more = times(real(0.5) * now.dt, of_end[v]);
          sum = restart ? more : sum + more;
        }
      };
      if (run == 0) add_to_register(0, first_flux<View>(shared, 0, line.number));
      if (run + 1 < tuning::runs) {
        add_change<View>(shared, line, ratio, axis, end - 1,
                         flux - first_flux<View>(shared, run + 1, line.number));
      } else {
        add_to_register(1, flux);
      }
    }
  }
  team.sync();
  // Coarser leaves read the parent. If fluxes are corrected later, begin_step() averages.
  const bool is_corrected = stage.index == 1 && view.step.reflux && faces.to_fine != 0;
  const bool averages = faces.to_coarse != 0 && !view.step.subcycle && !is_corrected;
  store_new_values(view, stage, now, shared, node, rank, averages);
  if (!averages) return;
  team.sync();
  average_to_parent(view, stage.index == 0 ? view.u_stage : view.u_new, shared, node, rank);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
