// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The length of the next step: the CFL condition over all cells, the stop time; the end of a step.

#include <cmath>
#include <cstring>
#include <ramify/amr/block_operators.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/collectives.cuh>

namespace ramify::detail::amr::inline RAMIFY_BUILD {

inline constexpr int step_threads =
    128;  ///< per block, of the kernels of a step with a block per node

/// Checks the cells of all leaves, and finds the largest rate at which waves cross the cells of
/// each level. One block per leaf.
template <class View>
__global__ void estimate_dt(View view) {
  const traced here(view.trace, __func__);
  using real = typename View::real;
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  using reduce = block_reduce<double, step_threads>;
  __shared__ typename reduce::TempStorage storage;
  run_state& state = *view.state;
  if (state.next != phase::step) return;  // in the one iteration that each captured loop has
  const int node = view.lists.leaves[blockIdx.x];
  const auto place = view.tree.place[node];
  double largest = 0;
  for (int cell = static_cast<int>(threadIdx.x); cell < cells::count; cell += step_threads) {
    const auto u = view.u_new.load(node, cell);
    if (!view.physics.is_valid(u)) {
      atomicMin(&state.fault.invalid_cell,
                1ull * blockIdx.x * cells::count + static_cast<unsigned>(cell));
      continue;
    }
    const auto primitive = view.physics.to_primitive(u);
    int at[dim];
    cells::position(cell, at);
    real where[dim];
    view.center(place, at, where);
    double rate = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const real speed =
          view.physics.max_wave_speed(primitive, axis, where, static_cast<real>(state.time.now));
      rate += static_cast<double>(times(speed, reciprocal(view.spacing(place.level, axis))));
    }
    largest = rate > largest ? rate : largest;
  }
  largest = reduce(storage).Reduce(largest, maximum{});
  if (threadIdx.x == 0) {
    unsigned long long bits;
    static_assert(sizeof bits == sizeof largest);
    std::memcpy(&bits, &largest, sizeof bits);
    atomicMax(&state.time.max_rate[place.level], bits);
  }
}

/// Returns the largest rate of all levels, and sets the rates to 0 for the next step. One thread.
template <class View>
__device__ double take_max_rate(const View& view) {
  time_state& time = view.state->time;
  double rate = 0;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    double of_level = 0;
    std::memcpy(&of_level, &time.max_rate[level], sizeof of_level);
    // With subcycling a level's step is half of that of the next coarser level.
    if (view.step.subcycle) of_level /= double(1u << level);
    rate = of_level > rate ? of_level : rate;
    time.max_rate[level] = 0;
  }
  return rate;
}

/// Sets dt for the next step, or to 0 if no step is to be taken. One thread.
template <class View>
__global__ void compute_dt(View view) {
  const traced here(view.trace, __func__);
  run_state& state = *view.state;
  time_state& time = state.time;
  time.dt = 0;
  if (state.next != phase::step) return;
  const double rate = take_max_rate(view);
  if (state.fault.invalid_cell != no_invalid_cell) state.fault.code = fault::invalid_cell;
  if (state.fault.code != fault::none || time.steps >= time.stop_step || time.now >= time.stop) {
    return;
  }
  // The last two steps before the stop time have the same length, so that neither is very short.
  const double left = time.stop - time.now;
  double length = rate > 0 ? view.step.cfl / rate : left;
  time.is_last_step = length >= left;
  if (time.is_last_step) {
    length = left;
  } else if (2 * length > left) {
    length = left / 2;
  }
  // Where nothing moves and there is no stop time, the step would be infinite.
  if (!(time.now + length > time.now) || !std::isfinite(length)) {
    state.fault.code = fault::no_time_step;
    return;
  }
  time.dt = length;
}

/// Advances the time at the end of a step. One thread.
template <class View>
__global__ void finish_step(View view) {
  const traced here(view.trace, __func__);
  time_state& time = view.state->time;
  if (time.dt == 0) return;
  time.now = time.is_last_step ? time.stop : time.now + time.dt;
  ++time.steps;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    const unsigned long long steps = view.step.subcycle ? 1ull << level : 1;
    time.cell_updates += steps * view.state->mesh.leaves_of_level[level] * View::cells::count;
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
