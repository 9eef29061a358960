// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// next_phase: the last grid of each phase. It decides which phase comes next.

#include <ramify/amr/refine.cuh>
#include <ramify/amr/run_view.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr unsigned max_batch = 8;  ///< steps in one phase

/// Begins a regrid.
template <class View>
__device__ void begin_regrid(const View& view, run_state& state) {
  state.regrid = {};
  state.regrid.rounds_left = 1;
  state.time.next_regrid = state.time.steps + view.regrid.every;
  ++state.mesh.regrids;
  state.next = phase::tag;
}

/// Continues with steps, or begins a regrid if one is due.
template <class View>
__device__ void begin_steps(const View& view, run_state& state) {
  time_state& time = state.time;
  if (view.regrid.every > 0 && time.steps >= time.next_regrid) {
    begin_regrid(view, state);
    return;
  }
  state.next = phase::step;
  const auto limit_batch = [&](unsigned long long steps) {
    if (time.batch > steps) time.batch = static_cast<unsigned>(steps);
  };
  // One step more than is left: it only checks the cells.
  time.batch = view.step.subcycle ? 1 : max_batch;
  limit_batch(time.stop_step - time.steps + 1);
  if (view.regrid.every > 0) limit_batch(time.next_regrid - time.steps);
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
  mesh.refined += count;
  state.regrid.mesh_changed = true;
  --state.regrid.rounds_left;
}

/// Completes a phase: counts what it did and decides which one comes next. One thread.
template <class View>
__global__ void next_phase(View view) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  regrid_state& regrid = state.regrid;
  state.launches.grids_launched = 0;
  if (state.fault.code == fault::mesh_full) {  // the phase did nothing; the host gets more memory
    state.launches.stopped = 1;
    return;
  }
  const phase after_refinement = regrid.building ? phase::rebuild_lists : phase::tag_for_coarsening;
  switch (state.next) {
    case phase::idle: break;
    case phase::step:
      if (state.time.dt == 0) {
        state.next = phase::idle;
      } else {
        begin_steps(view, state);
      }
      break;
    case phase::average_down:
      if (regrid.building) {  // a batch that takes no step: it only checks the cells
        regrid.building = false;
        state.time.batch = 1;
        state.next = phase::step;
      } else {
        begin_steps(view, state);
      }
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
      if (regrid.coarsen_count > 0) {
        state.next = phase::coarsen;
      } else if (regrid.mesh_changed) {
        state.next = phase::rebuild_lists;
      } else {
        begin_steps(view, state);
      }
      break;
    case phase::coarsen:
      state.mesh.free_families += regrid.coarsen_count;
      state.mesh.coarsened += regrid.coarsen_count;
      state.next = phase::rebuild_lists;
      break;
    case phase::rebuild_lists: state.next = phase::average_down; break;
  }
  if (state.fault.code != fault::none) state.next = phase::idle;
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
