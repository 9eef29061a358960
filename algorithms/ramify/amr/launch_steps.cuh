// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launches of steps. The same code launches their grids from the host and from kernels.
///
/// With subcycling a step is a recursion over the levels: a level takes its step, the next finer
/// level takes two, and then the fluxes between them are corrected. The task take_subcycled_steps
/// launches the grids in the order of this recursion. The bits of the number of the finest level's
/// step replace the stack: a level begins a step if all bits of finer levels are 0, and ends one if
/// they are 1. Launch slots bound the steps of one kernel, which then launches itself as a tail
/// launch.

#include <ramify/amr/advance.cuh>
#include <ramify/amr/after_step.cuh>
#include <ramify/amr/next_phase.cuh>
#include <ramify/amr/synchronize.cuh>
#include <ramify/amr/time_step.cuh>
#include <ramify/runtime/detail/chain_link.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Launches a stage of a step for the nodes of a list.
template <class View, class Grids>
__host__ __device__ void launch_stage(const View& view, Grids& grids, const int* nodes,
                                      unsigned count, const rk_stage& stage) {
  using storage = advance_storage<typename View::physics_type, View::cells_along>;
  using tuning = advance_tuning<typename View::physics_type, View::cells_along>;
  if (count == 0) return;
  grids(advance_blocks<View>, view.shape(count, tuning::threads, sizeof(storage)), view, nodes,
        stage);
}

/// Launches both stages of a step for the nodes of a level, or of all levels. In a process with a
/// part of the mesh, blocks that read no values of other processes are advanced while these values
/// are exchanged, and beside the other blocks.
template <class View, class Grids>
__host__ __device__ void launch_stages(const View& view, Grids& grids, int level, const int* nodes,
                                       unsigned count, rk_stage stage) {
  for (stage.index = 0; stage.index != 2; ++stage.index) {
    if constexpr (View::is_part) {
      const stage_blocks blocks = view.begin_stage(grids, stage.index, level);
      launch_stage(view, grids, blocks.nodes, blocks.interior, stage);
      view.begin_border(grids);
      launch_stage(view, grids, blocks.nodes + blocks.interior, blocks.count - blocks.interior,
                   stage);
      view.end_stage(grids);
    } else {
      launch_stage(view, grids, nodes, count, stage);
    }
    stage.elapsed += 0.5;
    stage.first = false;
  }
}

/// Launches the flux correction of the leaves of the levels [level, end).
template <class View, class Grids>
__host__ __device__ void launch_reflux(const View& view, const mesh_state& mesh, int level, int end,
                                       Grids& grids) {
  const unsigned first = mesh.corrected_begin[level];
  grids(reflux<View>, view.shape(mesh.corrected_begin[end] - first, reflux_threads<View>), view,
        view.lists.corrected_faces + first);
}

/// Launches the grid that gives each inner node of a level the averages of its children.
template <class View, class Grids>
__host__ __device__ void launch_averages_of(const View& view, const mesh_state& mesh, int level,
                                            Grids& grids) {
  view.share_children(grids, level);
  const unsigned nodes = mesh.level_begin[level];
  grids(average_down<View>, view.shape(mesh.level_begin[level + 1] - nodes, average_threads<View>),
        view, view.u_new, view.lists.nodes + nodes);
}

/// Launches the averages of new or changed blocks. Without subcycling only those that leaves read.
template <class View, class Grids>
__host__ __device__ void launch_averages(const View& view, const mesh_state& mesh, Grids& grids) {
  if (!view.step.subcycle) {
    grids(average_leaves<View>, view.shape(mesh.leaves, step_threads), view, view.lists.leaves);
    return;
  }
  for (int level = view.finest_level_of(mesh) - 1; level >= 0; --level) {
    launch_averages_of(view, mesh, level, grids);
  }
}

/// Launches the callback of the physics after a step, and the averages of values that it changes.
template <class View, class Grids>
__host__ __device__ void launch_callback([[maybe_unused]] const View& view,
                                         [[maybe_unused]] const mesh_state& mesh,
                                         [[maybe_unused]] Grids& grids) {
  if constexpr (has_after_step<typename View::physics_type>) {
    grids(call_after_step<View>, view.shape(mesh.leaves, step_threads), view);
    if constexpr (!only_observes<typename View::physics_type>) launch_averages(view, mesh, grids);
  }
}

/// Launches the end of the phase that takes steps.
template <bool in_loop, class View, class Grids>
__host__ __device__ void launch_end_of_steps(const View& view, Grids& grids) {
  if constexpr (in_loop) {
    grids(end_steps_in_loop<View>, view.shape(1, 1), view);
  } else {
    grids(next_phase<View>, view.shape(1, 1), view, phase::step);
  }
}

/// Launches the grids that compute the length of a step and begin it.
template <class View, class Grids>
__host__ __device__ void launch_begin_step(const View& view, const mesh_state& mesh, Grids& grids) {
  const unsigned averaged = view.step.subcycle ? 0 : mesh.averaged_leaves;
  grids(begin_step<View>, view.shape(averaged + mesh.leaves, step_threads), view, averaged);
  if constexpr (View::is_part) {
    view.combine_rates(grids);
    grids(choose_dt<View>, view.shape(1, 1), view);
  }
}

/// Launches the step of a level that has this number among its steps in one of level 0. Inner nodes
/// take it, too: leaves next to them read them in the second stage.
template <class View, class Grids>
__host__ __device__ void advance_level(const View& view, const mesh_state& mesh, int level,
                                       unsigned number, Grids& grids) {
  const unsigned nodes = mesh.level_begin[level];
  const bool has_finer = level != view.finest_level_of(mesh);
  const double length = 1.0 / double(1u << level);
  const bool first = number % 2 == 0;  // of the two in a step of the next coarser level
  launch_stages(view, grids, level, view.lists.nodes + nodes, mesh.level_begin[level + 1] - nodes,
                {0, number * length, length, first ? 0.0 : 0.5, first, has_finer});
  if (has_finer) view.share_level(grids, level);
}

/// Launches the synchronization of a level with the next finer level after their steps.
template <class View, class Grids>
__host__ __device__ void synchronize_level(const View& view, const mesh_state& mesh, int level,
                                           Grids& grids) {
  if (view.step.reflux) {
    view.share_flux_registers(grids, level);
    launch_reflux(view, mesh, level, level + 1, grids);
  }
  launch_averages_of(view, mesh, level, grids);
}

/// Task: takes steps with subcycling, and ends their phase.
template <bool in_loop>
struct take_subcycled_steps {
  const mesh_state* mesh;  ///< in device memory for a kernel, else the host's copy
  unsigned steps;          ///< of level 0, in the phase
  unsigned begin = 0;      ///< steps of the finest level before those of this task

  __device__ static const char* name() { return "take_subcycled_steps"; }

  template <class View, class Grids>
  __host__ __device__ void operator()(const View& view, Grids& grids) const {
    const int finest = view.finest_level_of(*mesh);
    const unsigned all = steps << finest;
    const bool is_last = !grids.from_kernel() || all - begin <= max_fine_steps;
    const unsigned end = is_last ? all : begin + max_fine_steps;
    for (unsigned fine = begin; fine != end; ++fine) {
      const unsigned step = fine % (1u << finest);  // of the finest level in one of level 0
      if (step == 0) launch_begin_step(view, *mesh, grids);
      // 1. The levels that begin a step, the coarsest first. A step has 2^below of the finest.
      for (int level = 0; level <= finest; ++level) {
        const int below = finest - level;
        if (step % (1u << below) == 0) advance_level(view, *mesh, level, step >> below, grids);
      }
      // 2. The levels that end a step, the finest first.
      int level = finest - 1;
      for (; level >= 0 && (step + 1) % (1u << (finest - level)) == 0; --level) {
        synchronize_level(view, *mesh, level, grids);
      }
      if (level < 0) launch_callback(view, *mesh, grids);
    }
    // 3. Base case: there are no more steps.
    if (is_last) return launch_end_of_steps<in_loop>(view, grids);
    // 4. Recurse. Join: the task begins after everything that this one has launched.
    grids.then(view, take_subcycled_steps{mesh, steps, end});
  }
};

/// Launches `steps` steps and the end of their phase.
template <bool in_loop, class View, class Grids>
__host__ __device__ void launch_steps(const View& view, const mesh_state& mesh, unsigned steps,
                                      Grids& grids) {
  if (view.step.subcycle) return take_subcycled_steps<in_loop>{&mesh, steps}(view, grids);
  for (unsigned step = 0; step < steps; ++step) {
    launch_begin_step(view, mesh, grids);
    launch_stages(view, grids, all_levels, view.lists.leaves, mesh.leaves,
                  {0, 0.0, 1.0, 0.0, true});
    if (view.step.reflux && view.has_interface_in(mesh)) {
      view.share_flux_registers(grids, all_levels);
      launch_reflux(view, mesh, 0, view.tree.max_level + 1, grids);
    }
    launch_callback(view, mesh, grids);
  }
  grids(average_leaves<View>, view.shape(mesh.averaged_leaves, step_threads), view,
        view.lists.averaged_leaves);
  launch_end_of_steps<in_loop>(view, grids);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
