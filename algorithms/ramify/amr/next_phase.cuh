// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// next_phase: the last grid of each phase. It decides which phase comes next. begin_advance: the
/// first grid of a call of advance().

#include <ramify/amr/refine.cuh>
#include <ramify/amr/run_view.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr unsigned max_batch = 8;  ///< steps in one phase

/// Begins a regrid.
template <class View>
__device__ void begin_regrid(const View& view, run_state& state) {
  state.regrid = {};
  state.regrid.rounds_left = 1;
  state.clock.next_regrid = state.clock.steps + view.regrid.every;
  ++state.clock.regrids;
  state.next = phase::tag;
}

/// Continues with steps, or begins a regrid if one is due.
template <class View>
__device__ void begin_steps(const View& view, run_state& state) {
  time_state& clock = state.clock;
  if (view.regrid.every > 0 && clock.steps >= clock.next_regrid) {
    begin_regrid(view, state);
    return;
  }
  state.next = phase::step;
  const auto limit_batch = [&](unsigned long long steps) {
    if (clock.batch > steps) clock.batch = static_cast<unsigned>(steps);
  };
  // One step more than is left: it only checks the cells.
  clock.batch = view.step.subcycle ? 1 : max_batch;
  limit_batch(clock.stop_step - clock.steps + 1);
  if (view.regrid.every > 0) limit_batch(clock.next_regrid - clock.steps);
}

/// Returns the next phase of a regrid while there are tagged blocks to balance or refine, and then
/// `otherwise`.
__device__ inline phase refine_or(regrid_state& regrid, phase otherwise) {
  regrid.balance_count = regrid.tagged - regrid.balance_begin;
  if (regrid.balance_count > 0) return phase::balance;
  const unsigned waiting = regrid.tagged - (regrid.refine_begin + regrid.refine_count);
  if (waiting == 0) return otherwise;
  regrid.refine_begin += regrid.refine_count;
  regrid.refine_count = waiting;
  return phase::refine;
}

/// Counts the blocks that were refined.
__device__ inline void finish_refinement(run_state& state) {
  mesh_state& mesh = state.mesh;
  const unsigned count = state.regrid.refine_count;
  const unsigned reused = count < mesh.free_families ? count : mesh.free_families;
  mesh.free_families -= reused;
  mesh.families += count - reused;
  state.clock.refined += count;
  state.regrid.mesh_changed = true;
  --state.regrid.rounds_left;
}

/// Counts what the phase did and decides which one comes next. One thread.
template <class View>
__device__ void decide_next_phase(const View& view) {
  run_state& state = *view.state;
  regrid_state& regrid = state.regrid;
  state.launched_of_phase = 0;
  if (state.fault.code == fault::mesh_full) return;  // the phase did nothing, and is due again
  const phase after_refinement = regrid.building ? phase::rebuild_lists : phase::tag_for_coarsening;
  bool is_complete = false;  // the steps or the regrid: begin the next ones
  switch (state.next) {
    case phase::idle: break;
    case phase::begin: is_complete = true; break;
    case phase::step:
      state.next = phase::idle;
      is_complete = state.clock.dt != 0;
      break;
    case phase::average_down:
      is_complete = !regrid.building;
      if (!regrid.building) break;
      regrid.building = false;  // a batch that takes no step: it only checks the cells
      state.clock.batch = 1;
      state.next = phase::step;
      break;
    case phase::tag: state.next = refine_or(regrid, after_refinement); break;
    case phase::balance:
      regrid.balance_begin += regrid.balance_count;
      state.next = refine_or(regrid, after_refinement);
      break;
    case phase::refine:
      finish_refinement(state);
      state.next = regrid.rounds_left > 0 ? phase::tag : after_refinement;
      break;
    case phase::tag_for_coarsening:
      state.next = regrid.coarsen_count > 0 ? phase::coarsen : phase::rebuild_lists;
      is_complete = regrid.coarsen_count == 0 && !regrid.mesh_changed;
      break;
    case phase::coarsen:
      state.mesh.free_families += regrid.coarsen_count;
      state.clock.coarsened += regrid.coarsen_count;
      state.next = phase::rebuild_lists;
      break;
    case phase::rebuild_lists:
      ++state.mesh.version;
      state.next = phase::average_down;
      break;
  }
  if (is_complete) begin_steps(view, state);
  if (state.fault.code != fault::none) state.next = phase::idle;
}

/// Completes a phase. One thread.
template <class View>
__global__ void next_phase(View view) {
  const traced here(view.trace, __func__);
  decide_next_phase(view);
  runtime::end_step(view, __func__);
}

/// Completes a step in a graph's loop. One thread.
template <class View>
__global__ void next_step_in_loop(View view) {
  const traced here(view.trace, __func__);
  // A captured loop has one iteration even if no step is due.
  if (view.state->next == phase::step) decide_next_phase(view);
  runtime::end_iteration(view);
}

/// What a call of advance() asks for.
struct advance_request {
  static constexpr unsigned long long any_mesh = ~0ull;

  unsigned long long steps;
  double stop;
  /// The mesh_state::version for which a captured loop has grids of the right size, or any_mesh.
  unsigned long long mesh_version = any_mesh;
};

/// Begins a call of advance(). One thread.
///
/// If an earlier call left a phase undone, because the mesh was full or because get() did not
/// complete a launch of a captured graph, it continues with that phase, and the steps of both calls
/// are taken.
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

/// The last grid of a captured graph: keeps, for the next launch of the graph, the phase that is
/// not complete. One thread.
template <class View>
__global__ void end_captured_advance(View view) {
  const traced here(view.trace, __func__);
  view.state->launched_of_phase = view.progress->launched;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
