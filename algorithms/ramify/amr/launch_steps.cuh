// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The launches of a step. The same code launches its grids from the host and from kernels.
///
/// With subcycling a step is a recursion over the levels: a level takes its step, the next finer
/// level takes two, and then the fluxes between them are corrected. The recursion is written once,
/// as the task advance_level. The host runs it as a function, kernels as a tail launch.

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

/// Task: synchronizes a level with the next finer level after their steps.
struct synchronize_level {
  const mesh_state* mesh;  ///< in device memory for a kernel, else the host's copy
  int level;

  __device__ static const char* name() { return "synchronize_level"; }

  template <class View, class Grids>
  __host__ __device__ void operator()(const View& view, Grids& grids) const {
    if (view.step.reflux) {
      view.share_flux_registers(grids, level);
      launch_reflux(view, *mesh, level, level + 1, grids);
    }
    view.share_children(grids, level);
    const unsigned nodes = mesh->level_begin[level];
    grids(average_down<View>,
          view.shape(mesh->level_begin[level + 1] - nodes, average_threads<View>), view, view.u_new,
          view.lists.nodes + nodes);
  }
};

/// Task: takes a step of a level, and the steps of all finer levels in the same time.
struct advance_level {
  const mesh_state* mesh;  ///< in device memory for a kernel, else the host's copy
  int level;
  double begin;  ///< counted in steps of level 0
  bool first;    ///< whether it is the first of the two steps in one of the next coarser level

  __device__ static const char* name() { return "advance_level"; }

  template <class View, class Grids>
  __host__ __device__ void operator()(const View& view, Grids& grids) const {
    // 1. This level's step. Inner nodes take it, too: leaves next to them read them in the second
    //    stage.
    const unsigned nodes = mesh->level_begin[level];
    const bool is_finest = level == view.finest_level_of(*mesh);
    launch_stages(view, grids, level, view.lists.nodes + nodes,
                  mesh->level_begin[level + 1] - nodes,
                  {0, begin, 1.0 / double(1u << level), first ? 0.0 : 0.5, first, !is_finest});
    // 2. Base case: there is no finer level.
    if (is_finest) return;
    view.share_level(grids, level);
    // 3. Recurse: the next finer level takes two steps. Join: tasks run one after another, each
    //    after everything that the previous one has launched.
    const double half = 0.5 / double(1u << level);
    grids.then(view, advance_level{mesh, level + 1, begin, true});
    grids.then(view, advance_level{mesh, level + 1, begin + half, false});
    grids.then(view, synchronize_level{mesh, level});
  }
};

/// Launches the averages of new or changed blocks. Without subcycling only those that leaves read.
template <class View, class Grids>
__host__ __device__ void launch_averages(const View& view, const mesh_state& mesh, Grids& grids) {
  if (!view.step.subcycle) {
    grids(average_leaves<View>, view.shape(mesh.leaves, step_threads), view, view.lists.leaves);
    return;
  }
  for (int level = view.finest_level_of(mesh) - 1; level >= 0; --level) {
    view.share_children(grids, level);
    const unsigned begin = mesh.level_begin[level];
    grids(average_down<View>,
          view.shape(mesh.level_begin[level + 1] - begin, average_threads<View>), view, view.u_new,
          view.lists.nodes + begin);
  }
}

/// Task: calls the callback of the physics after a step, and averages the values that it changes.
struct call_back {
  const mesh_state* mesh;  ///< in device memory for a kernel, else the host's copy

  __device__ static const char* name() { return "call_back"; }

  template <class View, class Grids>
  __host__ __device__ void operator()([[maybe_unused]] const View& view,
                                      [[maybe_unused]] Grids& grids) const {
    if constexpr (has_after_step<typename View::physics_type>) {
      grids(call_after_step<View>, view.shape(mesh->leaves, step_threads), view);
      if constexpr (!only_observes<typename View::physics_type>)
        launch_averages(view, *mesh, grids);
    }
  }
};

/// Task: ends the phase that takes steps.
template <bool in_loop>
struct end_steps {
  __device__ static const char* name() { return "end_steps"; }

  template <class View, class Grids>
  __host__ __device__ void operator()(const View& view, Grids& grids) const {
    if constexpr (in_loop) {
      grids(end_steps_in_loop<View>, view.shape(1, 1), view);
    } else {
      grids(next_phase<View>, view.shape(1, 1), view, phase::step);
    }
  }
};

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

/// Launches `steps` steps and the end of their phase. With subcycling, `steps` must be 1.
template <bool in_loop, class View, class Grids>
__host__ __device__ void launch_steps(const View& view, const mesh_state& mesh, unsigned steps,
                                      Grids& grids) {
  const end_steps<in_loop> end;
  if (view.step.subcycle) {
    launch_begin_step(view, mesh, grids);
    grids.then(view, advance_level{&mesh, 0, 0.0, true});
    if constexpr (has_after_step<typename View::physics_type>) grids.then(view, call_back{&mesh});
    grids.then(view, end);
    return;
  }
  for (unsigned step = 0; step < steps; ++step) {
    launch_begin_step(view, mesh, grids);
    launch_stages(view, grids, all_levels, view.lists.leaves, mesh.leaves,
                  {0, 0.0, 1.0, 0.0, true});
    if (view.step.reflux && view.has_interface_in(mesh)) {
      view.share_flux_registers(grids, all_levels);
      launch_reflux(view, mesh, 0, view.tree.max_level + 1, grids);
    }
    call_back{&mesh}(view, grids);
  }
  grids(average_leaves<View>, view.shape(mesh.averaged_leaves, step_threads), view,
        view.lists.averaged_leaves);
  end(view, grids);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
