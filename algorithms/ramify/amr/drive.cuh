// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The phases of a run as sequences of grids. The same code launches them from the host and from
/// kernels.
///
/// A phase is a sequence of grids, one after another in a stream, whose sizes are known when it
/// begins. Its last grid, next_phase(), writes the next phase to the run's state. The flat route
/// waits, reads the state, and launches the next phase. The device route has a kernel, drive(),
/// that launches a phase and then itself as a tail launch, the only join that a kernel has.
///
/// With subcycling a step is a recursion over the levels: a level takes its step, the next finer
/// level takes two, and then the fluxes between them are corrected.

#include <ramify/amr/advance.cuh>
#include <ramify/amr/average_down.cuh>
#include <ramify/amr/next_phase.cuh>
#include <ramify/amr/rebuild_lists.cuh>
#include <ramify/amr/refine.cuh>
#include <ramify/amr/reflux.cuh>
#include <ramify/amr/regrid.cuh>
#include <ramify/amr/time_step.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr unsigned list_threads = 128;  ///< per block, of kernels with a thread per entry

/// Launches the grids of a phase one after another into a stream, until a launch fails. It counts
/// the grids, so that the host can continue a phase that a kernel began: the host's sequence leaves
/// out the grids that were launched already.
class launch_sequence {
 public:
  /// On the host. Leaves out the first `done` grids.
  __host__ __device__ explicit launch_sequence(cudaStream_t stream, unsigned done = 0)
      : stream_(stream), done_(done) {}
  /// In a kernel, after `*counter` grids of the phase. Keeps the count there.
  __device__ launch_sequence(cudaStream_t stream, unsigned* counter)
      : stream_(stream), reached_(*counter), counter_(counter) {}

  /// Launches a grid. A grid without blocks is neither launched nor counted.
  template <class... Parameters, class... Arguments>
  __host__ __device__ void operator()(void (*kernel)(Parameters...), const launch_shape& shape,
                                      const Arguments&... arguments) {
    if (shape.grid.x == 0 || error_ != cudaSuccess) return;
    ++reached_;
    if (reached_ <= done_) return;
    // Counted before the launch, because the last grid of a phase sets the count to 0.
    if (counter_ != nullptr) *counter_ = reached_;
    const auto status = launch(kernel, shape, stream_, arguments...);
    error_ = status.code();
    if (status) {
      ++launched_;
    } else if (counter_ != nullptr) {
      *counter_ = reached_ - 1;
    }
  }

  [[nodiscard]] __host__ __device__ bool from_kernel() const { return counter_ != nullptr; }
  [[nodiscard]] __host__ __device__ unsigned launched() const { return launched_; }
  [[nodiscard]] __host__ __device__ cudaError_t error() const { return error_; }

 private:
  cudaStream_t stream_;
  unsigned done_ = 0;
  unsigned reached_ = 0;
  unsigned launched_ = 0;
  unsigned* counter_ = nullptr;
  cudaError_t error_ = cudaSuccess;
};

__host__ __device__ inline unsigned blocks_for(unsigned long long threads) {
  return static_cast<unsigned>((threads + list_threads - 1) / list_threads);
}

// ---- steps -------------------------------------------------------------------------------------

/// Launches a stage of the nodes of a list.
template <class View>
__host__ __device__ void launch_stage(const View& view, launch_sequence& run, const int* nodes,
                                      unsigned count, const rk_stage& stage) {
  using storage = advance_storage<typename View::physics_type, View::cells_along>;
  using tuning = advance_tuning<typename View::physics_type, View::cells_along>;
  if (count == 0) return;
  unsigned teams = 1;
  if (run.from_kernel()) {
    // No more teams than all blocks need to be resident at once.
    const unsigned wanted = (count + view.resident_blocks - 1) / view.resident_blocks;
    teams = wanted < view.max_teams ? wanted : view.max_teams;
  }
  run(advance_blocks<View>,
      {(count + teams - 1) / teams, teams * tuning::threads, teams * sizeof(storage)}, view, nodes,
      count, stage);
}

/// Launches both stages of a step of the nodes of a list.
template <class View>
__host__ __device__ void launch_stages(const View& view, launch_sequence& run, const int* nodes,
                                       unsigned count, unsigned interface_nodes, rk_stage stage) {
  stage.index = 0;
  launch_stage(view, run, nodes, count, stage);
  run(average_down_to_interface<View>, {interface_nodes, step_threads}, view, view.u_stage);
  stage.index = 1;
  stage.elapsed += 0.5;
  stage.first = false;
  launch_stage(view, run, nodes, count, stage);
}

/// Launches the grids that determine the length of a step, with which each step begins.
template <class View>
__host__ __device__ void launch_dt(const View& view, const run_state& state, launch_sequence& run) {
  run(estimate_dt<View>, {state.mesh.leaves, step_threads}, view);
  run(compute_dt<View>, {1, 1}, view);
}

/// Launches a step of all levels at once.
template <class View>
__host__ __device__ void launch_step(const View& view, const run_state& state,
                                     launch_sequence& run) {
  launch_dt(view, state, run);
  launch_stages(view, run, view.lists.leaves, state.mesh.leaves, state.mesh.interface_nodes,
                {0, 0.0, 1.0, 0.0, true});
  if (view.step.reflux && state.mesh.interface_nodes > 0) {
    run(reflux<View>, {state.mesh.leaves, step_threads}, view, view.lists.leaves);
  }
  run(average_down_to_interface<View>, {state.mesh.interface_nodes, step_threads}, view,
      view.u_new);
  run(finish_step<View>, {1, 1}, view);
}

/// Launches a step of one level, which comes before the steps of the finer levels.
template <class View>
__host__ __device__ void launch_level(const View& view, const run_state& state, int level,
                                      double begin, bool first, launch_sequence& run) {
  const unsigned nodes = state.mesh.level_begin[level];
  // Inner nodes take the step, too: leaves next to them read them in the second stage.
  launch_stages(view, run, view.lists.nodes + nodes, state.mesh.level_begin[level + 1] - nodes, 0,
                {0, begin, 1.0 / double(1u << level), first ? 0.0 : 0.5, first});
}

/// Launches the synchronization of a level with the finer ones after their steps.
template <class View>
__host__ __device__ void launch_synchronization(const View& view, const run_state& state, int level,
                                                launch_sequence& run) {
  const unsigned begin = state.mesh.level_begin[level];
  const int* nodes = view.lists.nodes + begin;
  const launch_shape shape(state.mesh.level_begin[level + 1] - begin, step_threads);
  if (view.step.reflux) run(reflux<View>, shape, view, nodes);
  run(average_down<View>, shape, view, view.u_new, nodes);
}

/// The recursion over the levels, on the host. `begin` is counted in steps of level 0.
template <class View>
void advance_level_from_host(const View& view, const run_state& state, int level, double begin,
                             bool first, launch_sequence& run) {
  launch_level(view, state, level, begin, first, run);
  if (level == finest_level(state.mesh, view.tree.max_level)) return;
  const double half = 0.5 / double(1u << level);
  advance_level_from_host(view, state, level + 1, begin, true, run);
  advance_level_from_host(view, state, level + 1, begin + half, false, run);
  launch_synchronization(view, state, level, run);
}

// ---- the other phases --------------------------------------------------------------------------

/// The largest node number in use plus one.
template <class View>
__host__ __device__ unsigned numbers_in_use(const View& view, const run_state& state) {
  return view.tree.root_count() + state.mesh.families * view.tree.siblings;
}

/// Launches a phase of a regrid.
template <class View, class Fill>
__host__ __device__ void launch_regrid_phase(const View& view, const run_state& state,
                                             const Fill& fill, launch_sequence& run) {
  const mesh_state& mesh = state.mesh;
  const regrid_state& regrid = state.regrid;
  const unsigned siblings = view.tree.siblings;
  const unsigned nodes = mesh.level_begin[view.tree.max_level + 1];
  switch (state.next) {
    case phase::idle:
    case phase::step: return;
    case phase::average_down:
      for (int level = finest_level(mesh, view.tree.max_level) - 1; level >= 0; --level) {
        const unsigned begin = mesh.level_begin[level];
        run(average_down<View>, {mesh.level_begin[level + 1] - begin, regrid_threads}, view,
            view.u_new, view.lists.nodes + begin);
      }
      break;
    case phase::tag:
      run(tag_blocks<View>,
          {regrid.refine_count == 0 ? mesh.leaves : regrid.refine_count * siblings, regrid_threads},
          view);
      break;
    case phase::balance:
      run(balance_tags<View>,
          {blocks_for(regrid.balance_count * view.tree.directions), list_threads}, view);
      break;
    case phase::refine: {
      run(check_capacity<View>, {1, 1}, view);
      const unsigned count = regrid.refine_count;
      if (run.from_kernel() && view.regrid.launches.grain != granularity::per_grid) {
        run(launch_refine_blocks<View, Fill>,
            {(count + regrid_threads - 1) / regrid_threads, regrid_threads}, view, fill);
      } else {
        run(refine_blocks<View, Fill>, {refine_grid_size(view, count), regrid_threads}, view, fill,
            0u, count, false);
      }
      run(attach_children<View>, {blocks_for(count), list_threads}, view);
      const unsigned numbers = numbers_in_use(view, state) + new_families(state) * siblings;
      run(link_neighbors<View>, {blocks_for(1ull * numbers * view.tree.faces), list_threads}, view,
          numbers);
      break;
    }
    case phase::tag_for_coarsening:
      run(tag_for_coarsening<View>, {blocks_for(nodes), list_threads}, view, nodes);
      break;
    case phase::coarsen:
      run(coarsen_families<View>, {regrid.coarsen_count, regrid_threads}, view);
      break;
    case phase::rebuild_lists: {
      const unsigned numbers = numbers_in_use(view, state);
      run(link_neighbors<View>, {blocks_for(1ull * numbers * view.tree.faces), list_threads}, view,
          numbers);
      run(order_blocks<View>, {1, order_threads}, view);
      break;
    }
  }
  run(next_phase<View>, {1, 1}, view);
}

/// Launches a phase from the host.
template <class View, class Fill>
void launch_phase_from_host(const View& view, const run_state& state, const Fill& fill,
                            launch_sequence& run) {
  if (state.next != phase::step) {
    launch_regrid_phase(view, state, fill, run);
    return;
  }
  for (unsigned step = 0; step < state.time.batch; ++step) {
    if (!view.step.subcycle) {
      launch_step(view, state, run);
      continue;
    }
    launch_dt(view, state, run);
    advance_level_from_host(view, state, 0, 0.0, true, run);
    run(finish_step<View>, {1, 1}, view);
  }
  run(next_phase<View>, {1, 1}, view);
}

// ---- launches from kernels ---------------------------------------------------------------------

inline constexpr unsigned max_grids_of_step = 8;  ///< the maximum that launch_step launches

/// The launch slots that a phase needs: for its grids, and for the driver after it.
[[nodiscard]] __host__ __device__ inline unsigned slots_of_phase(int max_level, bool subcycle,
                                                                 unsigned steps = 1) {
  const unsigned levels = static_cast<unsigned>(max_level) + 1;
  // Each level of the recursion has at most 3 grids and 3 tail launches pending.
  const unsigned step = subcycle ? 6 * levels + 4 : max_grids_of_step * steps + 2;
  const unsigned regrid = (levels > 4 ? levels : 4) + 2;
  return step > regrid ? step : regrid;
}

/// Completes a sequence of launches by a kernel: counts them, and stops the chain if one failed.
template <class View>
__device__ bool finish_launches(const View& view, const launch_sequence& run, const char* kernel) {
  view.status->count_children(run.launched(), 1);
  if (run.error() == cudaSuccess) return true;
  view.state->launches.stopped = 1;
  if (run.error() != cudaErrorLaunchPendingCountExceeded) {
    view.status->record_error(run.error(), kernel, 0);
  }
  return false;
}

/// Launches a kernel of one thread after this grid and everything that it has launched.
template <class View, class... Parameters, class... Arguments>
__device__ void launch_tail(const View& view, const char* name, void (*kernel)(Parameters...),
                            const Arguments&... arguments) {
  if (view.state->launches.stopped != 0) return;
  launch_sequence tail(tail_launch());
  tail(kernel, {1, 1}, arguments...);
  static_cast<void>(finish_launches(view, tail, name));
}

/// Synchronizes a level with the finer ones. One thread.
template <class View>
__global__ void synchronize_level(View view, int level) {
  const traced here(view.trace, __func__);
  if (view.state->launches.stopped != 0) return;
  launch_sequence run(null_stream(), &view.state->launches.grids_launched);
  launch_synchronization(view, *view.state, level, run);
  static_cast<void>(finish_launches(view, run, __func__));
}

/// The recursion over the levels, in kernels. One thread.
template <class View>
__global__ void advance_level(View view, int level, double begin, bool first) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  if (state.launches.stopped != 0) return;
  // 1. This level's step.
  launch_sequence run(null_stream(), &state.launches.grids_launched);
  launch_level(view, state, level, begin, first, run);
  if (!finish_launches(view, run, __func__)) return;
  // 2. Base case: there is no finer level.
  if (level == finest_level(state.mesh, view.tree.max_level)) return;
  // 3. Recurse: the next finer level takes two steps. Join: tail launches run one after another,
  //    each after everything that the previous one has launched.
  const double half = 0.5 / double(1u << level);
  launch_tail(view, __func__, advance_level<View>, view, level + 1, begin, true);
  launch_tail(view, __func__, advance_level<View>, view, level + 1, begin + half, false);
  launch_tail(view, __func__, synchronize_level<View>, view, level);
}

template <class View, class Fill>
__global__ void drive(View view, Fill fill);

/// Ends a step of the recursion. One thread.
template <class View, class Fill>
__global__ void end_step(View view, Fill fill) {
  const traced here(view.trace, __func__);
  if (view.state->launches.stopped != 0) return;
  launch_sequence run(null_stream(), &view.state->launches.grids_launched);
  run(finish_step<View>, {1, 1}, view);
  run(next_phase<View>, {1, 1}, view);
  if (!finish_launches(view, run, __func__)) return;
  launch_tail(view, __func__, drive<View, Fill>, view, fill);
}

/// Launches the next phase, and itself after it. One thread. If there are not enough launch slots,
/// the host continues.
template <class View, class Fill>
__global__ void drive(View view, Fill fill) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  // 1. The previous phase is complete: release its slots.
  launch_state& launches = state.launches;
  view.slots.release(launches.slots_held);
  launches.slots_held = 0;
  // 2. Base case: no phase is left.
  if (state.next == phase::idle || launches.stopped != 0) return;
  // 3. Acquire slots for all steps of the batch, or else for one.
  const bool recursion = view.step.subcycle;
  unsigned slots = slots_of_phase(view.tree.max_level, recursion,
                                  state.next == phase::step ? state.time.batch : 1);
  if (!view.slots.acquire(*view.status, slots)) {
    if (state.next == phase::step) state.time.batch = 1;
    slots = slots_of_phase(view.tree.max_level, recursion);
    if (!view.slots.acquire(*view.status, slots)) {
      launches.stopped = 1;
      atomicAdd(&view.status->spilled, 1ull);
      return;
    }
  }
  launches.slots_held = slots;
  // 4. Launch the phase, one grid after another.
  launch_sequence run(null_stream(), &state.launches.grids_launched);
  if (state.next == phase::step && recursion) {
    launch_dt(view, state, run);
    if (!finish_launches(view, run, __func__)) return;
    launch_tail(view, __func__, advance_level<View>, view, 0, 0.0, true);
    launch_tail(view, __func__, end_step<View, Fill>, view, fill);
    return;
  }
  if (state.next == phase::step) {
    // Read before the launches: next_phase() may run, and write, before this kernel ends.
    const unsigned steps = state.time.batch;
    for (unsigned step = 0; step < steps; ++step) launch_step(view, state, run);
    run(next_phase<View>, {1, 1}, view);
  } else {
    launch_regrid_phase(view, state, fill, run);
  }
  if (!finish_launches(view, run, __func__)) return;
  // 5. Recurse. Join: a tail launch begins when the phase is complete.
  launch_tail(view, __func__, drive<View, Fill>, view, fill);
}

/// Releases the slots of a chain of drivers that was stopped. One thread.
template <class View>
__global__ void release_slots(View view) {
  const traced here(view.trace, __func__);
  launch_state& launches = view.state->launches;
  view.slots.release(launches.slots_held);
  launches.slots_held = 0;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
