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
///   6  if the block has coarser neighbors: average down to its parent, which they read

#include <ramify/amr/advance_tuning.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/team.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// A stage of the Runge-Kutta method on one level.
struct rk_stage {
  int index;               ///< 0: first stage, 1: second stage
  double begin;            ///< when this level's step begins, counted in steps of level 0
  double length;           ///< length of this level's step, counted in steps of level 0
  double elapsed;          ///< share of the next coarser level's step that has elapsed
  bool first;              ///< whether it is the first stage within the next coarser level's step
  bool keeps_old = false;  ///< whether finer levels read the values before this step
};

template <class View>
using tuning_of = advance_tuning<typename View::physics_type, View::cells_along>;
/// The shared memory of a team.
template <class View>
using storage_of = advance_storage<typename View::physics_type, View::cells_along>;
template <class View>
using line_of = line_of_cells<typename View::physics_type, View::cells_along>;
template <class View>
using ghosts_of = typename View::ghosts_type;

template <class View>
__device__ void put_primitive(const View& view, storage_of<View>& shared, int at,
                              const typename View::values& conserved) {
  const auto primitive = view.physics.to_primitive(conserved);
  for (int v = 0; v < View::physics_type::variables; ++v) shared.primitive[v][at] = primitive[v];
}
template <class View>
[[nodiscard]] __device__ typename View::values get_primitive(const storage_of<View>& shared,
                                                             int at) {
  typename View::values primitive;
  for (int v = 0; v < View::physics_type::variables; ++v) primitive[v] = shared.primitive[v][at];
  return primitive;
}

/// Step 1. Loads the block's cells as primitive values. `rank` is that of the thread in its team.
template <class View>
__device__ void load_cells(const View& view, const ghosts_of<View>& ghosts,
                           storage_of<View>& shared, int node, int rank) {
  using cells = typename View::cells;
  for (int cell = rank; cell < cells::count; cell += tuning_of<View>::threads) {
    put_primitive(view, shared, storage_of<View>::cell_entry(cell), ghosts.u.load(node, cell));
  }
}

/// Step 2. Loads the ghost cells of all lines along `axis` and, if there is space, along the next
/// axes.
template <class View>
__device__ void load_ghosts(const View& view, const ghosts_of<View>& ghosts,
                            storage_of<View>& shared, int node, int axis, int rank) {
  using cells = typename View::cells;
  using storage = storage_of<View>;
  constexpr int lines = tuning_of<View>::lines;
  constexpr int of_axis = storage::ghosts_of_axis;
  constexpr int axes = tuning_of<View>::axes_with_ghosts;
  for (int item = rank; item < axes * of_axis; item += tuning_of<View>::threads) {
    const int along = axes == 1 ? axis : axis + item / of_axis;
    const int i = axes == 1 ? item : item % of_axis;
    const int side = i / (cells::ghosts * lines);
    const int depth = i / lines % cells::ghosts + 1;
    const line_of<View> line(along, i % lines);
    const int cell = side == 0 ? 0 : (View::cells_along - 1) * cells::stride(along);
    int at[View::dim];
    cells::coordinates(line.first + cell, at);
    put_primitive(view, shared, storage::ghost_entry(along, side, depth) + line.number,
                  ghosts.ghost(node, at, along, side, depth));
  }
}

/// Adds `ratio` times the difference of two fluxes to the i-th cell of a line. Along the first axis
/// it replaces the changes of the block before.
template <class View>
__device__ void add_change(storage_of<View>& shared, const line_of<View>& line,
                           typename View::real ratio, int axis, int i,
                           const typename View::values& difference) {
  for (int v = 0; v < View::physics_type::variables; ++v) {
    auto& change = shared.change[v][line.own_place(i)];
    const auto more = times(ratio, difference[v]);
    change = axis == 0 ? more : change + more;
  }
}

/// Returns the flux through the first face of a run. `line` is the number of its line.
template <class View>
[[nodiscard]] __device__ typename View::values first_flux(const storage_of<View>& shared, int run,
                                                          int line) {
  typename View::values first;
  for (int v = 0; v < View::physics_type::variables; ++v)
    first[v] = shared.first_flux[v][run][line];
  return first;
}

/// Step 5. Stores the new values and, if step 6 follows, keeps them in place of the changes.
template <class View>
__device__ void store_new_values(const View& view, const rk_stage& stage, storage_of<View>& shared,
                                 int node, int rank, bool keeps) {
  using real = typename View::real;
  using values = typename View::values;
  using cells = typename View::cells;
  for (int cell = rank; cell < cells::count; cell += tuning_of<View>::threads) {
    const int entry = storage_of<View>::cell_entry(cell);
    values change;
    for (int v = 0; v < View::physics_type::variables; ++v) change[v] = shared.change[v][entry];
    const values u = view.u_new.load(node, cell);
    values next;
    if (stage.index == 0) {
      next = u + change;
      view.u_stage.store(node, cell, next);
    } else {
      if (stage.keeps_old) view.u_old.store(node, cell, u);
      const values last = view.u_stage.load(node, cell);
      next = real(0.5) * (u + (last + change));
      view.u_new.store(node, cell, next);
    }
    if (!keeps) continue;
    for (int v = 0; v < View::physics_type::variables; ++v) shared.change[v][entry] = next[v];
  }
}

/// Step 6. Stores the averages of the new values in the block's part of its parent.
template <class View>
__device__ void average_to_parent(const View& view, const typename View::values_type& u,
                                  const storage_of<View>& shared, int node, int rank) {
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  constexpr int averages = cells::count / mesh_tree<dim>::siblings;
  const int parent = view.tree.parent[node];
  const block_place<dim> place = view.tree.place[node];
  for (int item = rank; item < View::physics_type::variables * averages;
       item += tuning_of<View>::threads) {
    const int v = item / averages;
    int at[dim];
    cells::coordinates_in_child(item % averages, at);
    const auto sum = sum_over_corners<1 << dim>([&](int part) {
      int below[dim];
      for (int axis = 0; axis < dim; ++axis) below[axis] = 2 * at[axis] + (part >> axis & 1);
      return shared.change[v][storage_of<View>::cell_entry(cells::cell_number(below))];
    });
    for (int axis = 0; axis < dim; ++axis) {
      at[axis] += static_cast<int>(place.index[axis] & 1) * (View::cells_along / 2);
    }
    u.data[u.offset(parent, v, cells::cell_number(at))] =
        times(sum, typename View::real(1) / mesh_tree<dim>::siblings);
  }
}

/// Advances `count` blocks by a stage, each by a team of threads.
///
/// It reads the values of the previous stage in the blocks and around them, and writes those of the
/// next one; so no block waits for another. A block of threads is one team or several; it needs
/// sizeof(advance_storage) bytes of dynamic shared memory for each. Step 3 has no function of its
/// own: with one, the kernel takes 3 % longer on an H200, because it keeps fewer values in
/// registers.
template <class View>
__global__ void __launch_bounds__(
    advance_tuning<typename View::physics_type, View::cells_along>::max_threads, 1)
    advance_blocks(View view, const int* nodes, unsigned count, rk_stage stage) {
  const traced here(view.trace, __func__);
  constexpr int dim = View::dim;
  using real = typename View::real;
  using values = typename View::values;
  using tuning = tuning_of<View>;

  const block_team<tuning::threads, tuning::max_teams> team;
  const unsigned number = blockIdx.x * (blockDim.x / tuning::threads) + team.index;
  if (number >= count) return;  // the whole team
  storage_of<View>& shared = (&dynamic_shared<storage_of<View>>())[team.index];
  const auto rank = static_cast<int>(team.rank);
  // The second stage begins with the blocks that the first one wrote last: they are in the cache.
  const int node = nodes[stage.index == 0 ? number : count - 1 - number];
  const auto place = view.tree.place[node];
  const interface_faces faces = view.tree.at_interface[node];
  // The previous grid of the step does not change the mesh, so the reads above do not wait for it.
  grid_dependency_synchronize();
  const time_state& clock = view.state->clock;
  if (clock.dt == 0) return;  // no step is left to take
  const auto dt = static_cast<real>(clock.dt * stage.length);
  const auto time =
      static_cast<real>(clock.time + clock.dt * (stage.begin + stage.index * stage.length));
  ghosts_of<View> ghosts = view.ghosts(stage.index == 0 ? view.u_new : view.u_stage);
  if (view.step.subcycle) {
    ghosts.coarse_old = view.u_old;
    ghosts.coarse_new = view.u_new;
    ghosts.elapsed = static_cast<real>(stage.elapsed);
  }

  load_cells(view, ghosts, shared, node, rank);
  RAMIFY_NO_UNROLL
  for (int axis = 0; axis < dim; ++axis) {
    if (axis % tuning::axes_with_ghosts == 0) {
      load_ghosts(view, ghosts, shared, node, axis, rank);
    }
    team.sync();

    // Step 3. Compute the fluxes through the faces [begin, end) of a line from limited linear
    // profiles on their two sides, and add their differences to the cells between them. Face i is
    // between the cells i - 1 and i. A thread whose run is not on the line has no faces.
    const int run = rank / tuning::lines;
    const line_of<View> line(axis, rank % tuning::lines);
    const int begin = run * tuning::run;
    const int end =
        begin + tuning::run < View::cells_along + 1 ? begin + tuning::run : View::cells_along + 1;
    const real spacing = view.spacing(place.level, axis);
    const real ratio = times(dt, reciprocal(spacing));
    values flux{};  // through the last face so far
    if (run < tuning::runs) {
      int at[dim];
      View::cells::coordinates(line.first, at);
      real center[dim];
      view.center(place, at, center);
      values cell = get_primitive<View>(shared, line.place(begin - 1));
      values above = get_primitive<View>(shared, line.place(begin));
      values left = edges_of_cell(view.physics, get_primitive<View>(shared, line.place(begin - 2)),
                                  cell, above, ghosts.limited)
                        .upper;
      RAMIFY_UNROLL
      for (int k = 0; k < tuning::run; ++k) {
        const int face = begin + k;
        if (face >= end) break;
        const values below = cell;
        cell = above;
        above = get_primitive<View>(shared, line.place(face + 1));
        const auto edges = edges_of_cell(view.physics, below, cell, above, ghosts.limited);
        real where[dim];
        for (int a = 0; a < dim; ++a) {
          where[a] = a == axis ? center[a] + times(real(face) - real(0.5), spacing) : center[a];
        }
        const values next = view.physics.flux(left, edges.lower, axis, where, time);
        left = edges.upper;
        if (k == 0) {
          for (int v = 0; v < View::physics_type::variables; ++v) {
            shared.first_flux[v][run][line.number] = next[v];
          }
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
          const real more = times(real(0.5) * dt, of_end[v]);
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
  store_new_values(view, stage, shared, node, rank, averages);
  if (!averages) return;
  team.sync();
  average_to_parent(view, stage.index == 0 ? view.u_stage : view.u_new, shared, node, rank);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
