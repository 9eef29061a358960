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
/// L is Godunov's method with linear reconstruction (van Leer 1979), along all axes at once. The
/// flux through a face during the step is dt/2 times the sum of the fluxes of both stages.
///
/// A stage of a block, in the numbering of the code:
///   1  load the block's cells as primitive values
///   for each axis:
///   2  load two ghost cells at each end of each line
///   3  reconstruct, and compute the fluxes through a run of faces
///   4  exchange fluxes at the ends of runs; add fluxes to the registers at coarse-fine faces
///   5  store the new values

#include <ramify/amr/advance_tuning.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A stage of the Runge-Kutta method on one level.
struct rk_stage {
  int index;       ///< 0: first stage, 1: second stage
  double begin;    ///< when this level's step begins, counted in steps of level 0
  double length;   ///< length of this level's step, counted in steps of level 0
  double elapsed;  ///< share of the next coarser level's step that has elapsed
  bool first;      ///< whether it is the first stage within the next coarser level's step
};

/// One thread's part of a stage of one block.
template <class View>
struct block_stage {
  using physics_type = typename View::physics_type;
  using real = typename View::real;
  using values = typename View::values;
  using cells = typename View::cells;
  static constexpr int n = View::cells_along;
  static constexpr int dim = View::dim;
  static constexpr int variables = physics_type::variables;
  using tuning = advance_tuning<physics_type, n>;
  using storage = advance_storage<physics_type, n>;
  using line_type = line_of_cells<physics_type, n>;

  const View& view;
  const rk_stage& stage;
  storage& shared;
  int rank;  ///< rank of the thread in its team
  int node;
  block_place<dim> place;
  real dt;
  real time;
  coarse_fine_faces faces;
  ghost_reader<physics_type, n> ghosts;

  /// The faces [begin, end) of a line; face i is between the cells i - 1 and i.
  struct face_run {
    int axis;
    int number;  ///< number of the run on its line; tuning::runs or more: the thread has no run
    line_type line;
    int begin;
    int end;
    real spacing;
    real ratio;   ///< dt / spacing
    values flux;  ///< flux through the last face so far
  };

  [[nodiscard]] __device__ face_run run_of_this_thread(int axis) const {
    const int number = rank / tuning::lines;
    const line_type line(axis, rank % tuning::lines);
    const int begin = number * tuning::run;
    const int end = begin + tuning::run < n + 1 ? begin + tuning::run : n + 1;
    const real spacing = view.spacing(place.level, axis);
    return {axis, number, line, begin, end, spacing, times(dt, reciprocal(spacing)), {}};
  }

  /// Step 1. Loads the block's cells as primitive values.
  __device__ void load_cells() const {
    // The instruction cache is small: with this loop and the next one unrolled, a stage takes 2 %
    // longer on an H200.
    RAMIFY_NO_UNROLL
    for (int cell = rank; cell < cells::count; cell += tuning::threads) {
      put_primitive(storage::cell_entry(cell), ghosts.u.load(node, cell));
    }
  }

  /// Step 2. Loads the ghost cells of all lines along `axis`.
  __device__ void load_ghosts(int axis) const {
    RAMIFY_NO_UNROLL
    for (int item = rank; item < 2 * cells::ghosts * tuning::lines; item += tuning::threads) {
      const int side = item / (cells::ghosts * tuning::lines);
      const int depth = item / tuning::lines % cells::ghosts + 1;
      const line_type line(axis, item % tuning::lines);
      int at[dim];
      cells::coordinates(line.first + (side == 0 ? 0 : (n - 1) * cells::stride(axis)), at);
      put_primitive(storage::ghost_entry(side, depth) + line.number,
                    ghosts.ghost(node, at, axis, side, depth));
    }
  }

  /// Step 3. Computes the fluxes through a run of faces from limited linear profiles on their two
  /// sides, and adds their differences to the cells between them.
  __device__ void sweep(face_run& run) const {
    int at[dim];
    cells::coordinates(run.line.first, at);
    real center[dim];
    view.center(place, at, center);
    values cell = get_primitive(run.line.place(run.begin - 1));
    values above = get_primitive(run.line.place(run.begin));
    values left = edges_of_cell(view.physics, get_primitive(run.line.place(run.begin - 2)), cell,
                                above, ghosts.limited)
                      .upper;
    RAMIFY_UNROLL
    for (int k = 0; k < tuning::run; ++k) {
      const int face = run.begin + k;
      if (face >= run.end) break;
      const values below = cell;
      cell = above;
      above = get_primitive(run.line.place(face + 1));
      const auto edges = edges_of_cell(view.physics, below, cell, above, ghosts.limited);
      real where[dim];
      for (int a = 0; a < dim; ++a) {
        where[a] =
            a == run.axis ? center[a] + times(real(face) - real(0.5), run.spacing) : center[a];
      }
      const values next = view.physics.flux(left, edges.lower, run.axis, where, time);
      left = edges.upper;
      if (k == 0) {
        for (int v = 0; v < variables; ++v) {
          shared.first_flux[v][run.number][run.line.number] = next[v];
        }
      } else {
        add_change(run, face - 1, run.flux - next);
      }
      run.flux = next;
    }
  }

  /// Step 4. Completes the cell between the last face of this run and the first face of the next
  /// one, and adds the fluxes at the ends of the line to the registers.
  __device__ void close(const face_run& run) const {
    if (run.number == 0) add_to_register(run, 0, first_flux(run, 0));
    if (run.number + 1 < tuning::runs) {
      add_change(run, run.end - 1, run.flux - first_flux(run, run.number + 1));
    } else {
      add_to_register(run, 1, run.flux);
    }
  }

  /// Step 5. Stores the new values.
  __device__ void store_new_values() const {
    for (int cell = rank; cell < cells::count; cell += tuning::threads) {
      values change;
      for (int v = 0; v < variables; ++v) change[v] = shared.change[v][storage::cell_entry(cell)];
      const values u = view.u_new.load(node, cell);
      if (stage.index == 0) {
        view.u_stage.store(node, cell, u + change);
      } else {
        if (view.step.subcycle) view.u_old.store(node, cell, u);
        const values last = view.u_stage.load(node, cell);
        view.u_new.store(node, cell, real(0.5) * (u + (last + change)));
      }
    }
  }

 private:
  __device__ void put_primitive(int at, const values& conserved) const {
    const values primitive = view.physics.to_primitive(conserved);
    for (int v = 0; v < variables; ++v) shared.primitive[v][at] = primitive[v];
  }
  [[nodiscard]] __device__ values get_primitive(int at) const {
    values primitive;
    for (int v = 0; v < variables; ++v) primitive[v] = shared.primitive[v][at];
    return primitive;
  }

  /// Adds the difference of two fluxes to the i-th cell of a line. Along the first axis it replaces
  /// the changes of the block before.
  __device__ void add_change(const face_run& run, int i, const values& difference) const {
    for (int v = 0; v < variables; ++v) {
      real& change = shared.change[v][run.line.own_place(i)];
      const real more = times(run.ratio, difference[v]);
      change = run.axis == 0 ? more : change + more;
    }
  }

  /// The flux through the first face of another run of the same line.
  [[nodiscard]] __device__ values first_flux(const face_run& run, int number) const {
    values first;
    for (int v = 0; v < variables; ++v) first[v] = shared.first_flux[v][number][run.line.number];
    return first;
  }

  /// Adds the flux through a face of the block to its register if the face is a coarse-fine one.
  /// The coarse side sums over one of its steps, the fine side over all of its steps within that.
  __device__ void add_to_register(const face_run& run, int side, const values& flux) const {
    const int face = face_of(run.axis, side);
    const unsigned bit = 1u << face;
    const bool is_fine_side = (faces.to_coarse & bit) != 0;
    if (!is_fine_side && (faces.to_fine & bit) == 0) return;
    const bool restart = is_fine_side ? stage.first : stage.index == 0;
    for (int v = 0; v < variables; ++v) {
      real& sum = view.flux_register_of(node, face, v)[run.line.number];
      const real more = times(real(0.5) * dt, flux[v]);
      sum = restart ? more : sum + more;
    }
  }
};

/// Advances `count` blocks by a stage, each by a team of threads.
///
/// It reads the values of the previous stage in the blocks and around them, and writes those of the
/// next one; so no block waits for another. A block of threads is one team or several; it needs
/// sizeof(advance_storage) bytes of dynamic shared memory for each.
template <class View>
__global__ void __launch_bounds__(
    advance_tuning<typename View::physics_type, View::cells_along>::max_threads, 1)
    advance_blocks(View view, const int* nodes, unsigned count, rk_stage stage) {
  const traced here(view.trace, __func__);
  using part_type = block_stage<View>;
  using real = typename View::real;
  using tuning = typename part_type::tuning;
  using storage = typename part_type::storage;

  const block_team<tuning::threads, tuning::max_teams> team;
  const unsigned number = blockIdx.x * (blockDim.x / tuning::threads) + team.index;
  if (number >= count) return;  // the whole team
  const time_state& clock = view.state->clock;
  if (clock.dt == 0) return;  // no step is left to take
  const int node = nodes[number];
  part_type part{
      view,
      stage,
      (&dynamic_shared<storage>())[team.index],
      static_cast<int>(team.rank),
      node,
      view.tree.place[node],
      static_cast<real>(clock.dt * stage.length),
      static_cast<real>(clock.time + clock.dt * (stage.begin + stage.index * stage.length)),
      view.step.reflux ? view.tree.coarse_fine_faces_of(node) : coarse_fine_faces{},
      view.ghosts(stage.index == 0 ? view.u_new : view.u_stage)};
  if (view.step.subcycle) {
    part.ghosts.coarse_old = view.u_old;
    part.ghosts.coarse_new = view.u_new;
    part.ghosts.elapsed = static_cast<real>(stage.elapsed);
  }

  part.load_cells();
  RAMIFY_NO_UNROLL
  for (int axis = 0; axis < View::dim; ++axis) {
    part.load_ghosts(axis);
    team.sync();
    auto run = part.run_of_this_thread(axis);
    if (run.number < tuning::runs) part.sweep(run);
    team.sync();
    if (run.number < tuning::runs) part.close(run);
  }
  team.sync();
  part.store_new_values();
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
