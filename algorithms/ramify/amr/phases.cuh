// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The phases of a run as rounds of a launch chain. The same code launches them from the host and
/// from kernels.
///
/// A phase is a sequence of grids, one after another in a stream, whose sizes are known when it
/// begins. Its last grid, next_phase(), writes the next phase to the run's state. On the flat route
/// the host reads the state and launches this phase, and with it those that follow if the mesh does
/// not change; the steps between two regrids may be the body of the loop of a graph. On the device
/// route the chain's driver kernel launches a phase and then itself as a tail launch, the only join
/// that a kernel has.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ramify/amr/launch_steps.cuh>
#include <ramify/amr/next_phase.cuh>
#include <ramify/amr/rebuild_lists.cuh>
#include <ramify/amr/refine.cuh>
#include <ramify/amr/regrid.cuh>
#include <ramify/runtime/detail/chain_link.cuh>
#include <utility>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr unsigned list_threads = 128;  ///< per block, for kernels with one thread per entry

__host__ __device__ inline unsigned blocks_for(unsigned long long threads) {
  return static_cast<unsigned>((threads + list_threads - 1) / list_threads);
}

/// Launches the search for the neighbors of all nodes whose families are below `families`.
template <class View, class Grids>
__host__ __device__ void launch_link_neighbors(const View& view, unsigned families, Grids& grids) {
  const auto nodes = static_cast<unsigned>(view.tree.first_of_family(families));
  grids(link_neighbors<View>, view.shape(blocks_for(1ull * nodes * view.tree.faces), list_threads),
        view, nodes);
}

/// Launches the evaluation of the criterion. The last grid finds the families to coarsen.
template <class View, class Grids>
__host__ __device__ void launch_tags(const View& view, const run_state& state, Grids& grids) {
  const mesh_state& mesh = state.mesh;
  const regrid_state& regrid = state.regrid;
  const unsigned blocks =
      regrid.refine_count == 0 ? mesh.leaves : regrid.refine_count * view.tree.siblings;
  grids(tag_blocks<View>, view.shape(blocks, regrid_threads, sizeof(tag_storage<View>)), view);
  view.combine_tags(grids);
  if constexpr (has_buffer<typename View::criterion_type>) {
    const unsigned long long threads = 1ull * blocks * view.tree.directions;
    if (buffer_cells_of(view.criterion) > 0) {
      grids(tag_buffers<View>, view.shape(blocks_for(threads), list_threads), view, blocks);
    }
  }
  if (regrid.building) return;
  const unsigned children = mesh.level_begin[view.tree.max_level + 1] - view.tree.root_count();
  grids(tag_for_coarsening<View>, view.shape(blocks_for(children), list_threads), view, children);
}

/// Launches the refinement of tagged blocks.
template <class View, class Fill, class Grids>
__host__ __device__ void launch_refinement(const View& view, unsigned count, const Fill& fill,
                                           Grids& grids) {
  if (count == 0) return;
  grids(check_capacity<View>, view.shape(1, 1), view);
  if (grids.from_kernel() && view.regrid.launches.grain != granularity::per_grid) {
    grids(launch_refine_blocks<View, Fill>,
          {(count + regrid_threads - 1) / regrid_threads, regrid_threads}, view, fill);
  } else {
    grids(refine_blocks<View, Fill>, view.shape(refine_grid_size(view, count), regrid_threads),
          view, fill, 0u, count);
  }
  grids(attach_children<View>, view.shape(blocks_for(count), list_threads), view);
}

/// Launches the changes of the mesh: refinement, then coarsening, then the search for neighbors,
/// and after the last round the lists of blocks.
template <class View, class Fill, class Grids>
__host__ __device__ void launch_changes(const View& view, const run_state& state, const Fill& fill,
                                        Grids& grids) {
  const regrid_state& regrid = state.regrid;
  launch_refinement(view, regrid.refine_count, fill, grids);
  grids(coarsen_families<View>, view.shape(regrid.coarsen_count, regrid_threads), view);
  const unsigned families = state.mesh.families + new_families(state);
  launch_link_neighbors(view, families, grids);
  if (regrid.has_another_round()) return;
  const auto nodes = static_cast<unsigned>(view.tree.first_of_family(families));
  grids(find_interface<View>, view.shape(blocks_for(nodes), list_threads), view, nodes);
  grids(order_blocks<View>, view.shape(1, order_threads), view);
}

/// Launches a phase other than phase::step.
template <class View, class Fill, class Grids>
__host__ __device__ void launch_regrid_phase(const View& view, const run_state& state,
                                             const Fill& fill, Grids& grids) {
  const mesh_state& mesh = state.mesh;
  switch (state.next) {
    case phase::idle:
    case phase::step: return;
    case phase::begin: break;
    case phase::average_down:
      launch_averages(view, mesh, grids);
      if constexpr (has_floors<typename View::physics_type>) {
        // A restored state of later steps may have cells below a floor.
        const bool is_initial = state.regrid.building && state.clock.steps == 0;
        if (is_initial) grids(check_floors<View>, view.shape(mesh.leaves, step_threads), view);
      }
      break;
    case phase::tag: launch_tags(view, state, grids); break;
    case phase::change_mesh: launch_changes(view, state, fill, grids); break;
  }
  grids(next_phase<View>, view.shape(1, 1), view, state.next);
}

inline constexpr unsigned max_grids_of_step = 4;    ///< without recursion and callback
inline constexpr unsigned max_grids_of_regrid = 8;  ///< the maximum for a phase of a regrid

/// The launch slots that a phase needs for its grids.
template <class View>
[[nodiscard]] __host__ __device__ unsigned slots_of_phase(int max_level, bool subcycle,
                                                          unsigned steps = 1) {
  const unsigned levels = static_cast<unsigned>(max_level) + 1;
  // With subcycling, n steps of the finest level contain less than 2 n steps of levels and less
  // than n synchronizations, with 2 grids each. A level with a longer step begins or ends it here,
  // which adds 2 grids. Each step of level 0 adds begin_step() and the callback, whose averages are
  // a grid for each level but the finest. The last 2: this task, and next_phase() or the next task.
  constexpr unsigned more = callback_grids<View>;
  const unsigned fine = steps << max_level < max_fine_steps ? steps << max_level : max_fine_steps;
  const unsigned step = subcycle
                            ? 6 * fine + 2 * levels + (more > 1 ? levels + 1 : more + 1) * steps + 2
                            : (max_grids_of_step + more) * steps + 3;
  const unsigned regrid = (levels > max_grids_of_regrid ? levels : max_grids_of_regrid) + 1;
  return step > regrid ? step : regrid;
}

/// Calls launch(next) on the host for phases after the due one, `now`, whose grids have known
/// sizes: `next` has the phase and its batch of steps. `steps` is the run's number of steps at the
/// end of the due phase. It stops before a phase whose grids may have other sizes. If another phase
/// is due, because of a fault or the stop time, the grids do nothing.
template <class View, class Launch>
void for_each_following(const View& view, const run_state& now, unsigned long long steps,
                        const Launch& launch) {
  run_state next = now;
  next.regrid = {};
  time_state& clock = next.clock;
  clock.steps = steps;
  const bool mesh_may_change = now.regrid.refine_count > 0 || now.regrid.coarsen_count > 0;
  const double ahead = std::min<double>(max_steps_ahead, steps_left(clock, 0));
  while (clock.steps <= clock.stop_step && double(clock.steps - now.clock.steps) < ahead) {
    begin_steps(view, next);
    launch(std::as_const(next));
    if (next.next == phase::step) {
      clock.steps += clock.batch;
    } else if (mesh_may_change) {
      return;  // the last regrid changed it, so this one probably does
    }
  }
}

/// The program of the chain of phases. `Fill` gives the cells of new blocks their values.
template <class View, class Fill>
struct run_program : View {
  Fill fill;
  bool launches_ahead = false;  ///< whether the host launches phases without waiting for the state

  [[nodiscard]] __host__ __device__ unsigned slots_of(const run_state& now) const {
    return slots_of_phase<View>(this->tree.max_level, this->step.subcycle,
                                now.next == phase::step ? now.clock.batch : 1);
  }

  template <class Grids>
  __host__ __device__ void launch_round(const run_state& now, Grids& grids) const {
    const View& view = *this;
    if (now.next != phase::step) {
      launch_regrid_phase(view, now, fill, grids);
      if (now.next == phase::average_down && !now.regrid.building) {
        launch_following(now, now.clock.steps, grids);
      }
      return;
    }
    // Tail launches read the mesh later, in device memory.
    const mesh_state& mesh = grids.from_kernel() ? this->state->mesh : now.mesh;
    launch_steps<false>(view, mesh, now.clock.batch, grids);
    launch_following(now, now.clock.steps + now.clock.batch, grids);
  }

  /// On the host, launches the phases after the due one without waiting for the state: those of
  /// for_each_following().
  template <class Grids>
  __host__ __device__ void launch_following([[maybe_unused]] const run_state& now,
                                            [[maybe_unused]] unsigned long long steps,
                                            [[maybe_unused]] Grids& grids) const {
#if !defined(__CUDA_ARCH__)
    // The CPU executor runs kernels as host code.
    if (grids.from_kernel() || !launches_ahead) return;
    const View& view = *this;
    for_each_following(view, now, steps, [&](const run_state& next) {
      if (next.next == phase::step) {
        launch_steps<false>(view, next.mesh, next.clock.batch, grids);
      } else {
        launch_regrid_phase(view, next, fill, grids);
      }
    });
#endif
  }

  /// One step, in sizes for the current mesh.
  template <class Grids>
  void launch_repeated(const run_state& now, Grids& grids) const {
    View in_loop = *this;
    in_loop.serialization = stream_serialization::full;  // a graph's loop has no other
    launch_steps<true>(in_loop, now.mesh, 1, grids);
  }

  /// Only get() returns results.
  static constexpr bool needs_no_completing_loop = true;
};

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
