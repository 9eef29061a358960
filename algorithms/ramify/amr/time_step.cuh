// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// begin_step(), the kernel that begins a step. It computes the step's length from the CFL
/// condition over all cells and from the stop time.

#include <cmath>
#include <cstring>
#include <ramify/amr/physics_members.cuh>
#include <ramify/amr/run_view.cuh>
#include <ramify/amr/synchronize.cuh>
#include <ramify/runtime/collectives.cuh>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::amr::inline RAMIFY_BUILD {

/// Threads of a block, for the kernels of a step that have one block per node or face.
inline constexpr int step_threads = 128;

/// Returns the time at the end of the step under way, or the time now if there is none.
[[nodiscard]] __device__ inline double end_of_step(const time_state& clock) {
  return clock.dt == 0 ? clock.time : clock.is_last_step ? clock.stop : clock.time + clock.dt;
}

/// Reports an invalid cell of a leaf. `number` is that of the leaf in the list of leaves. Any
/// thread may call it.
__device__ inline void report_invalid_cell(run_state& state, unsigned number, int cell,
                                           int cells_of_leaf) {
  atomicMin(&state.fault.invalid_cell,
            1ull * number * static_cast<unsigned>(cells_of_leaf) + static_cast<unsigned>(cell));
}

/// Checks that floors leave the cells of the initial state unchanged. The next begin_step() ends
/// the run if they do not. One block per leaf.
template <class View>
__global__ void check_floors(View view) {
  const traced here(view.trace, __func__);
  using cells = typename View::cells;
  grid_dependency_synchronize();
  const int node = view.lists.leaves[blockIdx.x];
  cells::for_each(step_threads, [&](int cell, const int(&)[View::dim]) {
    if (view.physics.is_above_floors(view.u_new.load(node, cell))) return;
    report_invalid_cell(*view.state, blockIdx.x, cell, cells::count);
  });
}

/// Checks a thread's cells of a leaf, and returns the largest rate at which waves cross them.
/// `number` is that of the leaf in the list of leaves.
template <class View>
__device__ double largest_rate(const View& view, int node, unsigned number) {
  using real = typename View::real;
  using cells = typename View::cells;
  constexpr int dim = View::dim;
  run_state& state = *view.state;
  const auto place = view.tree.place[node];
  const auto time = static_cast<real>(end_of_step(state.clock));
  double largest = 0;
  cells::for_each(step_threads, [&](int cell, const int(&at)[dim]) {
    const auto u = view.u_new.load(node, cell);
    if (!view.physics.is_valid(u)) {
      report_invalid_cell(state, number, cell, cells::count);
      return;
    }
    const auto primitive = view.physics.to_primitive(u);
    real where[dim];
    view.center(place, at, where);
    double rate = 0;
    for (int axis = 0; axis < dim; ++axis) {
      const real speed = view.physics.max_wave_speed(primitive, axis, where, time);
      rate += static_cast<double>(times(speed, reciprocal(view.spacing(place.level, axis))));
    }
    largest = rate > largest ? rate : largest;
  });
  return largest;
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

/// Ends the step under way. Returns false if there is none. One thread.
template <class View>
__device__ bool finish_step(const View& view) {
  time_state& clock = view.state->clock;
  if (clock.dt == 0) return false;
  clock.time = end_of_step(clock);
  clock.last_dt = clock.dt;
  clock.dt = 0;
  ++clock.steps;
  for (int level = 0; level <= view.tree.max_level; ++level) {
    const unsigned long long steps = view.step.subcycle ? 1ull << level : 1;
    clock.cell_updates += steps * view.state->mesh.leaves_of_level[level] * View::cells::count;
  }
  return true;
}

/// Ends the step under way, and sets dt for the next one, or to 0 if no step is to be taken. One
/// thread.
template <class View>
__device__ void start_step(const View& view) {
  run_state& state = *view.state;
  time_state& clock = state.clock;
  finish_step(view);
  const double rate = take_max_rate(view);
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

/// Averages leaves down, and finds the largest rate at which waves cross the cells of each level.
/// The last block to arrive starts the step. One block for each of the first `averaged` entries of
/// averaged_leaves, then one per leaf: first those that the previous grid wrote last, because their
/// values are in the cache.
///
/// In a part of a mesh, choose_dt() starts the step when the rates of all parts are known.
template <class View>
__global__ void begin_step(View view, unsigned averaged) {
  const traced here(view.trace, __func__);
  using reduce = block_reduce<double, step_threads>;
  __shared__ typename reduce::TempStorage storage;
  const bool averages = blockIdx.x < averaged;
  const unsigned number = averages ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
  const int node = averages ? view.lists.averaged_leaves[number] : view.lists.leaves[number];
  const int level = view.tree.place[node].level;
  grid_dependency_synchronize();
  run_state& state = *view.state;
  if (state.next != phase::step) {
    // Another phase is due, or none: a captured loop always runs once.
  } else if (averages) {
    average_leaf(view, node);
  } else {
    const double largest = reduce(storage).Reduce(largest_rate(view, node, number), maximum{});
    if (threadIdx.x == 0) {
      const auto bits = static_cast<unsigned long long>(__double_as_longlong(largest));
      atomicMax(&state.clock.max_rate[level], bits);
    }
  }
  if constexpr (!View::is_part) {
    if (view.is_last_block(gridDim.x) && threadIdx.x == 0) start_step(view);
  }
}

/// Starts a step of a part of a mesh. One thread.
template <class View>
__global__ void choose_dt(View view) {
  const traced here(view.trace, __func__);
  grid_dependency_synchronize();
  start_step(view);
}

}  // namespace ramify::detail::amr::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
