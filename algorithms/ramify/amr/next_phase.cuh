// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// next_phase(), the last grid of each phase, which decides which phase comes next, and
/// begin_advance(), the first grid of a call of advance().

#include <cmath>
#include <ramify/amr/refine.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/amr/time_step.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// The host launches phases without waiting until they have this many steps. The last of them may
/// begin with one step less, so there are up to 7 more.
inline constexpr unsigned max_steps_ahead = 16;

/// Returns the time until the stop time divided by the last step: infinity without a stop time, and
/// `unknown` before the first step.
[[nodiscard]] __host__ __device__ inline double steps_left(const time_state& clock,
                                                           double unknown) {
  if (!(clock.time < clock.stop)) return 0;
  if (!std::isfinite(clock.stop)) return clock.stop;
  return clock.last_dt > 0 ? (clock.stop - clock.time) / clock.last_dt : unknown;
}

/// Begins a regrid.
template <class View>
__host__ __device__ void begin_regrid(const View& view, run_state& state) {
  state.regrid = {};
  state.clock.next_regrid = state.clock.steps + view.regrid.every;
  ++state.clock.regrids;
  state.next = phase::tag;
}

/// Continues with steps, or begins a regrid if one is due.
template <class View>
__host__ __device__ void begin_steps(const View& view, run_state& state) {
  time_state& clock = state.clock;
  if (view.regrid.every > 0 && clock.steps >= clock.next_regrid) {
    begin_regrid(view, state);
    return;
  }
  state.next = phase::step;
  const auto limit_batch = [&](unsigned long long steps) {
    if (clock.batch > steps) clock.batch = static_cast<unsigned>(steps);
  };
  // A batch may have one step more than the call has left. This step has length zero and only
  // validates the cells.
  clock.batch = view.batch_limit;
  limit_batch(clock.stop_step - clock.steps + 1);
  const double left = steps_left(clock, clock.batch);
  if (left < clock.batch) limit_batch(static_cast<unsigned long long>(std::ceil(left)) + 1);
  if (view.regrid.every > 0) limit_batch(clock.next_regrid - clock.steps);
}

/// Takes the tags of a round. Returns whether they change the mesh.
__device__ inline bool take_tags(regrid_state& regrid) {
  regrid.refine_begin += regrid.refine_count;
  regrid.refine_count = regrid.tagged - regrid.refine_begin;
  return regrid.refine_count > 0 || regrid.coarsen_count > 0;
}

/// Counts the blocks that were refined and coarsened.
__device__ inline void count_changes(run_state& state) {
  const unsigned reused = reused_families(state);
  state.mesh.families += new_families(state);
  state.mesh.free_families += state.regrid.coarsen_count - reused;
  state.clock.refined += state.regrid.refine_count;
  state.clock.coarsened += state.regrid.coarsen_count;
}

/// Counts what the phase did and decides which one comes next. One thread.
template <class View>
__device__ void decide_next_phase(const View& view) {
  run_state& state = *view.state;
  regrid_state& regrid = state.regrid;
  state.launched_of_phase = 0;
  if (state.fault.code == fault::mesh_full) return;  // the phase did nothing, and is repeated
  bool is_complete = false;                          // all phases of the steps or of the regrid
  switch (state.next) {
    case phase::idle: break;
    case phase::begin: is_complete = true; break;
    case phase::step:
      state.next = phase::idle;
      is_complete = finish_step(view);
      break;
    case phase::average_down:
      is_complete = !regrid.building;
      if (!regrid.building) break;
      regrid.building = false;
      // One step of length zero, which only validates the cells.
      state.clock.batch = 1;
      state.next = phase::step;
      break;
    case phase::tag:
      // The first mesh gets its lists even if no block of it is refined.
      is_complete = !take_tags(regrid) && !regrid.building;
      state.next = phase::change_mesh;
      break;
    case phase::change_mesh:
      count_changes(state);
      if (regrid.has_another_round()) {
        --regrid.rounds_left;
        state.next = phase::tag;
        break;
      }
      ++state.mesh.version;
      state.next = phase::average_down;
      break;
  }
  if (is_complete) begin_steps(view, state);
  if (state.fault.code != fault::none) state.next = phase::idle;
}

/// Completes a phase. Does nothing if another one is due. One thread.
template <class View>
__global__ void next_phase(View view, phase completed) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  if (view.state->next == completed) decide_next_phase(view);
  runtime::end_round(view, __func__);
}

/// Completes a batch of steps in the loop of a captured graph. One thread.
template <class View>
__global__ void end_steps_in_loop(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  // A captured loop always runs once. Without a due step this kernel changes no state.
  if (view.state->next == phase::step) decide_next_phase(view);
  runtime::end_iteration(view);
}

/// The arguments of advance().
struct advance_request {
  static constexpr unsigned long long any_mesh = ~0ull;

  unsigned long long steps;
  double stop;
  /// The mesh_state::version for which the grids of a captured loop have the right size, or
  /// any_mesh.
  unsigned long long mesh_version = any_mesh;
};

/// Begins a call of advance(). One thread.
///
/// If an earlier call left a phase unfinished, this call continues with it and takes the steps of
/// both calls. A phase stays unfinished if the mesh was full, or if get() did not complete a launch
/// of a captured graph.
template <class View>
__global__ void begin_advance(View view, advance_request wanted) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  time_state& clock = state.clock;
  const bool continues = state.next != phase::idle;
  const unsigned long long from = continues ? clock.stop_step : clock.steps;
  constexpr unsigned long long most = ~0ull - 1;
  clock.stop_step = wanted.steps > most - from ? most : from + wanted.steps;
  clock.stop = wanted.stop;
  state.fault = {fault::none, no_invalid_cell};
  if (continues) {
    // If kernels launched a part of the phase, the host launches the others.
    view.progress->launched = state.launched_of_phase;
    if (state.launched_of_phase != 0) view.progress->stopped = 1;
    return;
  }
  if (clock.steps >= clock.stop_step || clock.time >= clock.stop) return;
  if (wanted.mesh_version == advance_request::any_mesh ||
      wanted.mesh_version == state.mesh.version) {
    begin_steps(view, state);
  } else {
    state.next = phase::begin;  // the loop does nothing, and the host takes the steps
  }
}

/// The last grid of a captured graph. For the next launch of the graph, it stores how many grids of
/// an unfinished phase were launched. One thread.
template <class View>
__global__ void end_captured_advance(View view) {
  const traced here(view.trace, __func__);
  view.state->launched_of_phase = view.progress->launched;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
