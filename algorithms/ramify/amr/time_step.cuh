// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The kernels that compute the length of the next step, from the CFL condition over all cells and
/// the stop time, and that end a step.

#include <cmath>
#include <cstring>
#include <ramify/amr/run_view.cuh>
#include <ramify/runtime/collectives.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Threads of a block, for the kernels of a step that have one block per node.
inline constexpr int step_threads = 128;

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
  const int node = view.lists.leaves[blockIdx.x];
  const auto place = view.tree.place[node];
  grid_dependency_synchronize();
  if (state.next != phase::step) return;  // a captured loop always runs once
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
    cells::coordinates(cell, at);
    real where[dim];
    view.center(place, at, where);
    double rate = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const real speed =
          view.physics.max_wave_speed(primitive, axis, where, static_cast<real>(state.clock.time));
      rate += static_cast<double>(times(speed, reciprocal(view.spacing(place.level, axis))));
    }
    largest = rate > largest ? rate : largest;
  }
  largest = reduce(storage).Reduce(largest, maximum{});
  if (threadIdx.x == 0) {
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(largest));
    atomicMax(&state.clock.max_rate[place.level], bits);
  }
}

/// Returns the largest rate of all levels, and sets the rates to 0 for the next step. One thread.
template <class View>
__device__ double take_max_rate(const View& view) {
  time_state& clock = view.state->clock;
  double rate = 0;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    double level_rate = 0;
    std::memcpy(&level_rate, &clock.max_rate[level], sizeof level_rate);
    // With subcycling a level's step is half of that of the next coarser level.
    if (view.step.subcycle) level_rate /= double(1u << level);
    rate = level_rate > rate ? level_rate : rate;
    clock.max_rate[level] = 0;
  }
  return rate;
}

/// Sets dt for the next step, or to 0 if no step is to be taken. One thread.
template <class View>
__global__ void compute_dt(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  run_state& state = *view.state;
  time_state& clock = state.clock;
  clock.dt = 0;
  const double rate = take_max_rate(view);  // 0 if estimate_dt() had no step to prepare
  if (state.fault.invalid_cell != no_invalid_cell) state.fault.code = fault::invalid_cell;
  if (state.next != phase::step || state.fault.code != fault::none ||
      clock.steps >= clock.stop_step || clock.time >= clock.stop) {
    return;
  }
  // The last two steps before the stop time have the same length, so that neither is very short.
  const double remaining = clock.stop - clock.time;
  double length = rate > 0 ? view.step.cfl / rate : remaining;
  clock.is_last_step = length >= remaining;
  if (clock.is_last_step) {
    length = remaining;
  } else if (2 * length > remaining) {
    length = remaining / 2;
  }
  // If nothing moves and there is no stop time, the step would be infinite.
  if (!(clock.time + length > clock.time) || !std::isfinite(length)) {
    state.fault.code = fault::no_time_step;
    return;
  }
  clock.dt = length;
}

/// Advances the time at the end of a step. One thread.
template <class View>
__global__ void finish_step(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  time_state& clock = view.state->clock;
  if (clock.dt == 0) return;
  clock.time = clock.is_last_step ? clock.stop : clock.time + clock.dt;
  ++clock.steps;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    const unsigned long long steps = view.step.subcycle ? 1ull << level : 1;
    clock.cell_updates += steps * view.state->mesh.leaves_of_level[level] * View::cells::count;
  }
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
