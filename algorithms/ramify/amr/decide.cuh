// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// What is decided between the grids of a run: kernels of one thread that write the clock.

#include <cmath>
#include <cstring>
#include <ramify/amr/view.cuh>

namespace ramify::inline RAMIFY_BUILD {

inline constexpr unsigned longest_batch = 8;  ///< steps in one phase

/// Chooses the length of the next step from the last look at all cells; 0 if there is to be none.
template <class View>
__global__ void choose_step(View view) {
  const traced here(view.trace, __func__);
  amr_clock& clock = *view.clock;
  clock.time_step = 0;
  double rate = 0;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    double of_level = 0;
    std::memcpy(&of_level, &clock.rate[level], sizeof of_level);
    // With subcycling a level's step is half of that of the next coarser level.
    if (view.step.subcycle) of_level /= double(1u << level);
    rate = of_level > rate ? of_level : rate;
    clock.rate[level] = 0;
  }
  if (clock.unsound != ~0ull) clock.fault = amr_fault::unsound_cell;
  if (clock.fault != amr_fault::none || clock.steps >= clock.stop_step ||
      clock.time >= clock.stop_time) {
    return;
  }
  // The last two steps before the stop time are of one length: no sliver of a step at the end.
  const double left = clock.stop_time - clock.time;
  double length = rate > 0 ? view.step.cfl / rate : left;
  clock.last_step = length >= left;
  if (clock.last_step) {
    length = left;
  } else if (2 * length > left) {
    length = left / 2;
  }
  // Where nothing moves, a step without a stop time would have no end.
  if (!(clock.time + length > clock.time) || !std::isfinite(length)) {
    clock.fault = amr_fault::no_time_step;
    return;
  }
  clock.time_step = length;
}

/// A step is done.
template <class View>
__global__ void finish_step(View view) {
  const traced here(view.trace, __func__);
  amr_clock& clock = *view.clock;
  if (clock.time_step == 0) return;
  clock.time = clock.last_step ? clock.stop_time : clock.time + clock.time_step;
  ++clock.steps;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    const unsigned long long times = view.step.subcycle ? 1ull << level : 1;
    clock.updates += times * clock.leaves_of_level[level] * View::cells::count;
  }
}

/// Whether there is memory for the children of the blocks that are marked.
template <class View>
__global__ void reserve_children(View view) {
  const traced here(view.trace, __func__);
  amr_clock& clock = *view.clock;
  const unsigned fresh =
      clock.creating > clock.free_families ? clock.creating - clock.free_families : 0;
  const unsigned long long nodes =
      view.tree.root_count() + (1ull * clock.families + fresh) * view.tree.siblings;
  if (nodes > view.tree.capacity) clock.fault = amr_fault::mesh_full;
}

/// Begins a look at the mesh.
template <class View>
__device__ void begin_look(const View& view, amr_clock& clock) {
  clock.marked = clock.created = clock.creating = clock.rippled = clock.rippling = 0;
  clock.leaving = 0;
  clock.changed = false;
  clock.rounds_left = 1;
  clock.next_regrid = clock.steps + view.regrid.every;
  ++clock.regrids;
  clock.next = amr_phase::examine;
}

/// Goes on with the steps, or begins a look at the mesh if one is due.
template <class View>
__device__ void begin_steps(const View& view, amr_clock& clock) {
  if (view.regrid.every > 0 && clock.steps >= clock.next_regrid) {
    begin_look(view, clock);
    return;
  }
  clock.next = amr_phase::step;
  const auto up_to = [&](unsigned long long steps) {
    if (clock.batch > steps) clock.batch = static_cast<unsigned>(steps);
  };
  // One step more than is left: it only looks at the cells.
  clock.batch = view.step.subcycle ? 1 : longest_batch;
  up_to(clock.stop_step - clock.steps + 1);
  if (view.regrid.every > 0) up_to(clock.next_regrid - clock.steps);
}

/// After marks have spread: goes on with them, makes children, or does what comes next.
__device__ inline amr_phase refine_or(amr_clock& clock, amr_phase otherwise) {
  clock.rippling = clock.marked - clock.rippled;
  if (clock.rippling > 0) return amr_phase::ripple;
  const unsigned waiting = clock.marked - (clock.created + clock.creating);
  if (waiting == 0) return otherwise;
  clock.created += clock.creating;
  clock.creating = waiting;
  return amr_phase::create;
}

/// A phase is complete: counts what it did and says what comes next.
template <class View>
__global__ void settle(View view) {
  const traced here(view.trace, __func__);
  amr_clock& clock = *view.clock;
  clock.launched = 0;
  if (clock.fault == amr_fault::mesh_full) {  // nothing was done; the host makes room
    clock.stopped = 1;
    return;
  }
  const amr_phase refined = clock.building ? amr_phase::arrange : amr_phase::judge;
  switch (clock.next) {
    case amr_phase::idle: break;
    case amr_phase::step:
      if (clock.time_step == 0) {
        clock.next = amr_phase::idle;
      } else {
        begin_steps(view, clock);
      }
      break;
    case amr_phase::average:
      if (clock.building) {  // a step that is none: it only looks whether the cells are sound
        clock.building = false;
        clock.batch = 1;
        clock.next = amr_phase::step;
      } else {
        begin_steps(view, clock);
      }
      break;
    case amr_phase::examine: clock.next = refine_or(clock, refined); break;
    case amr_phase::ripple:
      clock.rippled += clock.rippling;
      clock.next = refine_or(clock, refined);
      break;
    case amr_phase::create: {
      const unsigned reused =
          clock.creating < clock.free_families ? clock.creating : clock.free_families;
      clock.free_families -= reused;
      clock.families += clock.creating - reused;
      clock.refined += clock.creating;
      clock.changed = true;
      --clock.rounds_left;
      clock.next = clock.rounds_left > 0 ? amr_phase::examine : refined;
      break;
    }
    case amr_phase::judge:
      if (clock.leaving > 0) {
        clock.next = amr_phase::remove;
      } else if (clock.changed) {
        clock.next = amr_phase::arrange;
      } else {
        begin_steps(view, clock);
      }
      break;
    case amr_phase::remove:
      clock.free_families += clock.leaving;
      clock.coarsened += clock.leaving;
      clock.next = amr_phase::arrange;
      break;
    case amr_phase::arrange: clock.next = amr_phase::average; break;
  }
  if (clock.fault != amr_fault::none) clock.next = amr_phase::idle;
}

}  // namespace ramify::inline RAMIFY_BUILD
