// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// run_state: what a run keeps in device memory beside the mesh and its values.

#include <ramify/amr/mesh.cuh>
#include <ramify/runtime/cuda.hpp>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The next phase of a run. The host or a kernel reads it and launches the phase; the last grid of
/// the phase writes the one after it.
enum class phase {
  idle,                ///< none: all requested steps are taken, or there is a fault
  begin,               ///< has no grids before next_phase(), which begins with steps or a regrid
  step,                ///< takes steps; the mesh does not change
  average_down,        ///< gives each inner node the averages of its children
  tag,                 ///< evaluates the criterion and tags blocks for refinement
  balance,             ///< tags the coarser neighbors of tagged blocks
  refine,              ///< makes the children of tagged blocks
  tag_for_coarsening,  ///< finds the families that may be coarsened
  coarsen,             ///< replaces these families by their parents
  rebuild_lists        ///< finds neighbors and puts the lists of blocks in Morton order
};

/// Why a run cannot continue.
enum class fault {
  none,
  invalid_cell,  ///< a value is not finite, or density or pressure is not positive
  mesh_full,     ///< there is no memory for more blocks
  no_time_step   ///< the time step is too small to change the time, or infinite
};

/// What the run has done, and the bounds of the current call and step.
struct time_state : amr_progress {
  double stop;  ///< no step goes beyond this time
  double dt;    ///< of a step of level 0; 0: no step is taken
  unsigned long long stop_step;
  unsigned long long next_regrid;  ///< the mesh is regridded before this step
  /// For each level the largest 1 / (time in which a wave crosses a cell), as the bits of a double.
  /// The bits of positive doubles have the order of the numbers, so that atomicMax works on them.
  unsigned long long max_rate[max_levels];
  bool is_last_step;  ///< the current step ends at the stop time
  unsigned batch;     ///< steps in the current phase
};

struct fault_state {
  fault code;
  /// The first invalid cell in Morton order, leaf * cells + cell; all ones if there is none.
  unsigned long long invalid_cell;
};

struct mesh_state {
  unsigned leaves;
  unsigned leaves_of_level[max_levels];
  unsigned level_begin[max_levels + 1];  ///< where each level's nodes begin in block_lists::nodes
  unsigned interface_nodes;              ///< entries of block_lists::interface_nodes
  /// Where each level's leaves begin in block_lists::coarse_leaves.
  unsigned coarse_leaves_begin[max_levels + 1];
  unsigned families;                     ///< with node numbers, free families included
  unsigned free_families;
  unsigned peak_blocks;
  unsigned long long version;  ///< counts how often the lists of blocks were rebuilt
};

/// A regrid. The list of tagged blocks is a queue with two readers: balance() tags the neighbors of
/// its entries, refine() makes their children.
struct regrid_state {
  bool building;           ///< the first mesh is built; new children are tagged, too
  bool mesh_changed;       ///< the lists of blocks are out of date
  int rounds_left;         ///< of refinement
  unsigned tagged;         ///< entries of block_lists::tagged
  unsigned refine_begin;   ///< entries before this one have children
  unsigned refine_count;   ///< entries that get their children now, or got them last
  unsigned balance_begin;  ///< entries before this one are balanced
  unsigned balance_count;  ///< entries that are balanced now
  unsigned coarsen_count;  ///< entries of block_lists::coarsened
};

/// Kernels read and write it in device memory; the host reads it where it needs to.
struct run_state {
  phase next;
  time_state clock;
  fault_state fault;
  mesh_state mesh;
  regrid_state regrid;
  /// Of a phase that a launch of a captured graph did not complete: its first grids that were
  /// launched.
  unsigned launched_of_phase;
};

inline constexpr unsigned long long no_invalid_cell = ~0ull;

/// The state of a run before its first grid.
[[nodiscard]] inline run_state initial_run_state() {
  run_state state{};
  state.fault.invalid_cell = no_invalid_cell;
  state.regrid.building = true;
  return state;
}

[[nodiscard]] __host__ __device__ inline int finest_level(const mesh_state& mesh, int max_level) {
  int level = max_level;
  while (level > 0 && mesh.level_begin[level] == mesh.level_begin[level + 1]) --level;
  return level;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
