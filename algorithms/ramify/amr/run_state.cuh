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
  idle,          ///< none: all requested steps are taken, or there is a fault
  begin,         ///< has no grids before next_phase(), which begins with steps or a regrid
  step,          ///< takes steps; the mesh does not change
  average_down,  ///< gives each inner node the averages of its children
  tag,           ///< evaluates the criterion; tags blocks to refine, and families to coarsen
  change_mesh    ///< refines and coarsens; then finds neighbors, and rebuilds the lists
};

inline constexpr unsigned max_batch = 8;  ///< steps in one phase
/// With subcycling: steps of the finest level that one kernel launches. A phase has at most as
/// many, or one step of level 0.
inline constexpr unsigned max_fine_steps = 16;

/// Why a run cannot continue.
enum class fault {
  none,
  invalid_cell,  ///< a value is not finite, or density or pressure is not positive
  mesh_full,     ///< there is no memory for more blocks
  no_time_step   ///< the time step is too small to change the time, or infinite
};

/// What the run has done, and the bounds of the current call and step.
struct time_state : amr_progress {
  double stop;     ///< no step goes beyond this time
  double dt;       ///< of a step of level 0; 0: no step is under way
  double last_dt;  ///< of the last step; 0: there was none
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
  unsigned averaged_leaves;              ///< entries of block_lists::averaged_leaves
  /// Where the faces of each level's leaves begin in block_lists::corrected_faces.
  unsigned corrected_begin[max_levels + 1];
  unsigned families;  ///< with node numbers, free families included
  unsigned free_families;
  unsigned peak_blocks;
  unsigned long long version;  ///< counts how often the lists of blocks were rebuilt
};

/// A regrid: one round of tags and changes of the mesh. While the first mesh is built there are
/// several, and each tags the children that the one before has made.
struct regrid_state {
  bool building;           ///< the first mesh is built
  int rounds_left;         ///< of refinement
  unsigned tagged;         ///< entries of block_lists::tagged
  unsigned refine_begin;   ///< entries before this one have children
  unsigned refine_count;   ///< entries that get their children now, or got them last
  unsigned coarsen_count;  ///< entries of block_lists::coarsened

  /// Returns whether tags follow the change of the mesh that is due.
  [[nodiscard]] __host__ __device__ bool has_another_round() const {
    return building && refine_count > 0 && rounds_left > 1;
  }
};

/// How often cells were kept valid, in stages of steps (keep_valid.cuh).
struct kept_state {
  unsigned long long by_fluxes;
  unsigned long long by_floors;
};

/// Kernels read and write it in device memory; the host reads it where it needs to.
struct run_state {
  phase next;
  time_state clock;
  fault_state fault;
  mesh_state mesh;
  regrid_state regrid;
  /// If a launch of a captured graph did not complete a phase: the number of grids of this phase
  /// that were launched.
  unsigned launched_of_phase;
  kept_state kept;
};

inline constexpr unsigned long long no_invalid_cell = ~0ull;

/// The state of a run before its first grid.
[[nodiscard]] inline run_state initial_run_state() {
  run_state state{};
  state.fault.invalid_cell = no_invalid_cell;
  state.regrid.building = true;
  return state;
}

/// Returns the number of free families that the due refinement takes.
[[nodiscard]] __host__ __device__ inline unsigned reused_families(const run_state& state) {
  const unsigned count = state.regrid.refine_count;
  return count < state.mesh.free_families ? count : state.mesh.free_families;
}
/// Returns the number of families that the due refinement needs beyond the free ones.
[[nodiscard]] __host__ __device__ inline unsigned new_families(const run_state& state) {
  return state.regrid.refine_count - reused_families(state);
}

[[nodiscard]] __host__ __device__ inline int finest_level(const mesh_state& mesh, int max_level) {
  int level = max_level;
  while (level > 0 && mesh.level_begin[level] == mesh.level_begin[level + 1]) --level;
  return level;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
